"""Broken documents: each completes or fails with words, and nobody else notices."""

from __future__ import annotations

import pytest

from holdfast.testing.broken import WAYS, drawn
from holdfast.testing.malformed import run


def test_a_seed_breaks_the_same_documents_again() -> None:
    first, second = (list(drawn(60, "seed")) for _ in range(2))

    assert first == second
    assert {one.how for one in first} == set(WAYS)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_broken_documents_fail_with_words_and_harm_nobody() -> None:
    report = run(100, "slow test")

    assert report.wrong == []
    assert sum(report.outcomes.values()) == 100
    assert report.outcomes["completed"]
    assert report.outcomes["parser_failed"]
