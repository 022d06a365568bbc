"""What does a folder of ten thousand files cost, from the first listing to a re-index?

Each width runs in a process of its own, because the peak of a process never falls. The files are of
4 KB (about five chunks each). Targets: 150 MB at width 384, 200 MB at 896.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

NAME = "folders"
FILES, LARGE = 10_000, 100_000
PER_FOLDER = 1_000
TARGETS = {384: 150, 896: 200}
WORDS = (
    "valve pump lamp river stone paper engine harbour winter signal copper meadow " * 40
).split()
PATIENCE = 3_600
CHUNK = 200  # tokens: five chunks in each file


def run(*, large: bool = False) -> None:
    count = LARGE if large else FILES
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        write_files(Path(folder), count)
        print(f"{count:,} files of 4 KB in {time.perf_counter() - began:.0f} s; shared machine")
        for width, target in TARGETS.items():
            _show(width, target, _in_a_process(Path(folder), width))


def write_files(folder: Path, count: int) -> None:
    draw = Random(7)
    for number in range(count):
        path = folder / f"{number // PER_FOLDER:03}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(" ".join(draw.choices(WORDS, k=100)) for _ in range(6))
        path.write_text(f"# Document {number}\n\n{body}\n")


def _in_a_process(folder: Path, width: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.folders", str(folder), str(width)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _show(width: int, target: int, found: dict[str, Any]) -> None:
    count = found["files"]
    print(
        f"-- width {width}, {found['chunks']:,} chunks; {found['start_mb']:.0f} MB before the first"
    )
    for step in ("first", "reindex", "rescan"):
        one = found[step]
        print(
            f"   {step:<8} {one['seconds']:7.1f} s  {count / one['seconds']:7.0f} files/s"
            f"  {one['cpu']:6.1f} s CPU  {one['embedded']:7,} embedded  peak {one['mb']:.0f} MB"
        )
    verdict = "met" if found["first"]["mb"] <= target else "MISSED"
    print(f"   target: at most {target} MB: {verdict}")


def _child(folder: str, width: int) -> None:
    from holdfast import Directory, Holdfast

    with tempfile.TemporaryDirectory() as data, Holdfast.open(data) as hf:
        base = hf.create_base(
            "bench", embedding_model=f"hash/{width}", chunk_size=CHUNK, chunk_overlap=CHUNK // 8
        )
        found: dict[str, Any] = {"start_mb": _peak()}
        added = hf.add(base, Directory(folder))
        (box,) = added.created
        found["first"] = _step(hf, lambda: hf.wait(box, timeout=PATIENCE))
        hf.search("copper valve", bases=[base])
        found["reindex"] = _step(hf, lambda: (hf.reindex(box), hf.wait(box, timeout=PATIENCE)))
        found["rescan"] = _step(hf, lambda: (_rescan(hf, box.id), hf.wait(box, timeout=PATIENCE)))
        counts = hf._kb.main
        with counts.read() as snapshot:
            builds = snapshot.expected_builds(base.id)
        found |= {"files": len(builds), "chunks": sum(one.count for one in builds)}
    print(json.dumps(found))


def _step(hf: Any, act: Callable[[], object]) -> dict[str, float]:
    before, began, cpu = hf.stats().texts_embedded, time.perf_counter(), time.process_time()
    act()
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "embedded": hf.stats().texts_embedded - before,
        "mb": _peak(),
    }


def _rescan(hf: Any, box: Any) -> None:
    """A listing nobody asked for, as a sync makes it."""
    from holdfast.domain.item_states import Move, Status
    from holdfast.stores.catalog import Moved
    from holdfast.workflow.schedule_item import schedule_items

    kb = hf._kb
    with kb.main.write() as tx:
        item = tx.item(box)
        tx.move(Move.RESTART, [Moved(item.id, Status.PREPARING, new_generation=True)])
        schedule_items(tx, kb, tx.base(item.base_id), tx.items([item.id]))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
