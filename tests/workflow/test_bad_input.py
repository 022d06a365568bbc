"""Bad input to every operation of the library: a typed error with code and advice, no writes.

As nothing is written, the tests of this file share one world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from holdfast.domain.errors import HoldfastError, InvalidInput, QueueFull
from holdfast.domain.items import Directory, File, Note, Sitemap, Url
from holdfast.interfaces.library import Holdfast
from tests.workflow.conftest import MakeWorld
from tests.workflow.worlds import World

LONE = "\ud800"  # half a character: no valid text
NUL = "a\x00b"
ODD_IDS: list[Any] = [
    "no-such-id",
    LONE,
    NUL,
    "",
    None,
    7,
    b"id",
    ["nested"],
    {"a": 1},
    "x" * 10_000,
]
NOT_TEXT: list[Any] = [None, 7, b"bytes", ["a"], {"a": 1}]

Call = Callable[[World], object]


def repr_short(one: object) -> str:
    return ascii(one)[:24]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("shared"))
    yield world
    world.close()


def refused(world: World, call: Call) -> HoldfastError:
    """The typed error of a call that wrote nothing."""
    before = world.dump()
    with pytest.raises(HoldfastError) as refusal:
        call(world)
    assert refusal.value.code
    assert refusal.value.advice
    assert str(refusal.value)
    assert world.dump() == before
    return refusal.value


# --- ids ------------------------------------------------------------------------------------------

BY_BASE: dict[str, Callable[[Holdfast, Any], object]] = {
    "add": lambda hf, base: hf.add(base, [Note("alpha")]),
    "base": lambda hf, base: hf.base(base),
    "update_base": lambda hf, base: hf.update_base(base, top_k=3),
    "delete_base": lambda hf, base: hf.delete_base(base),
    "pause": lambda hf, base: hf.pause(base),
    "resume": lambda hf, base: hf.resume(base),
    "items": lambda hf, base: hf.items(base),
    "recover": lambda hf, base: hf.recover(base),
    "dismiss": lambda hf, base: hf.dismiss(base),
    "search": lambda hf, base: hf.search("alpha", bases=[base]),
    "queue": lambda hf, base: hf.queue(base or ""),
    "events": lambda hf, base: list(hf.events(base=base or "")),
}

BY_ITEM: dict[str, Callable[[Holdfast, Any], object]] = {
    "item": lambda hf, item: hf.item(item),
    "update": lambda hf, item: hf.update(item, content="new"),
    "update of bytes": lambda hf, item: hf.update(item, content=b"new"),
    "delete": lambda hf, item: hf.delete([item]),
    "reindex": lambda hf, item: hf.reindex([item]),
    "chunks": lambda hf, item: hf.chunks(item),
    "progress": lambda hf, item: hf.progress(item),
    "explain": lambda hf, item: hf.explain(item),
    "history": lambda hf, item: hf.history(item),
}


@pytest.mark.parametrize("odd", ODD_IDS, ids=repr_short)
@pytest.mark.parametrize("verb", sorted(BY_BASE))
def test_a_base_that_is_none_is_refused(world: World, verb: str, odd: Any) -> None:
    error = refused(world, lambda w: BY_BASE[verb](w.hf, odd))

    assert error.code in {"not_found", "invalid_input"}


@pytest.mark.parametrize("odd", ODD_IDS, ids=repr_short)
@pytest.mark.parametrize("verb", sorted(BY_ITEM))
def test_an_item_that_is_none_is_refused(world: World, verb: str, odd: Any) -> None:
    error = refused(world, lambda w: BY_ITEM[verb](w.hf, odd))

    assert error.code in {"not_found", "invalid_input"}


@pytest.mark.parametrize("verb", ["recover", "dismiss"])
def test_items_of_another_base_are_refused_and_named(world: World, verb: str) -> None:
    other = world.hf.create_base("other", embedding_model=None)
    item = world.note(base=other)

    error = refused(world, lambda w: getattr(w.hf, verb)(w.base, [item]))

    assert error.code == "not_found"
    assert item.id in str(error)


def test_children_of_what_is_not_in_the_base_are_not_listed(world: World) -> None:
    other = world.hf.create_base("other", embedding_model=None)
    item = world.note(base=other)

    assert refused(world, lambda w: w.hf.items(w.base, parent=item)).code == "not_found"
    assert refused(world, lambda w: w.hf.items(w.base, parent="nobody")).code == "not_found"


def test_two_bases_of_one_name_must_be_told_apart_by_id(world: World) -> None:
    world.hf.create_base("twins", embedding_model=None)
    twin = world.hf.create_base("twins", embedding_model=None)

    error = refused(world, lambda w: w.hf.base("twins"))

    assert twin.id in str(error)


@pytest.mark.parametrize("verb", ["delete", "reindex"])
def test_too_many_ids_are_refused(world: World, verb: str) -> None:
    item = world.note()

    error = refused(world, lambda w: getattr(w.hf, verb)([item.id] * 10_001))

    assert "10000" in str(error)


# --- inputs of add --------------------------------------------------------------------------------


def test_more_than_a_thousand_inputs_are_refused(world: World) -> None:
    error = refused(world, lambda w: w.hf.add(w.base, [Note("alpha")] * 1_001))

    assert isinstance(error, InvalidInput)


UNACCEPTABLE: dict[str, tuple[Any, str]] = {
    "nothing": (None, "invalid_input"),
    "a number": (7, "invalid_input"),
    "bytes": (b"bytes", "invalid_input"),
    "a dict": ({"path": "a"}, "invalid_input"),
    "a missing path": ("/no/such/file", "unreadable"),
    "an empty path": ("", "invalid_input"),
    "a path with NUL": (NUL, "invalid_input"),
    "half a character": (LONE, "invalid_input"),
    "an endless path": ("x" * 100_000, "unreadable"),
    "a file without anything": (File(), "invalid_input"),
    "a file of a number": (File(path=7), "invalid_input"),  # type: ignore[arg-type]
    "a file with NUL": (File(path=NUL), "invalid_input"),
    "a file of half a character": (File(path=LONE), "invalid_input"),
    "a missing file": (File(path="/no/such/file"), "unreadable"),
    "a folder as file": (File(path="/"), "unsupported"),
    "bytes without name": (File(content=b"alpha"), "invalid_input"),
    "text as bytes": (File(content="alpha", name="a"), "invalid_input"),  # type: ignore[arg-type]
    "a number as name": (File(content=b"a", name=7), "invalid_input"),  # type: ignore[arg-type]
    "a name of NUL": (File(content=b"a", name="\x00"), "invalid_input"),
    "a folder of nothing": (Directory(""), "invalid_input"),
    "a folder of a number": (Directory(7), "invalid_input"),  # type: ignore[arg-type]
    "a missing folder": (Directory("/no/such/folder"), "unreadable"),
    "a folder of half a character": (Directory(LONE), "invalid_input"),
    "a file as folder": (Directory(__file__), "unsupported"),
    "a page": (Url("https://example.org:0/"), "invalid_input"),
    "an address as text": ("https://me:secret@example.org/", "fetch_refused"),
    "a sitemap": (Sitemap("ftp://example.org/sitemap.xml"), "fetch_refused"),
    "a note of nothing": (Note(None), "invalid_input"),  # type: ignore[arg-type]
    "a note of bytes": (Note(b"alpha"), "invalid_input"),  # type: ignore[arg-type]
    "a note of half a character": (Note(LONE), "invalid_input"),
    "a title that is empty": (Note("a", title="  "), "invalid_input"),
    "a title of a number": (Note("a", title=7), "invalid_input"),  # type: ignore[arg-type]
    "attributes of nothing": (Note("a", attributes=None), "invalid_input"),  # type: ignore[arg-type]
    "attributes as list": (Note("a", attributes=["k"]), "invalid_input"),  # type: ignore[arg-type]
    "too many attributes": (
        Note("a", attributes={str(n): n for n in range(17)}),
        "invalid_input",
    ),
    "an empty key": (Note("a", attributes={"": 1}), "invalid_input"),
    "a long key": (Note("a", attributes={"k" * 65: 1}), "invalid_input"),
    "a key of half a character": (Note("a", attributes={LONE: 1}), "invalid_input"),
    "a key of a number": (Note("a", attributes={7: 1}), "invalid_input"),  # type: ignore[dict-item]
    "a long value": (Note("a", attributes={"k": "v" * 513}), "invalid_input"),
    "a value of half a character": (Note("a", attributes={"k": LONE}), "invalid_input"),
    "no number": (Note("a", attributes={"k": float("nan")}), "invalid_input"),
    "a huge number": (Note("a", attributes={"k": 1 << 63}), "invalid_input"),
    "a nested value": (Note("a", attributes={"k": ["v"]}), "invalid_input"),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("what", sorted(UNACCEPTABLE))
def test_an_input_that_cannot_be_accepted_comes_back_with_its_reason(
    world: World, what: str
) -> None:
    given, code = UNACCEPTABLE[what]

    added = world.hf.add(world.base, [Note("alpha"), given, Note("beta")])

    (failed,) = added.failed
    assert (failed.index, failed.code) == (1, code)
    assert failed.error
    assert failed.advice
    assert isinstance(failed.path, str)
    assert [item.name for item in added.created] == ["alpha", "beta"]


def test_a_file_over_the_limit_comes_back_as_too_large(make_world: MakeWorld) -> None:
    world = make_world(max_file_bytes=10, max_upload_bytes=9)
    path = world.tree({"long.txt": "x" * 11}) / "long.txt"

    added = world.hf.add(world.base, [str(path), File(content=b"x" * 11, name="long")])

    assert [one.code for one in added.failed] == ["too_large", "too_large"]
    assert "max_file_bytes" in added.failed[0].error


def test_a_call_with_nothing_acceptable_creates_nothing(world: World) -> None:
    before = world.rows("SELECT * FROM items")

    added = world.hf.add(world.base, ["/no/such/file"])

    assert added.created == ()
    assert world.rows("SELECT * FROM items") == before


@pytest.mark.parametrize("key", ["", "k" * 256, 7, b"key", LONE])
def test_a_bad_idempotency_key_is_refused(world: World, key: Any) -> None:
    error = refused(world, lambda w: w.hf.add(w.base, [Note("a")], idempotency_key=key))

    assert error.code == "invalid_input"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("  spaced  ", "spaced"),
        ("half \ud800 name", "half ? name"),
        ("nul \x00 name", "nul  name"),
        ("n" * 2_000, "n" * 1_000),
        ("../../etc/passwd", "../../etc/passwd"),
        ("'; DROP TABLE items; --", "'; DROP TABLE items; --"),
    ],
)
def test_odd_names_are_cleaned_and_kept(world: World, given: str, name: str) -> None:
    (item,) = world.hf.add(world.base, [Note("alpha", title=given)]).created

    assert item.name == name
    assert world.item(item).name == name


def test_a_file_whose_name_is_no_text_is_indexed_like_any_other(world: World) -> None:
    folder = world.tree({"plain.txt": "alpha"})
    (folder / "odd\udcff.txt").write_text("beta")

    (box,) = world.hf.add(world.base, [Directory(str(folder))]).created
    (alone,) = world.hf.add(world.base, [File(str(folder / "odd\udcff.txt"))]).created
    world.drain()

    assert world.item(box).status == "completed"
    assert len(world.inside(box)) == 2
    assert world.item(alone).status == "completed"


def test_a_full_queue_refuses_the_whole_call(make_world: MakeWorld) -> None:
    world = make_world(max_queue_size=3)

    error = refused(world, lambda w: w.notes(*"abcd"))

    assert isinstance(error, QueueFull)


# --- updates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [7, b"bytes", ["a"], LONE])
def test_a_note_takes_text_only(world: World, content: Any) -> None:
    item = world.note()

    assert refused(world, lambda w: w.hf.update(item, content=content)).code == "invalid_input"


@pytest.mark.parametrize("content", ["text", 7])
def test_a_file_takes_bytes_only(world: World, content: Any) -> None:
    (item,) = world.hf.add(world.base, [File(content=b"alpha", name="a.txt")]).created

    assert refused(world, lambda w: w.hf.update(item, content=content)).code == "invalid_input"


def test_a_folder_has_no_content_of_its_own(world: World) -> None:
    box = world.directory({"a.txt": "alpha"})

    assert refused(world, lambda w: w.hf.update(box, content="x")).code == "invalid_input"


@pytest.mark.parametrize("attributes", [[], 7, "text", {"k": None}, {LONE: 1}, {"k": LONE}])
def test_bad_attributes_are_refused(world: World, attributes: Any) -> None:
    item = world.note()

    error = refused(world, lambda w: w.hf.update(item, attributes=attributes))

    assert error.code == "invalid_input"


# --- bases ----------------------------------------------------------------------------------------

BAD_SETTINGS: list[dict[str, Any]] = [
    {"name": ""},
    {"name": "  "},
    {"name": "n" * 201},
    {"name": 7},
    {"name": LONE},
    {"name": "\x00"},
    {"group": 7},
    {"group": LONE},
    {"chunk_size": 0},
    {"chunk_size": "512"},
    {"chunk_size": True},
    {"chunk_size": 10**30},
    {"chunk_overlap": 512},
    {"chunk_overlap": -1},
    {"chunk_strategy": "magic"},
    {"chunk_strategy": ["structured"]},
    {"chunk_strategy": "delimiter"},
    {"chunk_strategy": "delimiter", "chunk_separator": 7},
    {"chunk_separator": LONE},
    {"search_mode": "psychic"},
    {"top_k": 0},
    {"top_k": 101},
    {"top_k": "ten"},
    {"threshold": float("nan")},
    {"threshold": "high"},
    {"empty_content": "maybe"},
    {"recovery": "never"},
    {"keep_originals": "yes"},
    {"sync": "always"},
    {"rerank_model": 7},
    {"file_processor_id": ["a"]},
    {"file_processing_max_wait": 0},
    {"no_such_setting": 1},
]


@pytest.mark.parametrize("settings", BAD_SETTINGS, ids=repr_short)
def test_a_base_with_bad_settings_is_not_created(world: World, settings: dict[str, Any]) -> None:
    given = {"name": "fresh", "embedding_model": "hash/32", **settings}

    error = refused(world, lambda w: w.hf.create_base(**given))

    assert error.code == "invalid_input"
    assert len(world.engine.kb.index.bases()) == len(world.hf.bases())


@pytest.mark.parametrize("settings", BAD_SETTINGS, ids=repr_short)
def test_a_base_is_not_changed_to_bad_settings(world: World, settings: dict[str, Any]) -> None:
    error = refused(world, lambda w: w.hf.update_base(w.base, **settings))

    assert error.code == "invalid_input"


@pytest.mark.parametrize(
    "model", ["", "hash", "hash/", "hash/0", "hash/x", "nobody/model", LONE, 7]
)
def test_a_base_with_an_unknown_model_is_not_created(world: World, model: Any) -> None:
    error = refused(world, lambda w: w.hf.create_base("fresh", embedding_model=model))

    assert error.code in {"missing_embedding_model", "invalid_input"}


@pytest.mark.parametrize("change", [{"embedding_model": "hash/64"}, {"dimensions": 64}])
def test_what_binds_stored_vectors_changes_by_migrate_only(
    world: World, change: dict[str, Any]
) -> None:
    error = refused(world, lambda w: w.hf.update_base(w.base, **change))

    assert "migrate" in str(error)


def test_a_width_without_a_model_is_refused(world: World) -> None:
    refused(world, lambda w: w.hf.create_base("fresh", embedding_model=None, dimensions=32))


def test_another_width_than_the_models_is_refused(world: World) -> None:
    error = refused(
        world, lambda w: w.hf.create_base("fresh", embedding_model="hash/32", dimensions=64)
    )

    assert error.code == "missing_embedding_model"


# --- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "   ", "q" * 8_001, *NOT_TEXT], ids=repr_short)
def test_a_query_that_asks_nothing_is_refused(world: World, query: Any) -> None:
    assert refused(world, lambda w: w.hf.search(query)).code == "invalid_input"


@pytest.mark.parametrize("query", [LONE, NUL, '"', "a AND (", "NEAR(", "*", "a:b", "-", "^", "\\"])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_whatever_is_typed_into_a_search_raises_nothing(
    world: World, query: str, mode: Any
) -> None:
    world.done_note("alpha")

    assert world.hf.search(query, mode=mode).warnings == ()


@pytest.mark.parametrize("top_k", [0, -1, 101, "ten", 1.5, True])
def test_a_bad_top_k_is_refused(world: World, top_k: Any) -> None:
    assert refused(world, lambda w: w.hf.search("alpha", top_k=top_k)).code == "invalid_input"


@pytest.mark.parametrize("mode", ["psychic", "", 7, ["hybrid"]])
def test_a_bad_mode_is_refused(world: World, mode: Any) -> None:
    assert refused(world, lambda w: w.hf.search("alpha", mode=mode)).code == "invalid_input"


@pytest.mark.parametrize("limit", [0, -1, 1_001, "ten", 1.5, None])
def test_a_bad_limit_is_refused(world: World, limit: Any) -> None:
    item = world.done_note()

    assert refused(world, lambda w: w.hf.items(w.base, limit=limit)).code == "invalid_input"
    assert refused(world, lambda w: w.hf.chunks(item, limit=limit)).code == "invalid_input"


@pytest.mark.parametrize(
    "cursor", ["", "x", "1", "2.a", "1.", "9" * 400, LONE, f"1.{LONE}", 7, b"1.a"]
)
def test_a_cursor_of_no_list_is_refused(world: World, cursor: Any) -> None:
    item = world.done_note()

    assert refused(world, lambda w: w.hf.items(w.base, cursor=cursor)).code == "invalid_input"
    assert refused(world, lambda w: w.hf.chunks(item, cursor=cursor)).code == "invalid_input"


@pytest.mark.parametrize("status", ["done", "", 7, ["failed"], {"a": 1}, LONE])
def test_a_status_that_is_none_is_refused(world: World, status: Any) -> None:
    assert refused(world, lambda w: w.hf.items(w.base, status=status)).code == "invalid_input"


@pytest.mark.parametrize("after", ["x", 1.5, -1, 1 << 70])
def test_events_after_no_event_are_refused(world: World, after: Any) -> None:
    assert refused(world, lambda w: list(w.hf.events(after))).code == "invalid_input"


@pytest.mark.parametrize("timeout", ["soon", float("nan")])
def test_a_bad_timeout_is_refused(world: World, timeout: Any) -> None:
    item = world.note()

    assert refused(world, lambda w: w.hf.wait(item, timeout=timeout)).code == "invalid_input"


# --- opening --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{"global_concurrency": 0}, {"max_queue_size": "many"}, {"no_such_setting": 1}]
)
def test_a_folder_is_not_opened_with_bad_settings(tmp_path: Any, settings: Any) -> None:
    with pytest.raises(InvalidInput, match=next(iter(settings))):
        Holdfast.open(tmp_path / "kb", run=False, **settings)

    assert not (tmp_path / "kb").exists()


def test_a_file_is_no_data_folder(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(HoldfastError):
        Holdfast.open(tmp_path / "file", run=False)
