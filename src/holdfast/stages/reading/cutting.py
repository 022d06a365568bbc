"""How do bytes become chunks? Read as a stream, cut as a stream, handed over in pages."""

from __future__ import annotations

from collections.abc import Generator

from holdfast.domain.chunks import ChunkPage, Cutting, pages
from holdfast.domain.errors import Permanent
from holdfast.ports import Event, Source
from holdfast.stages.chunking.structured import chunks_of
from holdfast.stages.reading.ocr import Ocr
from holdfast.stages.reading.parse import NO_OCR, parse
from holdfast.stages.reading.plain import is_blank


def cut(source: Source, cutting: Cutting, ocr: Ocr = NO_OCR) -> Generator[ChunkPage, None, None]:
    """The chunks of a source; none when there is nothing in it but white space."""
    parsed = parse(source, ocr)
    empty = True
    for page in pages(chunks_of(parsed.segments, cutting, parsed.form)):
        empty = False
        yield ChunkPage(tuple(page), parsed.consumed(), parsed.title)
    if empty and not parsed.is_text and not is_blank(source):
        raise Permanent(f"{source.name} holds no text", code="no_text")


class OwnReader:
    """Reads in the engine's own process."""

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        for page in cut(source, cutting):
            if cancelled.is_set():
                return
            yield page
