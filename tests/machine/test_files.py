"""What does this machine do that no simulated one does? Pipes, permissions, full disks, fsync.

What every implementation of Files promises stands in `tests/ports/test_files_contract.py`.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.domain.errors import DiskFull, Permanent, Transient
from holdfast.machine.files import FolderFiles

PLENTY = 1_000_000


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    (tmp_path / "kb").mkdir()
    return FolderFiles(tmp_path / "kb")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def door(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


SPECIAL: dict[str, Callable[[Path], None]] = {"pipe": pipe, "socket": door, "folder": Path.mkdir}


@pytest.mark.parametrize("kind", sorted(SPECIAL))
@pytest.mark.timeout(20)
def test_a_special_file_is_refused_and_not_waited_for(
    files: FolderFiles, tmp_path: Path, kind: str
) -> None:
    SPECIAL[kind](tmp_path / "it")

    with pytest.raises(Permanent) as refused:
        files.read(str(tmp_path / "it"), PLENTY)

    assert refused.value.code == "unreadable"


def test_an_endless_device_is_refused(files: FolderFiles) -> None:
    with pytest.raises(Permanent) as refused:
        files.read("/dev/zero", PLENTY)

    assert refused.value.code == "unreadable"


def test_a_pipe_is_told_from_a_file(files: FolderFiles, tmp_path: Path) -> None:
    pipe(tmp_path / "it")
    (tmp_path / "file").write_bytes(b"12345")

    kinds = {entry.name: entry.look.kind for entry in files.entries(str(tmp_path)) if entry.look}

    assert kinds == {"it": "other", "file": "file", "kb": "directory"}


def test_a_link_is_told_and_a_broken_one_has_no_look(files: FolderFiles, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    (link,) = [entry for entry in files.entries(str(tmp_path)) if entry.name == "link"]

    assert link.is_symlink
    assert link.look is None


def test_a_file_that_grew_since_it_was_looked_at_is_still_bounded(
    files: FolderFiles, tmp_path: Path
) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x" * 10)
    files.look(str(path))
    path.write_bytes(b"x" * 11)

    with pytest.raises(Permanent) as refused:
        files.read(str(path), 10)

    assert refused.value.code == "too_large"


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, Permanent),
        (errno.ENOENT, Permanent),
        (errno.ELOOP, Permanent),
        (errno.EIO, Transient),
        (errno.ESTALE, Transient),
        (errno.EBUSY, Transient),
    ],
)
def test_passing_trouble_may_be_tried_again(
    files: FolderFiles, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    monkeypatch.setattr(os, "open", refusing(number))

    with pytest.raises(kind, match=os.strerror(number)):
        files.read("/some/file", PLENTY)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_no_room_for_a_file_is_told_as_such(
    files: FolderFiles, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "fsync", refusing(number))

    with pytest.raises(DiskFull) as refused:
        files.keep("files/ab/x", b"content")

    assert refused.value.code == "disk_full"


def test_what_is_kept_is_on_disk_with_its_name(
    files: FolderFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def note(handle: int) -> None:
        found = os.fstat(handle)
        synced.append("folder" if stat.S_ISDIR(found.st_mode) else f"{found.st_size} bytes")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    files.keep("files/ab/x", b"content")

    assert synced[0] == "7 bytes"
    assert set(synced[1:]) == {"folder"}
    assert files.kept("files/ab/x", PLENTY) == b"content"


def test_a_name_is_in_its_folder_and_new_folders_are_in_theirs_on_disk(
    files: FolderFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def note(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    files.keep("files/ab/x", b"content")

    names = [path.relative_to(files.folder).as_posix() for path in synced]
    assert names == ["files/ab/x", "files/ab", "files", "."]


def test_kept_folders_are_for_the_owner_only(files: FolderFiles) -> None:
    files.keep("files/ab/x", b"content")

    assert stat.S_IMODE((files.folder / "files" / "ab").stat().st_mode) == 0o700


def test_stored_files_are_listed_with_their_age(files: FolderFiles) -> None:
    files.keep("files/ab/x", b"content")
    os.utime(files.folder / "files/ab/x", (0, 0))
    files.keep("files/cd/y", b"content")

    ages = dict(FolderFiles(files.folder).stored("files"))  # as the next process sees them

    assert sorted(ages) == ["files/ab/x", "files/cd/y"]
    assert ages["files/ab/x"] > 10**9
    assert ages["files/cd/y"] < 3_600


def test_a_clock_that_is_set_does_not_make_old_what_was_stored_a_moment_ago(
    files: FolderFiles,
) -> None:
    files.keep("files/ab/x", b"content")
    os.utime(files.folder / "files/ab/x", (0, 0))

    assert dict(files.stored("files"))["files/ab/x"] < 3_600


@pytest.mark.parametrize("first_looks", [0, 1, 2])
def test_a_file_that_goes_while_they_are_listed_hides_no_other(
    files: FolderFiles, monkeypatch: pytest.MonkeyPatch, first_looks: int
) -> None:
    for name in ("files/ab/x", "files/ab/y"):
        files.keep(name, b"content")
    look, looks = Path.stat, list[str]()

    def gone(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        looks.append(self.name)
        if self.name == "x" and looks.count("x") > first_looks:
            raise FileNotFoundError(errno.ENOENT, "gone")
        return look(self, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", gone)

    assert "files/ab/y" in dict(files.stored("files"))


def refusing(number: int) -> Callable[..., object]:
    def refuse(*_arguments: object, **_named: object) -> object:
        raise OSError(number, os.strerror(number))

    return refuse
