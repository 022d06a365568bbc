"""Chunks are exact slices that lose no word, stay in their size, and come out the same again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of, count_tokens
from holdfast.stages.chunking.tokens import counter

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
    roomy = Cutting(64, 16)
    chunks = cut(" ".join(f"Sentence number {n} is here." for n in range(200)), roomy)

    assert len(chunks) > 20
    assert all(b.char_start < a.char_end for a, b in pairwise(chunks))


def test_a_section_that_fits_is_one_chunk_and_keeps_no_room_for_an_overlap() -> None:
    text = " ".join(f"word{n}." for n in range(14))
    assert SETTINGS.size - SETTINGS.overlap < count_tokens(text) <= SETTINGS.size

    assert [chunk.text for chunk in cut(text)] == [text]


def test_headings_are_headings_in_markdown_only() -> None:
    (chunk,) = chunks_of([Segment("# not a title\n\nalpha")], SETTINGS, "plain")

    assert chunk.headings == ()
    assert chunk.text == "# not a title\n\nalpha"


def test_a_block_of_code_that_fits_stays_whole_and_holds_no_headings() -> None:
    code = "```\n# a comment\n\nx = 1\n```"
    chunks = cut(f"{'Some words come first. ' * 6}\n\n{code}\n\n{'And some after. ' * 6}")

    assert [chunk for chunk in chunks if code in chunk.text]
    assert {chunk.headings for chunk in chunks} == {()}


def test_a_block_of_code_that_is_too_long_is_cut_at_its_lines() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(40)]
    chunks = cut("```python\n" + "\n".join(lines) + "\n```\n\n# After\n\nalpha")

    whole = [line for chunk in chunks for line in chunk.text.split("\n")]
    assert set(lines) <= set(whole)
    assert chunks[-1].headings == ("After",)


def test_chinese_is_cut_after_its_own_full_stops() -> None:
    sentence = "他在院子里种了一棵树，每天早上浇水。"
    chunks = list(chunks_of([Segment(sentence * 30)], Cutting(64, 0), "plain"))

    assert len(chunks) > 5
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_a_chunk_tells_the_page_it_begins_on() -> None:
    pages = [Segment(f"Words of page {n}. " * 8 + "\n\n", n) for n in range(1, 6)]
    chunks = list(chunks_of(pages, Cutting(32, 0), "plain"))

    for chunk in chunks:
        assert f"page {chunk.page}." in chunk.text
    assert {chunk.page for chunk in chunks} == {1, 2, 3, 4, 5}


def test_no_more_of_a_long_text_is_taken_in_than_its_next_chunks_need() -> None:
    taken = 0

    def segments() -> Iterator[Segment]:
        nonlocal taken
        for number in range(40):
            text = f"The lamp number {number} hums at night. " * 2_000
            taken += len(text)
            yield Segment(text)

    for chunk in chunks_of(segments(), Cutting(512, 64), "plain"):
        assert taken - chunk.char_end < 1_000_000


@pytest.mark.parametrize("tokenizer", ["minilm", "use"])
@pytest.mark.parametrize("text", ["Ein Satz. " * 200, "在中国。" * 200, "x" * 5_000, "a,b\n" * 500])
def test_no_chunk_is_longer_than_the_model_reads(tokenizer: str, text: str) -> None:
    chunks = list(chunks_of([Segment(text)], Cutting(64, 16, tokenizer=tokenizer), "plain"))

    assert max(counter(tokenizer).count(chunk.text) for chunk in chunks) <= 64
