"""What add accepts, answers and remembers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from holdfast.domain.errors import InvalidInput
from holdfast.domain.item_states import Status
from holdfast.domain.items import File, Input, Note
from holdfast.domain.jobs import JobKind
from tests.workflow.worlds import World


def test_created_items_stand_in_the_order_of_the_inputs(world: World) -> None:
    path = world.tree({"a.txt": "alpha"}) / "a.txt"

    added = world.hf.add(world.base, [Note("one"), "/no/such/file", str(path), Note("two")])

    assert [item.name for item in added.created] == ["one", "a.txt", "two"]
    assert [(one.index, one.path, one.code) for one in added.failed] == [
        (1, "/no/such/file", "unreadable")
    ]


def test_names_come_from_titles_files_and_first_lines(world: World) -> None:
    inputs: list[Input | str] = [
        Note("# Head\n\nbody"),
        Note("x", title="T"),
        File(content=b"b", name="n.txt"),
    ]

    added = world.hf.add(world.base, inputs)

    assert [item.name for item in added.created] == ["Head", "T", "n.txt"]


@pytest.mark.parametrize("content", ["", "  \n\t "])
def test_an_empty_source_completes_with_the_warning_no_text(world: World, content: str) -> None:
    item = world.done_note(content)

    assert (item.status, item.warning, item.chunk_count) == (Status.COMPLETED, "no_text", 0)
    assert world.models.calls == []


def test_bytes_without_text_fail_and_keep_the_old_build(world: World) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created
    world.drain()

    world.hf.update(item, content=b"\x00\x00")
    world.drain()

    assert world.status(item) is Status.FAILED
    assert world.found("alpha") == [item.id]


def test_the_same_key_gets_the_same_answer_and_adds_nothing(world: World) -> None:
    inputs: list[Input | str] = [Note("alpha"), "/no/such/file"]

    first = world.hf.add(world.base, inputs, idempotency_key="k")
    again = world.hf.add(world.base, inputs, idempotency_key="k")

    assert again == first
    assert world.rows("SELECT count(*) FROM items") == [(1,)]


def test_the_same_key_with_another_body_is_refused(world: World) -> None:
    world.hf.add(world.base, [Note("alpha")], idempotency_key="k")
    before = world.dump()

    with pytest.raises(InvalidInput, match="another request"):
        world.hf.add(world.base, [Note("beta")], idempotency_key="k")

    assert world.dump() == before


def test_a_key_is_remembered_over_a_restart_and_for_a_day(world: World) -> None:
    inputs = [Note("alpha")]
    first = world.hf.add(world.base, inputs, idempotency_key="k")
    world.reopen()

    again = world.hf.add(world.base, inputs, idempotency_key="k")
    world.clock.advance(25 * 3_600)
    later = world.hf.add(world.base, inputs, idempotency_key="k")

    assert [one.id for one in again.created] == [one.id for one in first.created]
    assert later.created[0].id != first.created[0].id


def test_a_hundred_files_in_one_call_all_end_and_no_percentage_ever_falls(world: World) -> None:
    files = {f"f{n:03}.txt": f"# {n}\n\n" + f"words of {n} " * (n * 9) for n in range(100)}
    root = world.tree(files)
    items = world.hf.add(world.base, [str(root / name) for name in files]).created
    seen: dict[str, list[int]] = {item.id: [0] for item in items}

    def sample(*_: object) -> None:
        for item, percent in world.rows("SELECT id, progress FROM items"):
            seen[item].append(percent)

    world.reader.on_read = world.models.on_call = sample
    world.drain()
    sample()

    assert {item.status for item in world.hf.items(world.base, limit=1_000).items} == {"completed"}
    assert all(a <= b for steps in seen.values() for a, b in pairwise(steps))
    assert {steps[-1] for steps in seen.values()} == {100}
    assert any(0 < step < 100 for steps in seen.values() for step in steps)


def test_two_bases_take_turns_and_each_starts_its_items_in_order(world: World) -> None:
    big = "words and more words " * 5_000
    other = world.hf.create_base("other", embedding_model="hash/32")
    mine = [Note(f"mine {n} {big}", title=f"mine {n}") for n in range(6)]
    theirs = [Note(f"theirs {n} {big}", title=f"theirs {n}") for n in range(3)]
    world.hf.add(world.base, mine)
    world.hf.add(other, theirs)

    world.drain()

    sql = """SELECT name FROM item_events AS event JOIN items ON items.id = item_id
             WHERE event.status = 'reading' ORDER BY event.id"""
    started = [row[0] for row in world.rows(sql)]
    assert started[:6] in (
        ["mine 0", "theirs 0", "mine 1", "theirs 1", "mine 2", "theirs 2"],
        ["theirs 0", "mine 0", "theirs 1", "mine 1", "theirs 2", "mine 2"],
    )
    assert started[6:] == ["mine 3", "mine 4", "mine 5"]


def test_a_base_with_one_item_does_not_wait_behind_ten_thousand(world: World) -> None:
    other = world.hf.create_base("other", embedding_model="hash/32")
    world.notes(*(f"note {n} " * 20_000 for n in range(20)))
    alone = world.note("alone", base=other)

    world.step()
    world.step()

    assert world.status(alone) is Status.COMPLETED
    assert world.jobs(JobKind.INDEX_DOCUMENTS).count("done") == 2
