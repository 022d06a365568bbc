"""Is a reranker's answer usable? Looked at before anything is put in another order."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.errors import Permanent
from holdfast.domain.given import is_number


def checked_scores(scores: Sequence[float], texts_count: int) -> list[float]:
    """One finite score per text, or Permanent(`provider_failed`) saying what came instead."""
    found = list(scores)
    if len(found) != texts_count:
        raise Permanent(
            f"{texts_count} texts were sent, {len(found)} scores came back", code="provider_failed"
        )
    wrong = [score for score in found if not is_number(score)]
    if wrong:
        raise Permanent(f"a score is {wrong[0]!r}, no finite number", code="provider_failed")
    return [float(score) for score in found]
