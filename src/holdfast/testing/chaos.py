"""Does the engine keep its promises when it is really killed?

A process of our own adds notes and folders, reads them again, changes files and deletes, and says
on its stdout what it begins and what has been promised (a call that returned). It is killed
with SIGKILL at a random instant, again and again, in one temporary data folder. What was promised
is then compared with what is found: nothing accepted is lost, nothing is found twice, nothing
deleted is found, and doctor finds nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from holdfast.assembly import open_engine
from holdfast.domain.bases import BaseSettings
from holdfast.domain.errors import HoldfastError
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.items import Directory, Note
from holdfast.workflow.add_items import add_items
from holdfast.workflow.bases import create_base
from holdfast.workflow.delete_items import delete_items
from holdfast.workflow.doctor import doctor
from holdfast.workflow.find_item import roots_at
from holdfast.workflow.overview import is_going_on
from holdfast.workflow.reindex_items import reindex_items
from holdfast.workflow.search import Question, search
from holdfast.workflow.workbench import Workbench

BASE = "chaos"
MODEL = "hash/64"
FILES = 40
LAST_ACTS, FOREVER = 5, 1 << 30
DELETES, READS_AGAIN = 0.3, 0.1  # how likely after a note
LONGEST_LIFE = 1.2
PATIENCE = 120.0
SETTLING = "settle"


@dataclass(slots=True)
class Promises:
    """What the killed processes had said before they died: a word for each accepted text."""

    accepted: dict[str, str] = field(default_factory=dict[str, str])  # item id -> its word
    deleting: set[str] = field(default_factory=set[str])  # begun, perhaps not promised
    deleted: set[str] = field(default_factory=set[str])
    folder: str | None = None

    def hear(self, line: str) -> None:
        told: dict[str, Any] = json.loads(line)
        match told:
            case {"accepted": item, "word": word}:
                self.accepted[item] = word
            case {"folder": item}:
                self.folder = item
            case {"deleting": item}:
                self.deleting.add(item)
            case {"deleted": item}:
                self.deleted.add(item)
            case _:
                return


@dataclass(frozen=True, slots=True)
class Report:
    """What a trial showed."""

    kills: int
    accepted: int
    deleted: int
    lost: tuple[str, ...]
    undead: tuple[str, ...]
    doubled: tuple[str, ...]
    findings: tuple[str, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        return not (self.lost or self.undead or self.doubled or self.findings)


def run_chaos(kills: int, seed: int, say: Callable[[str], None]) -> Report:
    """Kill a working process so often, let the work be finished, and compare."""
    begun, dice = time.monotonic(), random.Random(seed)
    promises = Promises()
    with TemporaryDirectory(prefix="holdfast-selftest-") as name:
        folder = Path(name)
        _write_documents(folder / "documents")
        for number in range(kills):
            _live_and_die(folder, dice, promises, life=dice.uniform(0.0, LONGEST_LIFE))
            if (number + 1) % 10 == 0:
                say(f"{number + 1} of {kills} kills; {len(promises.accepted)} texts accepted")
        _live_and_die(folder, dice, promises, life=None)
        return _compared(folder, promises, kills, begun)


def _write_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        text = f"Document {word_of_file(number)} of the self-test.\n\n" * 20
        (folder / f"document-{number}.md").write_text(text, "utf-8")


def word_of_file(number: int) -> str:
    return f"paper{number}paper"


def _live_and_die(
    folder: Path, dice: random.Random, promises: Promises, *, life: float | None
) -> None:
    """One process: killed after so long, or let to its end."""
    orders = [str(folder), str(dice.randrange(1 << 30))]
    child = subprocess.Popen(
        [sys.executable, "-m", "holdfast.testing.chaos", *orders, *([] if life else [SETTLING])],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    if child.stdout is None:
        raise ValueError("a child without a pipe")
    with child, child.stdout as pipe:
        if life is not None:
            pipe.readline()  # it has opened the folder: kills at the import would prove little
            time.sleep(life)
            child.kill()
        for line in _whole_lines(pipe):
            promises.hear(line)
    if life is None and child.returncode != 0:
        raise HoldfastError(f"the last process of the self-test ended with {child.returncode}")


def _whole_lines(pipe: IO[str]) -> Iterator[str]:
    """A killed process may leave half a line: what it did not say to the end it did not promise."""
    for line in pipe:
        if line.endswith("\n"):
            yield line


def _compared(folder: Path, promises: Promises, kills: int, begun: float) -> Report:
    engine = open_engine(folder / "kb", run=False)
    try:
        engine.start()
        kb = engine.kb
        found = {word: _holders(kb, word) for word in _words(promises)}
        said = [f"{one.invariant}: {one.subject}: {one.sentence}" for one in doctor(kb)]
    finally:
        engine.close()
    living = {
        item: word for item, word in promises.accepted.items() if item not in promises.deleting
    }
    lost = [word for item, word in living.items() if item not in found[word]]
    files = [word_of_file(number) for number in range(FILES)] if promises.folder else []
    return Report(
        kills=kills,
        accepted=len(promises.accepted) + len(files),
        deleted=len(promises.deleted),
        lost=tuple(lost + [word for word in files if not found[word]]),
        undead=tuple(
            promises.accepted[item]
            for item in sorted(promises.deleted)
            if item in found[promises.accepted[item]]
        ),
        doubled=tuple(word for word, items in found.items() if len(items) > len(set(items))),
        findings=tuple(said),
        seconds=round(time.monotonic() - begun, 3),
    )


def _words(promises: Promises) -> list[str]:
    return [*promises.accepted.values(), *(word_of_file(number) for number in range(FILES))]


def _holders(kb: Workbench, word: str) -> list[str]:
    """The items whose passages say this word, each as often as it was found."""
    hits = search(kb, Question(word, (_base(kb),), top_k=100, mode="keyword")).hits
    return [hit.item_id for hit in hits if word in hit.content]


# --- the process that is killed ------------------------------------------------------------------


def main(words: list[str]) -> int:
    """Work until killed; with `settle` until everything is done."""
    folder, seed, settling = Path(words[0]), int(words[1]), SETTLING in words[2:]
    dice = random.Random(seed)
    engine = open_engine(folder / "kb")
    try:
        engine.start()
        _say(opened=os.getpid())
        base = _base(engine.kb)
        box = _box(engine.kb, base, folder / "documents")
        for number in range(LAST_ACTS if settling else FOREVER):
            _one_act(engine.kb, base, box, dice, f"note{seed}x{number}")
        if settling:
            _settle(engine.kb)
    finally:
        engine.close()
    return 0


def _base(kb: Workbench) -> BaseId:
    with kb.main.read() as snapshot:
        known = snapshot.bases_named(BASE)
    if known:
        return known[0].id
    width = kb.embedders.width(MODEL)
    return create_base(kb, BaseSettings(name=BASE, embedding_model=MODEL, dimensions=width)).id


def _box(kb: Workbench, base: BaseId, folder: Path) -> ItemId:
    known = roots_at(kb, base, [str(folder)]).get(str(folder))
    item = known or add_items(kb, base, [Directory(str(folder))]).created[0]
    _say(folder=item.id)
    return item.id


def _one_act(kb: Workbench, base: BaseId, box: ItemId, dice: random.Random, word: str) -> None:
    """A note; now and then a delete of it, or the folder is read again."""
    item = add_items(kb, base, [Note(f"The {word} of the self-test. {word}")]).created[0]
    _say(accepted=item.id, word=word)
    chance = dice.random()
    if chance < DELETES:
        _say(deleting=item.id)
        delete_items(kb, base, [item.id])
        _say(deleted=item.id)
    elif chance < DELETES + READS_AGAIN:
        with contextlib.suppress(HoldfastError):  # refused while it is at work: nothing promised
            reindex_items(kb, base, [box])


def _settle(kb: Workbench) -> None:
    """Until nothing is left to do: every item has settled, every delete is done."""
    deadline = time.monotonic() + PATIENCE
    while is_going_on(kb, delayed=True):
        if time.monotonic() > deadline:
            raise HoldfastError(f"work is left after {PATIENCE} s")
        time.sleep(0.05)


def _say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
