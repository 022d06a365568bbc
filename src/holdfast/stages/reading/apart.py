"""Where is a document read? Small text here; everything else in a child that may die of it.

Reading and cutting happen in the child together: its answers are pages of chunks, so a gigabyte
crosses the pipe piece by piece, and the engine's interpreter is free for the engine.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from typing import Any

from holdfast.domain.chunks import Chunk, ChunkPage, Cutting
from holdfast.ports import Event, Limits, Runtime, Source
from holdfast.stages.reading.cutting import cut
from holdfast.stages.reading.kinds import PLAIN_TEXT, is_packed, kind_of
from holdfast.stages.reading.ocr import Ocr

TASK = f"{__name__}:cut_apart"
# what the host imports before it forks; none of it starts a thread by being imported
WARM = (__name__, "kreuzberg", "pypdfium2", "charset_normalizer", "trafilatura", "tokenizers")
BYTES_A_SECOND = 100_000  # the slowest reading that is still work and not a hang


class Cancelled(Exception):
    """Nobody wants this document any more."""


@dataclass(frozen=True, slots=True)
class ReaderApart:
    """Reads in children, and what is small and plain in the engine's own process."""

    runtime: Runtime
    limits: Limits
    in_process: int
    ocr: Ocr

    def read(
        self, source: Source, cutting: Cutting, cancelled: Event
    ) -> Generator[ChunkPage, None, None]:
        if self._is_small_and_plain(source):
            yield from cut(source, cutting)
            return

        def check() -> None:
            if cancelled.is_set():
                raise Cancelled

        argument = {"source": _told(source), "cutting": asdict(cutting), "ocr": self.ocr.languages}
        limits = self._limits_of(source)
        try:
            with self.runtime.child(
                TASK, argument, about=source.name, limits=limits, check=check
            ) as answers:
                for answer in answers:
                    check()  # the next page may be here already, and then nobody waits for it
                    yield _page(answer)
        except Cancelled:
            return

    def _is_small_and_plain(self, source: Source) -> bool:
        if source.content is None or source.size > self.in_process or is_packed(source.content):
            return False
        return kind_of(source, BytesIO(source.content)) in PLAIN_TEXT

    def _limits_of(self, source: Source) -> Limits:
        """A large text may compute for long, and JSON makes it longer."""
        seconds = self.limits.cpu + source.size // BYTES_A_SECOND
        return replace(self.limits, cpu=seconds, output=self.limits.output + 8 * source.size)


def cut_apart(argument: dict[str, Any]) -> Iterator[Any]:
    """In the child: the pages of chunks as JSON."""
    given = argument["source"]
    content = given["content"]
    source = Source(**{**given, "content": None if content is None else b64decode(content)})
    for page in cut(source, Cutting(**argument["cutting"]), Ocr(argument["ocr"])):
        yield {
            "share": page.share,
            "title": page.title,
            "chunks": [
                (one.ordinal, one.text, one.char_start, one.char_end, one.page, one.headings)
                for one in page.chunks
            ],
        }


def _told(source: Source) -> dict[str, Any]:
    content = None if source.content is None else b64encode(source.content).decode()
    return {**asdict(source), "content": content}


def _page(answer: Any) -> ChunkPage:
    chunks = tuple(
        Chunk(ordinal, text, start, end, page, tuple(headings))
        for ordinal, text, start, end, page, headings in answer["chunks"]
    )
    return ChunkPage(chunks, answer["share"], answer["title"])
