"""The table of moves: who may lead where."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.item_states import (
    MOVES,
    Move,
    Status,
    first_status,
    index_status,
    may_lead_to,
    sources,
    statuses_named,
)

I, P, Q = Status.IDLE, Status.PREPARING, Status.PROCESSING  # noqa: E741  (columns of a table)
R, E, C = Status.READING, Status.EMBEDDING, Status.COMPLETED
F, D = Status.FAILED, Status.DELETING

FROM = {
    Move.ADOPT: {I},
    Move.RESTART: {I, P, Q, R, E, C, F},
    Move.READ: {Q, R, E},
    Move.EMBED: {R, E},
    Move.COMPLETE: {Q, R, E},
    Move.EXPAND: {P, Q, R, E},
    Move.FAIL: {I, P, Q, R, E},
    Move.ROLL_UP: {P, Q, R, E, C, F},
    Move.DELETE: {I, P, Q, R, E, C, F, D},
}
TO = {
    Move.ADOPT: {P, Q, C},
    Move.RESTART: {P, Q},
    Move.READ: {R},
    Move.EMBED: {E},
    Move.COMPLETE: {C},
    Move.EXPAND: {P, Q, C, F},
    Move.FAIL: {F},
    Move.ROLL_UP: {P, Q, C, F},
    Move.DELETE: {D},
}


@pytest.mark.parametrize(("status", "move"), list(product(Status, Move)))
def test_a_move_may_start_from_exactly_these_states(status: Status, move: Move) -> None:
    assert (status in sources(move)) == (status in FROM[move])


@pytest.mark.parametrize(("status", "move"), list(product(Status, Move)))
def test_a_move_may_end_in_exactly_these_states(status: Status, move: Move) -> None:
    assert may_lead_to(move, status) == (status in TO[move])


@given(st.lists(st.tuples(st.sampled_from(Move), st.sampled_from(Status))))
def test_whatever_the_order_of_moves_once_deleting_always_deleting(
    wished: list[tuple[Move, Status]],
) -> None:
    status, was_deleting = Status.PROCESSING, False

    for move, target in wished:
        if status in sources(move) and may_lead_to(move, target):
            status = target
        was_deleting = was_deleting or status is Status.DELETING
        assert not was_deleting or status is Status.DELETING


def test_only_a_restart_or_an_adoption_leads_from_settled_to_work() -> None:
    waking = {
        move
        for move, (before, after) in MOVES.items()
        if before & {C, F, I} and after & {P, Q, R, E}
    }

    assert waking == {Move.ADOPT, Move.RESTART, Move.ROLL_UP}


def test_containers_are_born_preparing_and_leaves_processing() -> None:
    assert first_status(is_container=True) is Status.PREPARING
    assert first_status(is_container=False) is Status.PROCESSING


@pytest.mark.parametrize(
    ("status", "leaf", "container"),
    [
        (I, "not_indexed", "not_indexed"),
        (P, "queued", "queued"),
        (Q, "queued", "indexing"),
        (R, "indexing", "indexing"),
        (E, "indexing", "indexing"),
        (C, "success", "success"),
        (F, "failed", "failed"),
        (D, None, None),
    ],
)
def test_index_status_says_the_same_in_the_words_of_seed_004(
    status: Status, leaf: str | None, container: str | None
) -> None:
    assert index_status(status, is_container=False) == leaf
    assert index_status(status, is_container=True) == container


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("pending", {I, P, Q}),
        ("preprocessing", {R}),
        ("embedding", {E}),
        ("completed", {C}),
        ("failed", {F}),
        ("deleting", {D}),
        ("no such word", set()),
    ],
)
def test_the_words_of_seed_001_name_our_states(word: str, meant: set[Status]) -> None:
    assert statuses_named(word) == meant


@pytest.mark.parametrize("status", list(Status))
def test_each_of_our_words_names_its_own_state(status: Status) -> None:
    assert statuses_named(status.value) == {status}
