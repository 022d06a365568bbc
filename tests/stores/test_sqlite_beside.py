"""Who may open a data folder beside whom? Tried with real second processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast import Holdfast, Note
from holdfast.domain.errors import HoldfastError, Unavailable
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite.main import FILE, SqliteMain
from tests.stores.main_worlds import HeardBells, SetClock
from tests.stores.processes import answer, kill, python, says

OWN = """
import sys, holdfast
kb = holdfast.Holdfast.open(sys.argv[1], run=False)
base = kb.create_base("b", embedding_model=None)
kb.add(base, [holdfast.Note("the first note")])
kb.drain(30)
print("ready", flush=True)
for line in sys.stdin:
    kb.add(base, [holdfast.Note(line)])
    kb.drain(30)
    print("added", flush=True)
"""

READ = """
import sys, holdfast
with holdfast.Holdfast.open(sys.argv[1], read_only=True) as kb:
    print(len(kb.items("b").items), len(kb.search("first", bases="b").hits))
"""

REFUSED = """
import sys, holdfast
try:
    holdfast.Holdfast.open(sys.argv[1])
except holdfast.HoldfastError as error:
    print(error.code, error)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


@pytest.fixture
def kb(folder: Path) -> Iterator[Holdfast]:
    with Holdfast.open(folder, run=False) as opened:
        yield opened


def test_another_process_reads_beside_a_living_owner(folder: Path) -> None:
    with python(OWN, folder) as owner:
        assert says(owner) == "ready"

        assert answer(READ, folder) == "1 1"


def test_a_reader_sees_what_the_owner_adds_meanwhile(folder: Path) -> None:
    with python(OWN, folder) as owner:
        assert says(owner) == "ready"
        with Holdfast.open(folder, read_only=True) as reader:
            assert len(reader.items("b").items) == 1
            assert owner.stdin is not None
            owner.stdin.write("another\n")
            owner.stdin.flush()
            assert says(owner) == "added"

            assert len(reader.items("b").items) == 2


def test_a_reader_goes_on_when_the_owner_is_killed(folder: Path) -> None:
    with python(OWN, folder) as owner:
        assert says(owner) == "ready"
        with Holdfast.open(folder, read_only=True) as reader:
            kill(owner)

            assert len(reader.items("b").items) == 1


def test_a_reader_cannot_write(folder: Path, kb: Holdfast) -> None:
    base = kb.create_base("b", embedding_model=None)

    with Holdfast.open(folder, read_only=True) as reader, pytest.raises(HoldfastError):
        reader.add(base, [Note("x")])

    assert kb.items(base).items == ()


def test_a_reader_does_not_make_a_folder(folder: Path) -> None:
    with pytest.raises(Unavailable) as refused:
        Holdfast.open(folder, read_only=True)

    assert refused.value.code == "not_found"
    assert not folder.exists()


def test_a_second_owner_is_told_who_the_first_is(folder: Path, kb: Holdfast) -> None:
    said = answer(REFUSED, folder)

    assert said.startswith("owned ")
    assert f"pid {os.getpid()}" in said


def test_a_folder_can_be_owned_again_after_its_owner_was_killed(folder: Path) -> None:
    with python(OWN, folder) as owner:
        assert says(owner) == "ready"
        with pytest.raises(Unavailable) as refused:
            Holdfast.open(folder)
        assert refused.value.code == "owned"
        kill(owner)

    with Holdfast.open(folder, run=False) as kb:
        assert len(kb.items("b").items) == 1


@pytest.mark.parametrize("readonly", [False, True])
def test_a_newer_form_is_refused(tmp_path: Path, readonly: bool) -> None:
    opened(tmp_path).close()
    connection = apsw.Connection(str(tmp_path / FILE))
    connection.pragma("user_version", 1_000)
    connection.close()

    with pytest.raises(Unavailable, match="form 1000") as refused:
        opened(tmp_path, readonly=readonly)

    assert "newer Holdfast" in refused.value.advice or readonly


def opened(folder: Path, *, readonly: bool = False) -> SqliteMain:
    return SqliteMain(FolderDisk(folder), SetClock(), Threads(), HeardBells(), readonly=readonly)
