"""What was paid for once is not paid for again: edits, moves and copies of documents."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from holdfast.domain.events import EventKind
from holdfast.domain.ids import ClaimNo
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World, nothing

DOCUMENTS = 100
MOST = 3


def sentence(draw: Random) -> str:
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(12)]
    return " ".join(words).capitalize() + "."


def document(number: int) -> list[str]:
    draw = Random(number)
    return [" ".join(sentence(draw) for _ in range(draw.randint(1, 3))) for _ in range(25)]


class Killed(BaseException):
    """The process ends here."""


def kill_at_call(world: World, number: int) -> None:
    """The process dies in this call of the model and another one starts; its texts are unpaid."""
    calls = 0

    def kill(_texts: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            world.models.calls.pop()
            raise Killed

    world.models.on_call = kill
    with pytest.raises(Killed):
        world.drain()
    world.models.on_call = nothing
    world.crash()


def collect_vectors(world: World, item: Item) -> None:
    """As the publish of another item does."""
    kb = world.engine.kb
    with kb.main.read() as snapshot:
        live = snapshot.live_claims()
    kb.index.drop_before(world.base.id, [(item.id, ClaimNo(0))], live)


def folder_of(documents: dict[str, list[str]]) -> dict[str, str | bytes]:
    return {name: "\n\n".join(parts) for name, parts in documents.items()}


def embedded(world: World) -> int:
    world.models.calls.clear()
    world.drain()
    return len(set(world.models.texts))


def test_an_edit_in_each_of_a_hundred_documents_embeds_at_most_three_chunks_of_each(
    world: World,
) -> None:
    documents = {f"{number:03}.txt": document(number) for number in range(DOCUMENTS)}
    box = world.done_directory(folder_of(documents))
    whole = len(set(world.models.texts))

    for number, parts in enumerate(documents.values()):
        parts[number % len(parts)] += " A sentence that was not there before."
    world.tree(folder_of(documents))
    world.hf.reindex(box)
    cost = embedded(world)

    assert cost < whole / 2
    for child in world.inside(box).values():
        event = world.events(child, EventKind.INDEXED)[-1]
        assert event.detail["embedded"] <= MOST


def test_a_moved_and_a_copied_file_embed_nothing(world: World) -> None:
    text = "\n\n".join(document(7))
    box = world.done_directory({"a.txt": text, "b.txt": "beta"})
    root = world.tree({"copy.txt": text})
    (root / "b.txt").rename(root / "moved.txt")

    world.hf.reindex(box)

    assert embedded(world) == 0
    assert set(world.inside(box)) == {"a.txt", "copy.txt", "moved.txt"}


def test_what_a_killed_run_has_paid_for_is_not_paid_for_again(make_world: MakeWorld) -> None:
    world = make_world(batch_size=4)
    item = world.note("\n\n".join(" ".join(document(number)) for number in range(30)))
    for _ in range(2):
        kill_at_call(world, 3)
        world.sweep()
        collect_vectors(world, item)

    world.drain()

    texts = world.models.texts
    assert world.status(item) is Status.COMPLETED
    assert len(texts) == len(set(texts))
    world.sweep()
    assert world.ailments() == []
