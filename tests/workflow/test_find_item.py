"""A person names an item as it comes to hand; what fits several is not guessed."""

from __future__ import annotations

import pytest

from holdfast.domain.errors import InvalidInput, NotFound
from holdfast.domain.items import Directory, Note
from tests.workflow.worlds import World

FILES = {"a.md": "alpha", "deep/b.md": "beta"}


def test_an_item_is_found_by_its_id_and_by_either_end_of_it(world: World) -> None:
    item = world.note()

    for name in (item.id, item.id[:30], item.id[-6:], item.id[-6:].upper()):
        assert world.hf.find(name).id == item.id


def test_a_file_is_found_by_its_path_its_name_and_the_last_parts_of_its_path(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.done_directory(FILES)
    monkeypatch.chdir(world.folder)
    path = world.folder / "docs" / "deep" / "b.md"

    found = {world.hf.find(name).source for name in (str(path), "docs/deep/b.md", "b.md")}

    assert found == {str(path)}
    assert world.hf.find("deep/b.md").source == str(path)


def test_a_place_goes_before_a_name_and_a_name_before_an_end_of_an_id(world: World) -> None:
    item = world.note()
    (namesake,) = world.hf.add(world.base, [Note("text", title=item.id[-6:])]).created

    assert world.hf.find(item.id[-6:]).id == namesake.id


def test_a_name_that_fits_several_items_is_refused_and_names_them(world: World) -> None:
    first, second = world.hf.add(
        world.base, [Note("one", title="t"), Note("two", title="t")]
    ).created

    with pytest.raises(InvalidInput, match=f"{first.id}.*{second.id}") as refused:
        world.hf.find("t")

    assert "id" in refused.value.advice


def test_a_base_narrows_what_a_name_can_mean(world: World) -> None:
    other = world.hf.create_base("other")
    world.hf.add(world.base, [Note("one", title="t")])
    (wanted,) = world.hf.add(other, [Note("two", title="t")]).created

    assert world.hf.find("t", base=other).id == wanted.id


@pytest.mark.parametrize("name", ["nothing", "abc", "%", "_", "*", "' OR 1=1 --", "nul\x00byte"])
def test_what_is_not_there_is_not_found(world: World, name: str) -> None:
    world.done_directory(FILES)

    with pytest.raises(NotFound):
        world.hf.find(name)


def test_a_name_of_nothing_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput):
        world.hf.find("  ")


def test_what_is_being_deleted_is_found_by_its_whole_id_only(world: World) -> None:
    item = world.done_note()
    world.hf.delete(item)

    assert world.hf.find(item.id).deleting
    with pytest.raises(NotFound):
        world.hf.find(item.name)


def test_places_added_before_are_known_again_as_they_are_typed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = world.done_directory(FILES)
    monkeypatch.chdir(world.folder)

    known = world.hf.roots_at(world.base, ["docs", "./docs/", "docs/a.md", "nowhere"])

    assert {path: item.id for path, item in known.items()} == {"docs": box.id, "./docs/": box.id}


def test_a_note_titled_like_a_path_is_no_place(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    path = str(world.folder / "docs")
    world.hf.add(world.base, [Note("text", title=path)])

    assert world.hf.roots_at(world.base, [path]) == {}


def test_the_same_place_in_another_base_is_not_known(world: World) -> None:
    other = world.hf.create_base("other")
    world.done_directory(FILES)

    assert world.hf.roots_at(other, [str(world.folder / "docs")]) == {}
    world.hf.add(other, [Directory(str(world.folder / "docs"))])
    assert len(world.hf.roots_at(other, [str(world.folder / "docs")])) == 1
