"""What does this machine say of a folder? Everything a real one can hold."""

from __future__ import annotations

import os
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from holdfast.domain.errors import HoldfastError, Permanent, Transient
from holdfast.machine.files import FolderFiles
from holdfast.ports import Entry


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    (tmp_path / "data").mkdir()
    return FolderFiles(tmp_path / "data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def listed(files: FolderFiles, folder: Path) -> dict[str, Entry]:
    return {entry.name: entry for entry in files.entries(str(folder))}


def test_links_are_told_from_what_they_lead_to(files: FolderFiles, folder: Path) -> None:
    (folder / "a.txt").write_text("alpha")
    (folder / "link").symlink_to("a.txt")
    (folder / "up").symlink_to("..")
    (folder / "dead").symlink_to("nowhere")

    found = listed(files, folder)

    assert {name for name, entry in found.items() if entry.is_symlink} == {"link", "up", "dead"}
    kinds = {name: entry.look.kind if entry.look else None for name, entry in found.items()}
    assert kinds == {"a.txt": "file", "link": "file", "up": "directory", "dead": None}
    assert found["dead"].hint != "gone"


def test_pipes_and_sockets_are_something_else_and_hold_nobody_up(
    files: FolderFiles, folder: Path
) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(folder / "door"))
        kinds = {entry.look.kind for entry in files.entries(str(folder)) if entry.look}
        read: list[object] = []
        reader = threading.Thread(
            target=lambda: read.extend(
                files.read_if_there(str(folder / name), 10) for name in ("pipe", "door", ".")
            ),
            daemon=True,
        )
        reader.start()
        reader.join(10)

    assert kinds == {"other"}
    assert read == [None, None, None]
    with pytest.raises(Permanent, match="not a regular file"):
        files.read(str(folder / "pipe"), 10)


def test_an_entry_that_cannot_be_examined_keeps_what_the_folder_says(
    files: FolderFiles, folder: Path
) -> None:
    (folder / "a.txt").write_text("alpha")
    (folder / "sub").mkdir()

    with mock.patch("os.lstat", side_effect=PermissionError(13, "no")):
        found = listed(files, folder)

    assert {name: (entry.look, entry.hint) for name, entry in found.items()} == {
        "a.txt": (None, "file"),
        "sub": (None, "directory"),
    }


def test_an_entry_that_went_away_is_told_as_gone(files: FolderFiles, folder: Path) -> None:
    for name in "ab":
        (folder / name).write_text("x")
    entries = files.entries(str(folder))
    first = next(entries)
    (folder / "b").unlink()

    assert [(first.name, first.hint), *((one.name, one.hint) for one in entries)] == [
        ("a", "file"),
        ("b", "gone"),
    ]


def test_names_that_are_no_text_come_as_they_are(files: FolderFiles, folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (folder / name).write_text("alpha")

    assert [entry.name for entry in files.entries(str(folder))] == [name]
    assert files.read(str(folder / name), 10) == b"alpha"


@pytest.mark.parametrize(
    ("error", "kind"), [(PermissionError(13, "no"), Permanent), (OSError(5, "disk"), Transient)]
)
def test_a_listing_that_breaks_off_is_an_error_and_no_end(
    files: FolderFiles, folder: Path, error: OSError, kind: type[HoldfastError]
) -> None:
    for name in "abc":
        (folder / name).touch()
    real = os.scandir

    class Breaking:
        def __init__(self, path: str) -> None:
            self.inner = real(path)

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            yield_two = iter([next(self.inner), next(self.inner)])

            def broken() -> Iterator[os.DirEntry[str]]:
                yield from yield_two
                raise error

            return broken()

        def __exit__(self, *_: object) -> None:
            self.inner.close()

    with mock.patch("os.scandir", Breaking), pytest.raises(kind) as caught:
        list(files.entries(str(folder)))

    assert caught.value.code == "source_unreadable"


def test_the_data_folder_and_what_is_in_it_is_ours(files: FolderFiles, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to("data")

    assert files.owns(str(tmp_path / "data"))
    assert files.owns(str(tmp_path / "data" / "files" / "ab"))
    assert files.owns(str(tmp_path / "alias"))
    assert not files.owns(str(tmp_path))
    assert not files.owns(str(tmp_path / "data2"))


def test_of_a_big_folder_little_more_than_the_names_is_held(
    files: FolderFiles, folder: Path
) -> None:
    count = 5_000
    for number in range(count):
        (folder / f"a document with a rather long name {number:06}.md").touch()
    tracemalloc.start()

    entries = files.entries(str(folder))
    next(entries)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < count * 150
    assert sum(1 for _ in entries) == count - 1
