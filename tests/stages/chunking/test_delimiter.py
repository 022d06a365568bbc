"""Does a separator begin a chunk?"""

from __future__ import annotations

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of

SETTINGS = Cutting(16, 4, separator="---")


def cut(text: str) -> list[Chunk]:
    return list(chunks_of([Segment(text)], SETTINGS, "plain"))


def test_what_stands_between_separators_is_a_chunk_of_its_own() -> None:
    chunks = [chunk.text for chunk in cut("alpha\n---\nbeta\n---\ngamma")]

    assert chunks == ["alpha\n---", "beta\n---", "gamma"]


def test_a_part_that_is_too_long_is_cut_further() -> None:
    chunks = cut("word " * 40 + "---tail")

    assert len(chunks) > 2
    assert chunks[-1].text == "tail"
