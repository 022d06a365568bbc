"""What is left when an ingesting process is killed at any moment? Everything it had accepted.

Real processes on real files: `kill -9` at random moments, again and again on the same folder, then
a last run that is left alone. Each kill may cost the batch in flight of each slot, no more.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from holdfast.interfaces.library import Holdfast
from tests.crash import ingest
from tests.stores.processes import kill, python, says

SLOTS, CALLS, LONGEST_RUN = 4, 6, 0.3
FIRST_CLAIM = 1.0  # seconds, of half of all restarts: others may be at work on this machine
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.crash.ingest import ingest
ingest(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""
INGEST = SCRIPT.format(root=str(Path(__file__).parents[2]))


@pytest.mark.parametrize(
    "kills", [6, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_a_process_killed_at_any_moment_loses_nothing_and_pays_again_for_one_batch_a_slot(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    for _ in range(kills):
        first = first_of(tmp_path)
        with python(INGEST, tmp_path, first, first + CALLS * ingest.NOTES_A_CALL) as process:
            assert says(process) == "open"
            sleep(chance.random() * LONGEST_RUN)
            children = below(process.pid)
            kill(process)
            assert gone(children), "a child outlived its process"

    with ingest.opened(tmp_path, run=False) as kb:
        kb.drain()
        ask_again_for_the_unlucky(kb)
        assert kb.doctor(repair=True) == []  # one sweep
        nothing_is_lost(kb, tmp_path)
        nothing_stands_twice(kb)
        items = len(everything(kb))
    assert paid_again(tmp_path) <= kills * SLOTS * ingest.BATCH
    assert rank(lines(tmp_path / "first_claims"), 0.5) < FIRST_CLAIM
    figures(tmp_path, kills, items)


def figures(folder: Path, kills: int, items: int) -> None:
    """What `pytest -s` shows; everything above has been asserted when this is reached."""
    claims = lines(folder / "first_claims") or [0.0]
    calls = len(lines(folder / "paid"))
    sys.stderr.write(
        f"\n{kills} kills, {items} items at the end: lost 0, found twice 0, deleted and visible 0,"
        f" orphans after one sweep 0, children left 0\n"
        f"texts embedded again: {paid_again(folder)} in {calls} model calls, "
        f"at most {kills * SLOTS * ingest.BATCH} allowed\n"
        f"restart to first claim: p50 {rank(claims, 0.5) * 1e3:.0f} ms, "
        f"p99 {rank(claims, 0.99) * 1e3:.0f} ms, longest {max(claims) * 1e3:.0f} ms"
        f" ({len(claims)} restarts that found work)\n"
    )


def rank(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def below(parent: int) -> set[int]:
    """The processes that this one has started, and theirs."""
    found: set[int] = set()
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(one) for one in task.read_text().split()}
    return found.union(*(below(one) for one in found))


def gone(processes: set[int]) -> bool:
    """They end with the pipe of whoever started them; a zombie is nobody's work any more."""
    for _ in range(200):
        if not any(is_running(one) for one in processes):
            return True
        sleep(0.01)
    return False


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ask_again_for_the_unlucky(kb: Holdfast) -> None:
    """Items whose run was killed four times before its first batch: they say so, and can go on."""
    failed = [item for item in everything(kb) if item.status == "failed"]
    assert {item.error_code for item in failed} <= {"killed_worker"}
    kb.reindex([item.id for item in failed])
    kb.drain()


def nothing_is_lost(kb: Holdfast, folder: Path) -> None:
    accepted = {item for line in lines(folder / "accepted") for item in line["items"]}
    kept = accepted - set(chain.from_iterable(lines(folder / "asked_to_delete")))
    gone = set(chain.from_iterable(lines(folder / "deleted")))
    there = {item.id: item.status for item in everything(kb)}

    assert {item: there.get(item) for item in kept} == dict.fromkeys(kept, "completed")
    assert set(there.values()) == {"completed"}
    assert not gone & set(there)
    assert len(kept) > ingest.NOTES_A_CALL


def nothing_stands_twice(kb: Holdfast) -> None:
    """One item of each text, with one build, found by its own words."""
    texts = Counter(item.data["content"] for item in everything(kb))
    assert [text for text, count in texts.items() if count > 1] == []
    (base,) = kb.bases()
    builds = Counter(row.item_id for row in kb._kb.index.builds(base.id))
    assert [item for item, count in builds.items() if count > 1] == []
    assert set(builds) == {item.id for item in everything(kb)}


def paid_again(folder: Path) -> int:
    """How many texts were sent to the model more than once."""
    paid = Counter(chain.from_iterable(lines(folder / "paid")))
    return sum(count - 1 for count in paid.values())


def first_of(folder: Path) -> int:
    """The first call that nobody knows to be accepted; it is made again with its key."""
    calls = [line["call"] for line in lines(folder / "accepted")]
    return max(calls, default=-ingest.NOTES_A_CALL) + ingest.NOTES_A_CALL


def everything(kb: Holdfast) -> list[Any]:
    (base,) = kb.bases()
    found: list[Any] = []
    cursor = None
    while True:
        page = kb.items(base, parent="*", limit=1_000, cursor=cursor, include_deleting=True)
        found += page.items
        if (cursor := page.next_cursor) is None:
            return found


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
