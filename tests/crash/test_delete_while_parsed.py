"""A delete does not wait for a parser: the child that reads the item is ended at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.interfaces.library import Holdfast

PATIENCE = 60.0
AT_ONCE = 1.0
SLACK = 4.0  # on a machine where others are at work


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, told.read_text().split())
    return found


def parsing() -> list[int]:
    """The children of the parser host, which is a child of ours."""
    return [one for host in children_of(os.getpid()) for one in children_of(host)]


def seconds_until(holds: Callable[[], bool]) -> float:
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.01)
    return time.monotonic() - began


@pytest.mark.slow
def test_a_delete_ends_the_child_that_parses_the_item(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("The lamp hums at night and nobody has counted the moths.\n\n" * 1_000_000)
    with Holdfast.open(tmp_path / "kb") as kb:
        base = kb.create_base("b", embedding_model="hash/32")
        item = kb.add(base, [str(path)]).created[0]
        seconds_until(lambda: bool(parsing()))

        kb.delete(item)

        assert seconds_until(lambda: not parsing()) < AT_ONCE + SLACK
        assert kb.items(base).items == ()
