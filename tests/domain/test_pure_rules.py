"""Roll-up, outermost roots, progress, recipe, identities: values in, values out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.bases import BaseSettings
from holdfast.domain.chunks import Chunk, digest_of, pages, text_hash
from holdfast.domain.ids import ItemId, TextHash, first_claim, uuid7
from holdfast.domain.item_states import COMPLETED, FAILED, Status
from holdfast.domain.progress import percent, shown, weighted
from holdfast.domain.recipe import is_outdated, manner_of, recipe_of
from holdfast.domain.rollup import Outlook, roll_up
from holdfast.domain.subtrees import outermost_roots, roots_digest, slices

SETTINGS = BaseSettings(name="b", embedding_model="hash/32", dimensions=32)
CALM = Outlook(COMPLETED, None, has_children=True, has_active=False, failed=0, settled=3)
OUTLOOKS = st.builds(
    Outlook,
    own_outcome=st.sampled_from([None, COMPLETED, FAILED]),
    own_error=st.just(("code", "sentence", "advice")),
    has_children=st.booleans(),
    has_active=st.booleans(),
    failed=st.integers(0, 3),
    settled=st.integers(3, 9),
)

# --- roll-up --------------------------------------------------------------------------------------


@given(OUTLOOKS)
def test_the_first_rule_that_holds_decides(inside: Outlook) -> None:
    status = roll_up(inside).status

    if inside.own_outcome is None:
        assert status is Status.PREPARING
    elif inside.has_active:
        assert status is Status.PROCESSING
    else:
        failed = inside.own_outcome is FAILED or inside.failed > 0
        assert status is (FAILED if failed else COMPLETED)


@given(OUTLOOKS)
def test_an_error_is_said_if_and_only_if_the_container_failed(inside: Outlook) -> None:
    verdict = roll_up(inside)

    assert (verdict.error is not None) == (verdict.status is FAILED)


def test_its_own_failure_is_told_before_its_childrens() -> None:
    own = ("source_unreadable", "cannot be listed", "look")

    assert roll_up(replace(CALM, own_outcome=FAILED, own_error=own, failed=2)).error == own


def test_the_sentence_counts_and_names_the_failed() -> None:
    worst = (("a.txt", "no text"), ("b.txt", "damaged"))

    verdict = roll_up(replace(CALM, failed=2, settled=5, worst=worst))

    assert verdict.error is not None
    assert verdict.error[1] == "2 of 5 inside failed (a.txt: no text; b.txt: damaged)"


def test_an_empty_container_completes_with_a_warning() -> None:
    assert roll_up(replace(CALM, has_children=False)).warning == "nothing inside"
    assert roll_up(CALM).warning is None


# --- subtrees -------------------------------------------------------------------------------------

# a tree as the parent of each of its ten nodes: every parent has a smaller number
PARENTS = st.tuples(*(st.none() | st.integers(0, n - 1) if n else st.none() for n in range(10)))


def above(parents: tuple[int | None, ...]) -> dict[ItemId, list[ItemId]]:
    found: dict[ItemId, list[ItemId]] = {}
    for node, parent in enumerate(parents):
        up = [] if parent is None else [ItemId(str(parent)), *found[ItemId(str(parent))]]
        found[ItemId(str(node))] = up
    return found


@given(PARENTS, st.lists(st.integers(0, 9).map(lambda n: ItemId(str(n)))))
def test_outermost_roots_cover_the_selection_and_none_stands_in_another(
    parents: tuple[int | None, ...], selected: list[ItemId]
) -> None:
    ancestors = above(parents)

    roots = outermost_roots(selected, ancestors)

    assert len(roots) == len(set(roots))
    assert not any(up in roots for root in roots for up in ancestors[root])
    assert all(one in roots or set(ancestors[one]) & set(roots) for one in selected)


@given(st.lists(st.text(min_size=1), unique=True))
def test_a_set_of_roots_has_one_name_whatever_its_order(names: list[str]) -> None:
    ids = [ItemId(name) for name in names]

    assert roots_digest(ids) == roots_digest(ids[::-1])


@given(st.lists(st.text(min_size=1), unique=True), st.integers(1, 5))
def test_slices_hold_all_roots_in_order(names: list[str], size: int) -> None:
    groups = slices([ItemId(name) for name in names], size)

    assert [one for group in groups for one in group] == names
    assert all(0 < len(group) <= size for group in groups)


# --- progress -------------------------------------------------------------------------------------

SHARE = st.floats(-1, 2)


@given(SHARE, SHARE, st.integers(1, 99))
def test_a_percentage_stays_below_a_hundred_until_the_publish(
    read: float, written: float, weight: int
) -> None:
    assert 0 <= percent(read, written, weight) <= 99


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_work_is_never_less_progress(read: float, less: float, more: float) -> None:
    less, more = sorted([less, more])

    assert percent(read, less) <= percent(read, more)
    assert percent(less, read) <= percent(more, read)


@given(st.sampled_from(Status), st.integers(-50, 200))
def test_what_is_shown_is_a_hundred_when_completed_and_nothing_when_idle(
    status: Status, kept: int
) -> None:
    said = shown(status, kept)

    assert 0 <= said <= 100
    assert said == 100 or status is not COMPLETED
    assert said == 0 or status is not Status.IDLE


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 100)), min_size=1))
def test_a_weighted_percentage_lies_between_its_parts(parts: list[tuple[int, int]]) -> None:
    shares = [share for _, share in parts]

    assert min(shares) <= weighted(parts) <= max(shares)


def test_nothing_at_all_is_done() -> None:
    assert weighted([]) == 100


# --- recipe ---------------------------------------------------------------------------------------


def test_equal_content_in_equal_manner_is_an_equal_recipe() -> None:
    assert recipe_of("c" * 64, SETTINGS, 1) == recipe_of("c" * 64, replace(SETTINGS), 1)


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_size": 256},
        {"chunk_overlap": 0},
        {"chunk_strategy": "delimiter", "chunk_separator": "---"},
        {"file_processor_id": "ocr"},
    ],
)
def test_what_decides_a_build_makes_it_outdated_when_it_changes(change: dict[str, object]) -> None:
    built = recipe_of("c" * 64, SETTINGS, 1)

    assert is_outdated(built, replace(SETTINGS, **change), 1)  # type: ignore[arg-type]
    assert not is_outdated(built, SETTINGS, 1)


@pytest.mark.parametrize("change", [{"name": "other"}, {"top_k": 3}, {"recovery": "ask"}])
def test_what_decides_nothing_outdates_nothing(change: dict[str, object]) -> None:
    same = replace(SETTINGS, **change)  # type: ignore[arg-type]

    assert manner_of(same, 1) == manner_of(SETTINGS, 1)


def test_another_space_is_another_manner_only_where_there_are_vectors() -> None:
    plain = replace(SETTINGS, embedding_model=None, dimensions=None)

    assert manner_of(SETTINGS, 1) != manner_of(SETTINGS, 2)
    assert manner_of(plain, 1) == manner_of(plain, 2)


def test_what_was_never_built_is_not_outdated() -> None:
    assert not is_outdated(None, SETTINGS, 1)


# --- chunks and identities ------------------------------------------------------------------------


@given(st.lists(st.text(), max_size=30), st.integers(1, 7))
def test_pages_hold_all_chunks_in_order(texts: list[str], size: int) -> None:
    chunks = [Chunk(n, text, 0, len(text)) for n, text in enumerate(texts)]

    found = list(pages(iter(chunks), size))

    assert [chunk for page in found for chunk in page] == chunks
    assert all(0 < len(page) <= size for page in found)


@given(st.lists(st.text(), min_size=2, unique=True))
def test_a_seal_knows_number_and_order(texts: list[str]) -> None:
    hashes: list[TextHash] = [text_hash(text) for text in texts]

    assert digest_of(hashes).count == len(texts)
    assert digest_of(hashes) != digest_of(hashes[::-1])
    assert digest_of(hashes) != digest_of(hashes[:-1])


@given(st.integers(0, (1 << 48) - 2), st.integers(0, (1 << 74) - 1), st.integers(0, (1 << 74) - 1))
def test_ids_sort_by_the_time_they_were_given(at: int, one: int, other: int) -> None:
    assert uuid7(at, one) < uuid7(at + 1, other)
    assert (uuid7(at, one) < uuid7(at, other)) == (one < other)


@given(st.integers(0, (1 << 48) - 1), st.integers(0, (1 << 74) - 1))
def test_an_id_is_a_uuid_of_version_seven(at: int, chance: int) -> None:
    text = uuid7(at, chance)

    assert [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]
    assert text[14] == "7"
    assert text[19] in "89ab"


@given(st.integers(0, 9_000_000))
def test_every_claim_of_an_epoch_is_above_all_earlier_ones(epoch: int) -> None:
    assert first_claim(epoch + 1) - first_claim(epoch) == 10**9
