"""What a ranking is worth when the answers are known."""

from __future__ import annotations

import pytest

from holdfast.domain.quality import Quality, ndcg, quality, recall, reciprocal_rank

OTHERS = [f"other{n}" for n in range(20)]


@pytest.mark.parametrize(
    ("ranking", "grades", "worth"),
    [
        (["a"], {"a": 1}, 1.0),
        (["x", "a"], {"a": 1}, 0.6309),
        (["x", "y"], {"a": 1}, 0.0),
        (["b", "a"], {"a": 2, "b": 1}, 0.7967),
        (["a", "b"], {"a": 2, "b": 1}, 1.0),
        (["a"], {"a": 1, "b": 1}, 0.6131),
    ],
)
def test_a_lower_place_counts_less(
    ranking: list[str], grades: dict[str, int], worth: float
) -> None:
    assert ndcg(ranking, grades) == pytest.approx(worth, abs=1e-4)


def test_recall_is_the_share_that_was_found() -> None:
    assert recall(["a", "x"], {"a": 1, "b": 2, "c": 0}) == 0.5


def test_the_first_answer_decides_the_reciprocal_rank() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 1}) == 0.5
    assert reciprocal_rank(["x"], {"a": 1}) == 0


def test_what_stands_below_ten_places_is_not_found() -> None:
    found = quality([([*OTHERS[:10], "a"], {"a": 1}), (["a"], {"a": 1})])

    assert found == Quality(ndcg=0.5, recall=0.5, mrr=0.5)


def test_a_question_nobody_answers_is_left_out() -> None:
    assert quality([(["a"], {"a": 1}), (["a"], {"b": 0})]).ndcg == 1.0
