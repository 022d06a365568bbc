"""How is text in any encoding read? As a stream: a gigabyte takes no more memory than a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from holdfast.domain.chunks import Segment
from holdfast.ports import Source
from holdfast.stages.reading.encodings import decoded_by, encoding_of
from holdfast.stages.reading.kinds import Kind, refused
from holdfast.stages.reading.parsed import MARKDOWN, PLAIN, Parsed

BLOCK = 1 << 18


def parse_plain(source: Source, kind: Kind = Kind.TEXT) -> Parsed:
    """Text, Markdown, source code, tables with commas: what a person could have typed."""
    file = opened(source)
    encoding = encoding_of(file)
    if encoding is None:
        file.close()
        raise refused(source, "is not a text file")
    reading = Reading(source, file, encoding)
    return Parsed(
        media_type=kind.value,
        segments=reading.segments(),
        form=MARKDOWN if kind is Kind.MARKDOWN else PLAIN,
        encoding=encoding,
        consumed=reading.consumed,
    )


def opened(source: Source) -> BinaryIO:
    if source.content is not None:
        return BytesIO(source.content)
    return Path(str(source.place)).open("rb")


def content_of(source: Source) -> bytes:
    """All of it, for a format that cannot be read piece by piece."""
    with opened(source) as file:
        return file.read()


def is_blank(source: Source) -> bool:
    """Is there nothing in it but white space?"""
    with opened(source) as file:
        while block := file.read(BLOCK):
            if block.strip():
                return False
    return True


@dataclass(slots=True)
class Reading:
    """Bytes on their way to text."""

    source: Source
    file: BinaryIO
    encoding: str
    done: int = 0

    def consumed(self) -> float:
        return self.done / max(1, self.source.size)

    def segments(self) -> Iterator[Segment]:
        with self.file:
            for text, size in decoded_by(self.file, self.encoding):
                yield Segment(text)
                self.done += size
