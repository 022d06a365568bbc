"""The small guards, over every state there is."""

from __future__ import annotations

import pytest

from holdfast.domain.errors import Conflict, InvalidInput, NotFound
from holdfast.domain.guards import (
    MAX_IDS,
    MAX_INPUTS,
    Standing,
    has_settled,
    may_add,
    may_find,
    may_reindex,
    may_select,
)
from holdfast.domain.ids import ItemId
from holdfast.domain.item_states import Status

SETTLED = {Status.COMPLETED, Status.FAILED, Status.IDLE}


def standing(status: Status, *, past_bounds: bool = False) -> Standing:
    return Standing(ItemId("i"), "name", status, past_bounds)


@pytest.mark.parametrize("status", list(Status))
def test_completed_failed_and_idle_have_settled(status: Status) -> None:
    assert has_settled(standing(status)) == (status in SETTLED)


@pytest.mark.parametrize("status", list(Status))
def test_past_its_bounds_everything_counts_as_settled_but_a_delete(status: Status) -> None:
    assert has_settled(standing(status, past_bounds=True)) == (status is not Status.DELETING)


def test_a_conflict_lists_whoever_is_in_the_way() -> None:
    with pytest.raises(Conflict, match="1 items have not settled") as refusal:
        may_reindex([standing(Status.COMPLETED), standing(Status.READING)])

    assert [one.status for one in refusal.value.blocking] == ["reading"]


def test_a_call_has_its_limits() -> None:
    may_add(MAX_INPUTS)
    may_select(["id"] * MAX_IDS)
    with pytest.raises(InvalidInput):
        may_add(MAX_INPUTS + 1)
    with pytest.raises(InvalidInput):
        may_select(["id"] * (MAX_IDS + 1))


def test_the_first_ten_unknown_ids_are_named() -> None:
    with pytest.raises(NotFound) as refusal:
        may_find([f"no{n:02}" for n in range(12)], [], "b")

    assert "no09, …" in str(refusal.value)
    assert "no10" not in str(refusal.value)
