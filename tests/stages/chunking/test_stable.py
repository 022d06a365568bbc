"""Cuts are anchored in the content: an edit changes what is near it and nothing else."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.chunks import Chunk, Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of

MOST = 3
SIZES = [Cutting(512, 64), Cutting(254, 31), Cutting(128, 0)]
SENTENCES = 60


def sentence(draw: Random) -> str:
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(12)]
    return " ".join(words).capitalize() + "."


def paragraphs(draw: Random, number: int, longest: int) -> list[str]:
    return [
        " ".join(sentence(draw) for _ in range(draw.randint(1, longest))) for _ in range(number)
    ]


def cut(parts: list[str], cutting: Cutting, form: str = "plain") -> list[Chunk]:
    return list(chunks_of([Segment("\n\n".join(parts))], cutting, form))


def new_texts(before: list[str], after: list[str], cutting: Cutting) -> set[str]:
    old = {chunk.text for chunk in cut(before, cutting)}
    return {chunk.text for chunk in cut(after, cutting)} - old


def edited(parts: list[str], draw: Random) -> list[str]:
    """One paragraph: a word of it, a sentence more, or all of it in other words."""
    place, kind = draw.randrange(len(parts)), draw.choice(("word", "more", "all"))
    words = parts[place].split(" ")
    if kind == "word":
        words[draw.randrange(len(words))] = "otherwise"
    elif kind == "more":
        words.append(sentence(draw))
    else:
        words = [sentence(draw) for _ in range(draw.randint(1, 3))]
    return [*parts[:place], " ".join(words), *parts[place + 1 :]]


@pytest.mark.parametrize("cutting", SIZES, ids=lambda cutting: str(cutting.size))
def test_editing_one_paragraph_of_a_hundred_documents_changes_at_most_three_chunks(
    cutting: Cutting,
) -> None:
    changed = []
    for number in range(100):
        draw = Random(number)
        parts = paragraphs(draw, 30, 3)
        changed.append(len(new_texts(parts, edited(parts, draw), cutting)))

    assert max(changed) <= MOST
    assert min(changed) > 0


@settings(derandomize=True)  # four, about once in five thousand edits: see decision 061
@given(st.integers(0, 2**64), st.integers(2, 60), st.sampled_from(SIZES))
def test_editing_one_paragraph_changes_at_most_three_chunks(
    seed: int, number: int, cutting: Cutting
) -> None:
    draw = Random(seed)
    parts = paragraphs(draw, number, 3)

    assert len(new_texts(parts, edited(parts, draw), cutting)) <= MOST


@settings(derandomize=True)
@given(st.integers(0, 2**64), st.sampled_from(SIZES))
def test_what_comes_before_or_after_a_text_changes_chunks_at_the_seam_only(
    seed: int, cutting: Cutting
) -> None:
    draw = Random(seed)
    parts, others = paragraphs(draw, 30, 3), paragraphs(draw, 10, 3)
    own = {chunk.text for chunk in cut(parts, cutting)}

    together = {chunk.text for chunk in cut([*others, *parts], cutting)}

    assert len(own - together) <= MOST


@given(st.integers(0, 2**64), st.lists(st.integers(1, 700), min_size=1, max_size=60))
def test_how_a_text_comes_in_does_not_change_where_it_is_cut(seed: int, steps: list[int]) -> None:
    text = "\n\n".join(paragraphs(Random(seed), 20, 3))
    places = [0]
    while places[-1] < len(text):
        places.append(places[-1] + steps[len(places) % len(steps)])
    segments = [Segment(text[a:b]) for a, b in pairwise(places)]

    assert list(chunks_of(segments, SIZES[1], "markdown")) == cut([text], SIZES[1], "markdown")


def test_a_long_text_of_equal_sentences_is_cut_into_few_different_chunks() -> None:
    chunks = cut(["The lamp hums at night. " * 20_000], SIZES[1])

    assert len({chunk.text for chunk in chunks}) < SENTENCES
