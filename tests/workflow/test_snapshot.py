"""What is parsed is what was read once: nothing the user does meanwhile gets into it."""

from __future__ import annotations

import pytest

from holdfast.domain.errors import Permanent
from holdfast.domain.item_states import Status
from holdfast.domain.items import File, Item
from holdfast.workflow.sweep import sweep
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World

SENTENCE = "The lamp hums at night and nobody has counted the moths. "


def copies(world: World) -> list[str]:
    return [name for name, _ in world.engine.kb.files.stored("runs")]


@pytest.fixture
def large(make_world: MakeWorld) -> World:
    """Whatever is larger than a few words is copied before it is parsed."""
    return make_world(in_process_bytes=50)


def added(world: World, text: str) -> Item:
    path = world.tree({"long.txt": text}) / "long.txt"
    return world.hf.add(world.base, [str(path)]).created[0]


def test_a_large_file_is_parsed_from_a_copy_that_goes_with_its_run(large: World) -> None:
    seen: list[str] = []
    large.reader.on_read = lambda _name, _content: seen.extend(copies(large))

    item = added(large, SENTENCE * 20)
    large.drain()

    assert large.status(item) is Status.COMPLETED
    assert len(seen) == 1
    assert copies(large) == []


def test_a_file_that_changes_while_it_is_parsed_is_indexed_as_it_was(large: World) -> None:
    item = added(large, SENTENCE * 20 + "heron")
    path = large.folder / "docs" / "long.txt"

    def changed(_name: str, _content: bytes) -> None:
        path.write_text("other words")

    large.reader.on_read = changed

    large.drain()

    text = " ".join(chunk.content for chunk in large.hf.chunks(item).items)
    assert "heron" in text
    assert "other" not in text


def test_a_copy_that_a_crash_left_is_swept_and_one_at_work_stays(large: World) -> None:
    item = added(large, SENTENCE * 20)

    def swept(_name: str, _content: bytes) -> None:
        sweep(large.engine.kb)

    large.reader.on_read = swept
    large.engine.kb.files.keep("runs/7", b"of a dead run")

    large.drain()

    assert large.status(item) is Status.COMPLETED
    assert copies(large) == []


def test_a_large_original_is_kept_when_the_base_asks_for_it(large: World) -> None:
    large.hf.update_base(large.base, keep_originals=True)
    added(large, SENTENCE * 20)

    large.drain()

    ((name, _),) = large.engine.kb.files.stored("files")
    assert large.engine.kb.files.kept(name, 10_000).decode() == SENTENCE * 20
    assert copies(large) == []


def test_a_failed_run_leaves_no_copy(large: World) -> None:
    def broken(_name: str, _content: bytes) -> None:
        raise Permanent("cannot be parsed", code="parser_failed")

    large.reader.on_read = broken
    item = added(large, SENTENCE * 20)
    large.drain()

    assert large.status(item) is Status.FAILED
    assert copies(large) == []


def test_equal_bytes_are_not_parsed_again(world: World) -> None:
    first = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created[0]
    world.drain()

    world.hf.update(first, content=b"beta")
    world.drain()
    world.hf.update(first, content=b"alpha")
    world.hf.update(first, content=b"beta")
    world.drain()

    assert world.reader.names == ["a.txt", "a.txt"]
    assert world.found("beta") == [first.id]


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xef\xbb\xbf"])
def test_a_source_with_nothing_in_it_completes_and_says_so(world: World, content: bytes) -> None:
    item = world.hf.add(world.base, [File(content=content, name="a.txt")]).created[0]
    world.drain()

    done = world.item(item)
    assert (done.status, done.warning, done.chunk_count) == (Status.COMPLETED, "no_text", 0)


def without_text(_name: str, _content: bytes) -> None:
    raise Permanent("the pages are pictures", code="needs_ocr")


def test_bytes_without_text_fail_and_the_old_build_answers_on(world: World) -> None:
    item = world.hf.add(world.base, [File(content=b"heron", name="a.pdf")]).created[0]
    world.drain()
    world.hf.update_base(world.base, empty_content="complete")
    world.reader.on_read = without_text

    world.hf.update(item, content=b"scan")
    world.drain()

    assert world.item(item).error_code == "needs_ocr"
    assert world.found("heron") == [item.id]


@pytest.mark.parametrize(
    ("empty", "status"), [("fail", Status.FAILED), ("complete", Status.COMPLETED)]
)
def test_a_base_decides_what_becomes_of_bytes_without_text(
    world: World, empty: str, status: Status
) -> None:
    world.hf.update_base(world.base, empty_content=empty)
    world.reader.on_read = without_text

    item = world.hf.add(world.base, [File(content=b"scan", name="a.pdf")]).created[0]
    world.drain()

    assert world.status(item) is status
    assert (world.item(item).warning == "no_text") is (status is Status.COMPLETED)
