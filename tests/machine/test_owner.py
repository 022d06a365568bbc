"""Who owns a data folder? One process, and nobody once that process is gone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.domain.errors import Unavailable
from holdfast.machine.owner import LOCK, OwnerLock, is_owned
from tests.stores.processes import kill, python, says

OWN = """
import sys
from pathlib import Path
from holdfast.machine.owner import OwnerLock
lock = OwnerLock(Path(sys.argv[1]))
print("owned", flush=True)
sys.stdin.read()
"""


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    lock = OwnerLock(tmp_path)

    with pytest.raises(Unavailable, match=f"pid {os.getpid()}") as refused:
        OwnerLock(tmp_path)

    assert refused.value.code == "owned"
    lock.close()


def test_a_folder_let_go_can_be_owned_again(tmp_path: Path) -> None:
    OwnerLock(tmp_path).close()

    OwnerLock(tmp_path).close()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with python(OWN, tmp_path) as owner:
        assert says(owner) == "owned"
        assert is_owned(tmp_path)

        kill(owner)

        assert not is_owned(tmp_path)


def test_a_child_that_outlives_its_parent_does_not_keep_the_folder(tmp_path: Path) -> None:
    lock = OwnerLock(tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        close_fds=False,  # as careless as a library may be
    )
    assert child.stdout is not None
    child.stdout.readline()

    lock.close()

    assert not is_owned(tmp_path)
    child.communicate(b"\n")


def test_asking_who_owns_a_folder_takes_nothing_from_the_owner(tmp_path: Path) -> None:
    lock = OwnerLock(tmp_path)

    assert is_owned(tmp_path)
    assert is_owned(tmp_path)
    assert (tmp_path / LOCK).read_text() == str(os.getpid())
    lock.close()


def test_a_new_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    OwnerLock(tmp_path / "kb").close()

    assert stat.S_IMODE((tmp_path / "kb").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "kb" / LOCK).stat().st_mode) == 0o600
