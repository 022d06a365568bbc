"""What was paid for once is not paid for again: edits, moves and copies of documents."""

from __future__ import annotations

from random import Random

from holdfast.domain.events import EventKind
from tests.workflow.worlds import World

DOCUMENTS = 100
MOST = 3


def sentence(draw: Random) -> str:
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(12)]
    return " ".join(words).capitalize() + "."


def document(number: int) -> list[str]:
    draw = Random(number)
    return [" ".join(sentence(draw) for _ in range(draw.randint(1, 3))) for _ in range(25)]


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
