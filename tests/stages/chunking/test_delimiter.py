"""Does a separator begin a chunk?"""

from __future__ import annotations

from holdfast.domain.bases import BaseSettings
from holdfast.stages.chunking.structured import chunks_of

SETTINGS = BaseSettings(
    "b",
    search_mode="keyword",
    chunk_strategy="delimiter",
    chunk_separator="---",
    chunk_size=16,
    chunk_overlap=4,
)


def test_what_stands_between_separators_is_a_chunk_of_its_own() -> None:
    chunks = [chunk.text for chunk in chunks_of("alpha\n---\nbeta\n---\ngamma", SETTINGS)]

    assert chunks == ["alpha\n---", "beta\n---", "gamma"]


def test_a_part_that_is_too_long_is_cut_further() -> None:
    chunks = list(chunks_of("word " * 40 + "---tail", SETTINGS))

    assert len(chunks) > 2
    assert chunks[-1].text == "tail"
