"""How is a plain text file read? Strictly: what is not valid UTF-8 is refused, never guessed."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from holdfast.domain.chunks import Segment
from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading.parsed import MARKDOWN, PLAIN, Parsed

BLOCK = 1 << 18
SNIFFED = 8_192
MARKDOWN_TYPE = "text/markdown"
MARKDOWN_NAMES = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")


def parse_plain(source: Source) -> Parsed:
    """UTF-8 text, with or without a byte order mark, block by block."""
    reading = Reading(source, _opened(source))
    markdown = _is_markdown(source)
    return Parsed(
        media_type=MARKDOWN_TYPE if markdown else "text/plain",
        segments=reading.segments(),
        form=MARKDOWN if markdown else PLAIN,
        encoding="utf-8",
        consumed=reading.consumed,
    )


def is_blank(source: Source) -> bool:
    """Is there nothing in it but white space?"""
    with _opened(source) as file:
        while block := file.read(BLOCK):
            if block.strip():
                return False
    return True


@dataclass(slots=True)
class Reading:
    """Bytes on their way to text."""

    source: Source
    file: BinaryIO
    done: int = 0

    def consumed(self) -> float:
        return self.done / max(1, self.source.size)

    def segments(self) -> Iterator[Segment]:
        decoder = getincrementaldecoder("utf-8-sig")()
        with self.file:
            while block := self.file.read(BLOCK):
                self._may_be_text(block)
                yield Segment(self._decoded(decoder.decode, block, final=False))
                self.done += len(block)
            if rest := self._decoded(decoder.decode, b"", final=True):
                yield Segment(rest)

    def _may_be_text(self, block: bytes) -> None:
        if not self.done and b"\x00" in block[:SNIFFED]:
            raise Permanent(f"{self.source.name} is not a text file", code="unsupported")

    def _decoded(self, decode: Callable[[bytes, bool], str], block: bytes, *, final: bool) -> str:
        try:
            return decode(block, final)
        except UnicodeDecodeError as error:
            raise Permanent(
                f"{self.source.name} is not valid UTF-8 at byte {self.done + error.start}",
                code="unsupported",
                advice="convert the file to UTF-8, then re-index the item",
            ) from error


def content_of(source: Source) -> bytes:
    """All of it, for a format that cannot be read piece by piece."""
    with _opened(source) as file:
        return file.read()


def _opened(source: Source) -> BinaryIO:
    if source.content is not None:
        return BytesIO(source.content)
    return Path(str(source.place)).open("rb")


def _is_markdown(source: Source) -> bool:
    return source.media_type == MARKDOWN_TYPE or source.name.lower().endswith(MARKDOWN_NAMES)
