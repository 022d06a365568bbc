"""May children that a finished listing did not meet be deleted?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.stages.walking.vanishing import Evidence, may_delete_missing

SOME = Evidence(met=5, known=5, missing=2, is_bare=False, is_added=True)
BARE = Evidence(met=0, known=0, missing=3, is_bare=True, is_added=True)


def automatic(evidence: Evidence) -> bool:
    return may_delete_missing(evidence, asked=False, pruned=False)


def asked(evidence: Evidence) -> bool:
    return may_delete_missing(evidence, asked=True, pruned=False)


def test_a_few_that_are_missing_may_go() -> None:
    assert automatic(SOME)
    assert asked(SOME)


def test_an_empty_added_folder_is_no_evidence_whoever_asks() -> None:
    assert not automatic(BARE)
    assert not asked(BARE)


def test_an_empty_folder_inside_is_believed_when_a_user_asks() -> None:
    inside = replace(BARE, is_added=False)

    assert asked(inside)
    assert not automatic(inside)


def test_nothing_but_hidden_names_is_believed_when_a_user_asks() -> None:
    hidden_only = replace(BARE, is_bare=False)

    assert asked(hidden_only)
    assert not automatic(hidden_only)


@pytest.mark.parametrize(
    ("known", "missing", "goes"),
    [(10, 10, True), (9, 11, False), (0, 19, True), (0, 20, False), (500, 499, True)],
)
def test_most_of_twenty_or_more_do_not_vanish_by_themselves(
    known: int, missing: int, goes: bool
) -> None:
    found = Evidence(met=known + 100, known=known, missing=missing, is_bare=False, is_added=True)

    assert automatic(found) is goes
    assert asked(found)


def test_a_folder_that_went_away_while_it_was_listed_is_no_evidence() -> None:
    assert not automatic(replace(SOME, is_bare=True))
    assert not asked(replace(SOME, is_bare=True))


def test_a_confirmed_loss_is_believed() -> None:
    assert may_delete_missing(BARE, asked=False, pruned=True)
