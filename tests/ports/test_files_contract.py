"""Files: the user's, read only; and our own below the data folder."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.errors import Permanent


def test_a_file_is_looked_at_and_read(stage: Any) -> None:
    def body() -> None:
        path = stage.user("a.txt", b"hello")

        look = stage.files.look(path)
        assert (look.kind, look.size) == ("file", 5)
        assert stage.files.read(path, 5) == b"hello"

    stage.play(body)


def test_what_is_not_there_is_unreadable(stage: Any) -> None:
    def body() -> None:
        path = stage.user("nothing", None)
        for ask in (stage.files.look, lambda path: stage.files.read(path, 10)):
            with pytest.raises(Permanent) as caught:
                ask(path)
            assert caught.value.code == "unreadable"

    stage.play(body)


def test_a_file_over_the_limit_is_refused(stage: Any) -> None:
    def body() -> None:
        path = stage.user("a.txt", b"hello")
        with pytest.raises(Permanent) as caught:
            stage.files.read(path, 4)
        assert caught.value.code == "too_large"

    stage.play(body)


def test_a_folder_lists_its_names_in_order_with_what_they_are(stage: Any) -> None:
    def body() -> None:
        for name in ("folder/b.txt", "folder/a.txt", "folder/inner/c.txt"):
            stage.user(name, b"x")
        entries = list(stage.files.entries(stage.user("folder", None)))

        assert [entry.name for entry in entries] == ["a.txt", "b.txt", "inner"]
        assert [entry.look.kind for entry in entries] == ["file", "file", "directory"]
        assert not any(entry.is_symlink for entry in entries)

    stage.play(body)


def test_a_folder_that_is_not_there_is_source_unreadable(stage: Any) -> None:
    def body() -> None:
        with pytest.raises(Permanent) as caught:
            list(stage.files.entries(stage.user("nowhere", None)))
        assert caught.value.code == "source_unreadable"

    stage.play(body)


def test_bytes_of_ours_are_kept_and_removed(stage: Any) -> None:
    def body() -> None:
        stage.files.keep("files/ab/one", b"bytes")
        assert stage.files.kept("files/ab/one", 100) == b"bytes"
        assert [name for name, _ in stage.files.stored("files")] == ["files/ab/one"]
        assert all(0 <= age < 60 for _, age in stage.files.stored("files"))

        stage.files.unlink("files/ab/one")
        stage.files.unlink("files/ab/one")
        assert stage.files.stored("files") == []
        with pytest.raises(Permanent) as caught:
            stage.files.kept("files/ab/one", 100)
        assert caught.value.code == "unreadable"

    stage.play(body)


def test_a_file_kept_again_has_the_new_bytes(stage: Any) -> None:
    def body() -> None:
        stage.files.keep("files/ab/one", b"old")
        stage.files.keep("files/ab/one", b"new")
        assert stage.files.kept("files/ab/one", 100) == b"new"

    stage.play(body)


def test_a_copy_is_what_was_read_with_its_hash(stage: Any) -> None:
    def body() -> None:
        path, beats = stage.user("a.txt", b"hello"), list[int]()
        copied = stage.files.copy(path, "runs/1", None, lambda: beats.append(1))
        stage.user("a.txt", b"other")

        assert (copied.size, copied.sha256[:8]) == (5, "2cf24dba")
        assert stage.files.kept("runs/1", 5) == b"hello"
        assert beats

    stage.play(body)


def test_nothing_over_the_limit_and_nothing_absent_is_copied(stage: Any) -> None:
    def body() -> None:
        for path, code in (
            (stage.user("a.txt", b"hello"), "too_large"),
            (stage.user("nothing", None), "unreadable"),
        ):
            with pytest.raises(Permanent) as caught:
                stage.files.copy(path, "runs/1", 4, lambda: None)
            assert caught.value.code == code

    stage.play(body)


def test_bytes_that_are_moved_have_one_name(stage: Any) -> None:
    def body() -> None:
        stage.files.keep("runs/1", b"bytes")
        stage.files.move("runs/1", "files/ab/one")

        assert stage.files.kept("files/ab/one", 5) == b"bytes"
        assert stage.files.stored("runs") == []

    stage.play(body)


def test_free_space_is_at_most_all_of_it(stage: Any) -> None:
    free, total = stage.files.free()

    assert 0 <= free <= total


def test_a_listing_goes_on_after_a_name(stage: Any) -> None:
    def body() -> None:
        for name in "cab":
            stage.user(f"folder/{name}", b"x")
        folder = stage.user("folder", None)

        assert [entry.name for entry in stage.files.entries(folder, "a")] == ["b", "c"]
        assert list(stage.files.entries(folder, "c")) == []

    stage.play(body)


def test_what_may_be_absent_is_nothing_when_it_is(stage: Any) -> None:
    def body() -> None:
        there, absent = stage.user("folder/a", b"rules"), stage.user("folder/b", None)

        assert stage.files.read_if_there(there, 10) == b"rules"
        assert stage.files.read_if_there(absent, 10) is None
        with pytest.raises(Permanent) as caught:
            stage.files.read_if_there(there, 2)
        assert caught.value.code == "too_large"

    stage.play(body)


def test_the_user_s_folders_are_not_ours(stage: Any) -> None:
    assert not stage.files.owns(stage.user("folder", None))
