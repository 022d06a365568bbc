"""What does keeping every promise cost, beside a program that keeps none?

2,000 Markdown documents of 4 KB, five chunks each, `hash/384`. Each row is a process of its own,
told in CPU seconds: Holdfast, a baseline that writes chunks and vectors to SQLite without
durability and without full text (bench/_baseline.py), and the ingestion of LangChain, LlamaIndex
and CocoIndex where they are installed (requirements/bench-peers.in says how). Targets: 8x the
baseline with full text, 6x without, at most 1x for a second run and for one with 1 % changed, RSS
under 150 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

NAME = "ingest"
DOCUMENTS, LARGE, PARAGRAPHS, WORDS_EACH = 2_000, 20_000, 5, 84
CHUNK_TOKENS, REPEATS, PATIENCE = 200, 3, 3_600
WITH_TEXT, WITHOUT_TEXT, AGAIN, MEGABYTES = 8.0, 6.0, 1.0, 150
PEERS = ("langchain", "llamaindex", "cocoindex")


def run(*, large: bool = False) -> None:
    count = LARGE if large else DOCUMENTS
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name) / "documents"
        write_documents(folder, count)
        print(f"{count:,} documents of 4 KB; CPU seconds, best of {REPEATS}, one process each")
        base = _best("baseline", folder)
        _row("baseline (no durability, no full text)", base["first"], base)
        for which in ("holdfast", "without full text"):
            _told(which, _best(which, folder), base)
        for peer in PEERS:
            _peer(peer, folder, base)


def write_documents(folder: Path, count: int) -> None:
    """Prose of 5,000 words, each document different in every paragraph."""
    draw = Random(11)
    words = [
        "".join(draw.choices("aeioubcdfglmnprst", k=draw.randint(3, 13))) for _ in range(5_000)
    ]
    folder.mkdir(parents=True)
    for number in range(count):
        parts = [_section(draw, words, place) for place in range(PARAGRAPHS)]
        (folder / f"{number:05}.md").write_text("\n".join(parts))


def _section(draw: Random, words: list[str], place: int) -> str:
    body = " ".join(draw.choices(words, k=WORDS_EACH))
    return f"## Section {place} {draw.choice(words)}\n\n{body}.\n"


def change(folder: Path, share: int = 100) -> int:
    """Every hundredth document gets another last section."""
    changed = sorted(folder.glob("*.md"))[::share]
    for path in changed:
        head, _, tail = path.read_text().rpartition("## ")
        path.write_text(f"{head}## {tail.rstrip()} Changed {path.stem}.\n")
    return len(changed)


# ---------------------------------------------------------------------- rows


def _told(which: str, found: dict[str, Any], base: dict[str, Any]) -> None:
    limit = WITHOUT_TEXT if which.startswith("without") else WITH_TEXT
    label = "Holdfast" if which == "holdfast" else f"Holdfast {which}"
    _row(f"{label}, first run", found["first"], base, limit)
    _row(f"{label}, same again", found["again"], base, AGAIN)
    _row(f"{label}, 1 % changed", found["changed"], base, AGAIN)
    verdict = "met" if found["mb"] < MEGABYTES else "MISSED"
    print(f"   peak of memory {found['mb']:.0f} MB, target under {MEGABYTES}: {verdict}")


def _row(
    label: str, step: dict[str, Any], base: dict[str, Any], limit: float | None = None
) -> None:
    ratio = step["cpu"] / base["first"]["cpu"]
    verdict = (
        "" if limit is None else f"  at most {limit:g}x: {'met' if ratio <= limit else 'MISSED'}"
    )
    embedded = "" if step.get("embedded") is None else f"{step['embedded']:8,} embedded"
    print(f"   {label:<40}{step['cpu']:7.2f} s CPU {ratio:6.2f}x {embedded}{verdict}")


def _peer(peer: str, folder: Path, base: dict[str, Any]) -> None:
    python = os.environ.get("BENCH_PEERS_PYTHON")
    if python is None:
        print(f"   {peer:<40} not measured: BENCH_PEERS_PYTHON names no Python that has it")
        return
    try:
        found = _best(peer, folder, python)
    except subprocess.CalledProcessError as error:
        print(f"   {peer:<40} failed: {error.stderr.strip().splitlines()[-1]}")
        return
    for step, said in (("first", "first run"), ("again", "same again"), ("changed", "1 % changed")):
        if step in found:
            _row(f"{found['label']}, {said}", found[step], base)
    print(f"   peak of memory {found['mb']:.0f} MB")


def _best(which: str, folder: Path, python: str = sys.executable) -> dict[str, Any]:
    """The run of least CPU: what others do on this machine only ever adds."""
    runs = [_in_a_process(which, folder, python) for _ in range(REPEATS)]
    return min(runs, key=lambda one: float(one["first"]["cpu"]))


def _in_a_process(which: str, folder: Path, python: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        copy = Path(name) / "documents"
        subprocess.run(["cp", "-r", str(folder), str(copy)], check=True)
        module = "bench._peers" if which in PEERS else "bench.ingest"
        done = subprocess.run(
            [python, "-m", module, which, str(copy), name],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# ---------------------------------------------------------------------- in the child


def step(act: Callable[[], object]) -> dict[str, Any]:
    """What an act costs in CPU of all threads and children."""
    began, before = time.perf_counter(), sum(os.times()[:4])
    act()
    spent = sum(os.times()[:4]) - before
    return {"cpu": spent, "seconds": time.perf_counter() - began}


def peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _baseline(folder: Path, data: Path) -> dict[str, Any]:
    from bench._baseline import ingest
    from holdfast.domain.chunks import Cutting

    cutting = Cutting(CHUNK_TOKENS)
    return {"first": step(lambda: ingest(folder, data / "baseline.db", cutting)), "mb": peak()}


def _holdfast(folder: Path, data: Path) -> dict[str, Any]:
    from holdfast import Directory, Holdfast

    with Holdfast.open(data / "kb") as hf:
        base = hf.create_base(
            "b", embedding_model="hash/384", chunk_size=CHUNK_TOKENS, chunk_overlap=0
        )
        found = {
            "first": _counted(hf, lambda: hf.wait(hf.add(base, Directory(str(folder))).created))
        }
        (box,) = hf.items(base).items

        def again() -> object:
            hf.reindex(box)
            return hf.wait(box)

        found["again"] = _counted(hf, again)
        change(folder)
        found["changed"] = _counted(hf, again)
        assert hf.item(box).status == "completed", hf.item(box).error
    return {**found, "mb": peak()}


def _counted(hf: Any, act: Callable[[], object]) -> dict[str, Any]:
    before = hf.stats().texts_embedded
    spent = step(act)
    return {**spent, "embedded": hf.stats().texts_embedded - before}


def _without_full_text(folder: Path, data: Path) -> dict[str, Any]:
    """As it is, less the one statement that writes full text and the words it would need."""
    from unittest.mock import patch

    from holdfast.stores.sqlite import index as store

    statements = {**store._statements(), "insert_lines": "SELECT :first, :lines"}
    with (
        patch("holdfast.stores.sqlite.index._statements", lambda: statements),
        patch("holdfast.stores.sqlite.index_page.words_of", lambda _text: ()),
    ):
        return _holdfast(folder, data)


CHILDREN = {
    "baseline": _baseline,
    "holdfast": _holdfast,
    "without full text": _without_full_text,
}

if __name__ == "__main__":
    print(json.dumps(CHILDREN[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
