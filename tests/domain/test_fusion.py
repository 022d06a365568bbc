"""Rankings become one; equal texts become one hit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.fusion import by_rank, fused, merge_equal
from holdfast.domain.ids import ItemId


def test_what_stands_in_both_rankings_comes_first() -> None:
    assert [key for key, _ in fused([["a", "b", "c"], ["x", "b"]])] == ["b", "a", "x", "c"]


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    assert dict(fused([["a"], ["b", "a"]]))["a"] == pytest.approx(1 / 61 + 1 / 62)


def test_a_key_counts_once_in_a_ranking() -> None:
    assert dict(fused([["a", "a", "b"]]))["b"] == pytest.approx(1 / 62)


def test_one_ranking_stays_as_it_is() -> None:
    assert [key for key, _ in fused([["c", "a", "b"]])] == ["c", "a", "b"]


@given(st.lists(st.lists(st.integers(0, 20), unique=True), max_size=4))
def test_fusion_loses_and_invents_nothing(rankings: list[list[int]]) -> None:
    keys = [key for key, _ in fused(rankings)]

    assert sorted(keys) == sorted({key for ranking in rankings for key in ranking})


def test_bases_are_merged_place_by_place() -> None:
    assert by_rank([["a1", "a2", "a3"], ["b1"], []]) == ["a1", "b1", "a2", "a3"]


def test_equal_texts_are_one_hit_that_names_the_other_items() -> None:
    ranked = [("t", "x"), ("u", "x"), ("t", "y"), ("t", "x"), ("t", "z")]

    merged = merge_equal(ranked, lambda hit: hit[0], lambda hit: ItemId(hit[1]))

    assert [(one.hit, one.also) for one in merged] == [(("t", "x"), ("y", "z")), (("u", "x"), ())]


def test_at_most_ten_other_items_are_named() -> None:
    merged = merge_equal(range(30), lambda _: "same", lambda hit: ItemId(str(hit)))

    assert [len(one.also) for one in merged] == [10]
