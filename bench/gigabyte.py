"""What does one very large text file cost: time, memory, and a kill in the middle?

Each run is a process of its own, because the peak of a process never falls. The model counts what
it is paid for in a file, so that a kill cannot hide it. Targets: 600 MB at the peak of the engine
and of everything it starts; progress that moves; one batch paid for again.

    python -m bench gigabyte [--large]            64 MiB, or 1 GiB
    python -m bench.gigabyte 256                  so many MiB
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.domain.chunks import text_hash
from holdfast.domain.progress import Progress
from holdfast.interfaces.library import Holdfast
from holdfast.stages.embedding.hash_model import HashEmbedder

SMALL, LARGE = 64, 1_024  # MiB
WIDTH, BATCH = 384, 128
TARGET = 600  # MB
HALF = 50  # per cent
PATIENCE = 7_200.0
BLOCK = 1 << 20


class PaidModel:
    """The hash model; the hash of every text it is paid for stands in a file before it answers."""

    name, width, max_batch = f"paid/{WIDTH}", WIDTH, BATCH
    max_tokens: int | None = None
    tokenizer: str | None = None
    batch_tokens: int | None = None
    steady = True

    def __init__(self, paid: Path) -> None:
        self._model, self._paid = HashEmbedder(WIDTH), paid

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._paid.open("a") as file:
            file.writelines(f"{text_hash(text)}\n" for text in texts)
        return self._model.embed(texts)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self._model.embed_query(query)


@dataclass(slots=True)
class Watched:
    """What was seen of a run from outside."""

    percents: list[int] = field(default_factory=list[int])
    longest_pause: float = 0.0
    peak: float = 0.0  # MB, of the engine and everything below it, at one moment


def run(*, large: bool = False) -> None:
    measured(LARGE if large else SMALL)


def measured(mebibytes: int) -> dict[str, Any]:
    """One file of this size: killed in the middle, then to its end."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        write_text(folder / "large.txt", mebibytes << 20)
        began = time.monotonic()
        first = _run(folder, kill_at=HALF)
        second = _run(folder, kill_at=None)
        seconds = time.monotonic() - began
        found = {
            "MiB": mebibytes,
            "chunks": json.loads((folder / "done.json").read_text())["chunks"],
            "seconds": round(seconds, 1),
            "peak MB": round(max(first.peak, second.peak)),
            "progress values": len(set(first.percents + second.percents)),
            "longest pause s": round(max(first.longest_pause, second.longest_pause), 1),
            "embedded again": paid_again(folder / "paid"),
        }
    print(
        f"{mebibytes:,} MiB of text, hash/{WIDTH}, killed at {HALF} % and begun again: "
        f"{found['chunks']:,} chunks in {found['seconds']:,} s\n"
        f"  peak of all processes  {found['peak MB']} MB (target {TARGET})\n"
        f"  progress               {found['progress values']} values seen, "
        f"longest without a change {found['longest pause s']} s\n"
        f"  embedded again         {found['embedded again']} texts (target {BATCH})"
    )
    return found


def write_text(path: Path, size: int) -> None:
    """Paragraphs of words nobody has put together before."""
    draw = Random(size)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(4_000)]
    written = 0
    with path.open("w", encoding="ascii") as file:
        while written < size:
            sentences = [" ".join(draw.choices(words, k=12)) + "." for _ in range(200)]
            block = "".join(
                f"{one}{' ' if n % 5 else chr(10) * 2}" for n, one in enumerate(sentences)
            )
            written += file.write(block)


def paid_again(paid: Path) -> int:
    counts = Counter(paid.read_text().split())
    return sum(counts.values()) - len(counts)


def _run(folder: Path, kill_at: int | None) -> Watched:
    """A process that indexes, watched from here."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.gigabyte", "--work", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        return _watch(process, kill_at)


def _watch(process: subprocess.Popen[str], kill_at: int | None) -> Watched:
    watched, changed = Watched(), time.monotonic()
    assert process.stdout is not None
    for line in process.stdout:
        percent, now = int(line), time.monotonic()
        watched.peak = max(watched.peak, resident_below(process.pid))
        if not watched.percents or percent != watched.percents[-1]:
            if len(watched.percents) > 1:  # a second run first comes to where the one before was
                watched.longest_pause = max(watched.longest_pause, now - changed)
            watched.percents.append(percent)
            changed = now
        if kill_at is not None and percent >= kill_at:
            os.kill(process.pid, signal.SIGKILL)
            return watched
    if process.wait() != 0:
        raise RuntimeError(f"the run ended with {process.returncode}")
    return watched


def resident_below(pid: int) -> float:
    """MB held by a process and by everything it has started, each shared page counted once."""
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        except OSError:
            continue  # it has ended meanwhile
        total += next(
            int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")
        )
    return total / 1_024


def work(folder: Path) -> None:
    """In the process: index the file, or go on where the one before was killed; tell progress."""
    from unittest.mock import patch

    from holdfast.stages.embedding.registry import Registry

    def paid(_name: str, _dimensions: int) -> PaidModel:
        return PaidModel(folder / "paid")

    with (
        patch("holdfast.assembly.Registry", lambda *_: Registry({"paid": paid})),
        Holdfast.open(folder / "kb", batch_size=BATCH, progress_interval=0.1) as kb,
    ):
        bases = kb.bases()
        base = bases[0] if bases else kb.create_base("b", embedding_model=PaidModel.name)
        if not kb.items(base).items:
            kb.add(base, [str(folder / "large.txt")])
        item = kb.items(base).items[0]
        until = time.monotonic() + PATIENCE
        while kb.item(item).status not in ("completed", "failed") and time.monotonic() < until:
            progress: Progress = kb.progress(item)
            print(progress.percent, flush=True)
            time.sleep(0.1)
        done = kb.item(item)
        if done.status != "completed":
            raise RuntimeError(f"{done.status}: {done.error}")
        (folder / "done.json").write_text(json.dumps({"chunks": done.chunk_count}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]))
    else:
        measured(int(sys.argv[1]) if sys.argv[1:] else SMALL)
