"""How good is a ranking, when it is known which documents answer?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

DEPTH = 10

Grades = Mapping[str, int]  # of the documents that answer one question


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over questions; 1 is best."""

    ndcg: float
    recall: float
    mrr: float


def quality(rankings: Iterable[tuple[Sequence[str], Grades]]) -> Quality:
    """Of rankings without repetition, each beside the grades of what answers its question."""
    judged = [(ranking[:DEPTH], grades) for ranking, grades in rankings if any(grades.values())]
    many = max(1, len(judged))
    return Quality(
        ndcg=sum(ndcg(ranking, grades) for ranking, grades in judged) / many,
        recall=sum(recall(ranking, grades) for ranking, grades in judged) / many,
        mrr=sum(reciprocal_rank(ranking, grades) for ranking, grades in judged) / many,
    )


def ndcg(ranking: Sequence[str], grades: Grades) -> float:
    """What was gained, a lower place counting less, beside the most that could be."""
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return _gain([grades.get(one, 0) for one in ranking]) / _gain(best)


def recall(ranking: Sequence[str], grades: Grades) -> float:
    """The share of what answers that was found at all."""
    answers = {one for one, grade in grades.items() if grade > 0}
    return len(answers & set(ranking)) / len(answers)


def reciprocal_rank(ranking: Sequence[str], grades: Grades) -> float:
    """One by the place of the first answer."""
    places = (place for place, one in enumerate(ranking, start=1) if grades.get(one, 0) > 0)
    return 1.0 / next(places, float("inf"))


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1.0) / log2(place + 1) for place, grade in enumerate(grades, start=1))
