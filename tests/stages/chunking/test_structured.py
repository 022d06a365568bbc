"""Chunks are exact slices that lose no word, stay in their size, and come out the same again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of, count_tokens

SETTINGS = Cutting(32, 8)
CUT_AT_LINES = replace(SETTINGS, separator="\n---\n")

WORDS = st.sampled_from(
    ["alpha", "beta", "# Head\n", "\n\n", "\n", ". ", "! ", "在中国。", "x" * 300, "\n---\n", " "]
)
TEXTS = st.lists(WORDS, max_size=80).map(" ".join) | st.text(max_size=400)
MANNERS = st.sampled_from([SETTINGS, CUT_AT_LINES])


def cut(text: str, settings: Cutting = SETTINGS) -> list[Chunk]:
    return list(chunks_of([Segment(text)], settings, "markdown"))


@given(TEXTS, MANNERS)
def test_every_chunk_is_an_exact_slice(text: str, settings: Cutting) -> None:
    for chunk in cut(text, settings):
        assert text[chunk.char_start : chunk.char_end] == chunk.text
        assert chunk.text.strip()


@given(TEXTS, MANNERS)
def test_every_character_that_is_not_space_stands_in_some_chunk(
    text: str, settings: Cutting
) -> None:
    covered = {
        place for chunk in cut(text, settings) for place in range(chunk.char_start, chunk.char_end)
    }

    assert [c for place, c in enumerate(text) if place not in covered and c.strip()] == []


@given(TEXTS, MANNERS)
def test_no_chunk_is_larger_than_the_base_allows(text: str, settings: Cutting) -> None:
    assert all(count_tokens(chunk.text) <= settings.size for chunk in cut(text, settings))


@given(TEXTS, MANNERS)
def test_chunks_are_numbered_in_order_and_move_forward(text: str, settings: Cutting) -> None:
    chunks = cut(text, settings)

    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    starts = [(chunk.char_start, chunk.char_end) for chunk in chunks]
    assert starts == sorted(set(starts))


@given(TEXTS, MANNERS)
def test_the_same_text_is_cut_the_same_again(text: str, settings: Cutting) -> None:
    assert cut(text, settings) == cut(text, settings)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u2003\n"])
def test_white_space_alone_makes_no_chunk(text: str) -> None:
    assert cut(text) == []


def test_a_heading_opens_a_chunk_and_stands_above_what_follows() -> None:
    chunks = cut("# One\n\nalpha\n\n## Two\n\nbeta\n\n# Three\n\ngamma")

    assert [chunk.headings for chunk in chunks] == [("One",), ("One", "Two"), ("Three",)]
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# One", "## Two", "# Three"]


def test_a_chunk_begins_with_the_last_sentences_of_the_one_before() -> None:
    chunks = cut(" ".join(f"Sentence number {n} is here." for n in range(20)))

    assert len(chunks) > 2
    assert all(b.char_start < a.char_end for a, b in pairwise(chunks))
