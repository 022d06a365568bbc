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

from holdfast import Directory, Holdfast, HoldfastError, Note

BASE = "chaos"
MODEL = "hash/64"
FILES = 40
NOTES_AT_LEAST = 5
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
    with Holdfast.open(folder / "kb", run=False) as hf:
        found = {word: _holders(hf, word) for word in _words(promises)}
        findings = tuple(f"{one.invariant}: {one.subject}: {one.sentence}" for one in hf.doctor())
    living = {
        item: word for item, word in promises.accepted.items() if item not in promises.deleting
    }
    lost = [word for item, word in living.items() if item not in found[word]]
    files = [word_of_file(n) for n in range(FILES)] if promises.folder else []
    return Report(
        kills=kills,
        accepted=len(promises.accepted) + len(files),
        deleted=len(promises.deleted),
        lost=tuple(lost + [word for word in files if not found[word]]),
        undead=tuple(
            word
            for item, word in promises.accepted.items()
            if item in promises.deleted and item in found[word]
        ),
        doubled=tuple(word for word, items in found.items() if len(items) > len(set(items))),
        findings=findings,
        seconds=round(time.monotonic() - begun, 3),
    )


def _words(promises: Promises) -> list[str]:
    return [*promises.accepted.values(), *(word_of_file(number) for number in range(FILES))]


def _holders(hf: Holdfast, word: str) -> list[str]:
    """The items whose passages say this word, each as often as it was found."""
    hits = hf.search(word, top_k=100, mode="keyword").hits
    return [hit.item_id for hit in hits if word in hit.content]


# --- the process that is killed ------------------------------------------------------------------


def main(words: list[str]) -> int:
    """Work until killed; with `settle` until everything is done."""
    folder, seed, settling = Path(words[0]), int(words[1]), SETTLING in words[2:]
    dice = random.Random(seed)
    with Holdfast.open(folder / "kb", global_concurrency=4) as hf:
        _say(opened=os.getpid())
        base = _base(hf)
        box = _box(hf, base, folder / "documents")
        for number in range(NOTES_AT_LEAST if settling else 1 << 30):
            _one_act(hf, base, box, dice, f"note{seed}x{number}")
        if settling:
            _settle(hf)
    return 0


def _base(hf: Holdfast) -> str:
    known = [base.id for base in hf.bases() if base.name == BASE]
    return known[0] if known else hf.create_base(BASE, embedding_model=MODEL).id


def _box(hf: Holdfast, base: str, folder: Path) -> str:
    known = hf.roots_at(base, [str(folder)])
    item = known[str(folder)] if known else hf.add(base, Directory(str(folder))).created[0]
    _say(folder=item.id)
    return item.id


def _one_act(hf: Holdfast, base: str, box: str, dice: random.Random, word: str) -> None:
    """A note; now and then a delete of one, or the folder is read again."""
    item = hf.add(base, Note(f"The {word} of the self-test. {word}")).created[0]
    _say(accepted=item.id, word=word)
    chance = dice.random()
    if chance < 0.3:
        _say(deleting=item.id)
        hf.delete(item.id)
        _say(deleted=item.id)
    elif chance < 0.4:
        with contextlib.suppress(HoldfastError):  # refused while it is at work: nothing promised
            hf.reindex(box)


def _settle(hf: Holdfast) -> None:
    """Until nothing is left to do: every item has settled, every delete is done."""
    deadline = time.monotonic() + PATIENCE
    while hf.is_going_on(delayed=True):
        if time.monotonic() > deadline:
            raise HoldfastError(f"work is left after {PATIENCE} s")
        time.sleep(0.05)


def _say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
