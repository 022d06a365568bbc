"""Does it stay quick when there is much of everything? `python -m bench.scale PART --count N`.

Each part is a row of the issue: an installation of 100,000 items, a folder of 150,000 files with a
queue of 1,000, deletes beside a backlog, a big base that goes while others write, and the end of
an item that is being indexed. Waiting times are of this machine; read them when it is quiet.
"""

from __future__ import annotations

import argparse
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from bench._figures import caveat, folder, opened, rank, text_of, timed, told
from holdfast import Directory, File, Note
from holdfast.domain.chunks import Chunk, SmallBuild
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.domain.item_states import Status
from holdfast.domain.items import ItemType, NewItem
from holdfast.domain.jobs import Lane
from holdfast.interfaces.library import Holdfast as Library

NAME = "scale"
PATIENCE = 7_200.0
CHUNKS_EACH, WORD = 20, "unmistakable"


def run(*, large: bool = False) -> None:
    caveat()
    for name, (part, usual, big) in PARTS.items():
        print(f"\n-- {name}")
        part(big if large else usual)


# ------------------------------------------------------------------ many items


def items(count: int) -> None:
    """Recovery, the first page of a list, and the doctor."""
    with folder() as path:
        with opened(path, run=False, max_queue_size=count) as kb:
            base = kb.create_base("b", embedding_model=None)
            for start in range(0, count, 1_000):
                kb.add(base, [Note(text_of(start + n, words=12)) for n in range(1_000)])
        _said(f"open with {count:,} unfinished items, recovered", timed_open(path), 3.0)
        with opened(path) as kb:
            spent = timed(lambda: wait_until_done(kb))
            print(f"   all indexed after {spent:.0f} s")
            pages = [timed(lambda: kb.items("b", limit=100)) for _ in range(20)]
            _said("first page of a list, slowest of 20", max(pages), 0.1)
        _said("open with all completed", timed_open(path), 3.0)
        _said("`holdfast ls`, the whole command", timed(lambda: shell("ls", path)), None)
        before = time.process_time()
        spent = timed(lambda: shell("doctor", path))
        _said("`holdfast doctor`", spent, 60.0)
        print(f"   of it CPU {time.process_time() - before:.1f} s; peak {peak():.0f} MB")


def shell(command: str, path: Path) -> None:
    from contextlib import redirect_stdout
    from io import StringIO

    from holdfast.interfaces.cli.shell import run as typed

    with redirect_stdout(StringIO()):
        assert typed([command, "--data", str(path)]) == 0


def timed_open(path: Path) -> float:
    began = time.perf_counter()
    with opened(path, run=False):
        return time.perf_counter() - began


def wait_until_done(kb: Library) -> None:
    while kb.is_going_on(delayed=True):
        time.sleep(0.2)


# ------------------------------------------------------------------ many files, a short queue


def files(count: int) -> None:
    """A folder far beyond max_queue_size."""
    with folder() as path:
        docs = path / "docs"
        for number in range(count):
            place = docs / f"{number // 1_000:03}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number:06}.md").write_text(f"# {number}\n\n{text_of(number, words=5)}\n")
        with opened(path / "kb", max_queue_size=1_000) as kb:
            base = kb.create_base("b", embedding_model=None)
            began, before = time.perf_counter(), time.process_time()
            (box,) = kb.add(base, Directory(str(docs))).created
            kb.wait(box, timeout=PATIENCE)
            spent, cpu = time.perf_counter() - began, time.process_time() - before
            tally = kb.tally(box)
        print(
            f"   {count:,} files, max_queue_size 1,000: {tally.completed:,} indexed, "
            f"{tally.failed} failed, {spent:.0f} s, CPU {cpu:.0f} s, peak {peak():.0f} MB: "
            f"{'met' if tally.completed == count else 'MISSED'}"
        )


# ------------------------------------------------------------------ deletes beside a backlog


def deletes(count: int) -> None:
    """1,000 items go while `count` jobs wait for a slow model."""
    with folder() as path, opened(path) as kb:
        base = kb.create_base("b", embedding_model="stub/100", dimensions=384)
        gone = kb.add(base, [Note(text_of(n)) for n in range(1_000)]).created
        kb.wait(gone, timeout=PATIENCE)
        for start in range(0, count, 1_000):
            kb.add(base, [Note(text_of(10_000 + start + n)) for n in range(1_000)])
        waiting = kb.queue(base).queue_size
        hidden = timed(lambda: kb.delete([item.id for item in gone]))
        began = time.perf_counter()
        kb.wait(gone, timeout=PATIENCE)
        spent = time.perf_counter() - began
        left = kb.queue(base).queue_size
        print(
            f"   1,000 deletes beside {waiting:,} waiting jobs: hidden after {hidden * 1e3:.0f} ms,"
            f" rows gone {spent:.2f} s later; {left:,} jobs still waited then: "
            f"{'met' if left > count // 2 else 'MISSED'}"
        )


def base_goes(count: int) -> None:
    """A base of `count` chunks is deleted while another is written to."""
    with folder() as path, opened(path) as kb:
        big = kb.create_base("big", embedding_model=None)
        other = kb.create_base("other", embedding_model=None)
        fill(kb, big.id, count)
        kb.add(other, Note("warm"))
        with writing(kb, other) as waits:
            time.sleep(1)
            calm = len(waits)
            kb.delete_base(big)
            spent = timed(lambda: until(lambda: not _stands(kb, big.id)))
            time.sleep(0.5)
        print(f"   {count:,} chunks gone {spent:.1f} s after the call")
        print(f"   another base's writes before  {told(waits[:calm])}")
        print(f"   another base's writes during  {told(waits[calm:])}")
        _said("the longest wait of another write", max(waits[calm:]), 1.0)


def fill(kb: Library, base: BaseId, count: int) -> None:
    """Rows and builds as an ingest leaves them, without its jobs."""
    store = kb._kb
    for start in range(0, count // CHUNKS_EACH, 1_000):
        ids = [ItemId(store.ids.new()) for _ in range(1_000)]
        with store.main.write() as tx:
            tx.insert_items([_row(base, one) for one in ids])
        builds = [SmallBuild(one, ClaimNo(1), _chunks(start + n)) for n, one in enumerate(ids)]
        store.index.write_small(base, None, builds)


def _row(base: BaseId, item: ItemId) -> NewItem:
    return NewItem(
        id=item,
        base_id=base,
        type=ItemType.NOTE,
        name=item,
        source=item,
        status=Status.IDLE,
        source_key=item,
    )


def _chunks(number: int) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(n, text_of(number * CHUNKS_EACH + n, words=8), 0, 1) for n in range(CHUNKS_EACH)
    )


@contextmanager
def writing(kb: Library, base: Any) -> Iterator[list[float]]:
    """Somebody adds a note every 10 ms and writes down how long each call took."""
    stop, waits = threading.Event(), list[float]()

    def write() -> None:
        while not stop.wait(0.01):
            waits.append(timed(lambda: kb.add(base, Note(text_of(len(waits), words=8)))))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waits
    finally:
        stop.set()
        thread.join()


def _stands(kb: Library, base: BaseId) -> bool:
    with kb._kb.main.read() as snapshot:
        return snapshot.base(base) is not None


# ------------------------------------------------------------------ an item that is being indexed


def running(count: int) -> None:
    """The run of a deleted item stops, and nothing of it stays on disk."""
    stops, gone = [], []
    with folder() as path:
        with opened(path) as kb:
            base = kb.create_base("b", embedding_model="stub/50", dimensions=384)
            for number in range(count):
                item = kb.add(base, _long_file(number)).created[0]
                until(lambda: _runs(kb) and kb._kb.index.builds(base.id) != [])
                kb.delete(item)
                began = time.perf_counter()
                until(lambda: not _runs(kb))
                stops.append(time.perf_counter() - began)
                kb.wait(item, timeout=PATIENCE)
                gone.append(time.perf_counter() - began)
            left = leftovers(path, base.id)
        held = [file.name for file in path.rglob("*") if _holds(file)]
    print(f"   a running item is deleted: the run has stopped   {told(stops)}")
    print(f"                              rows and chunks gone  {told(gone)}")
    _said("p99 until the run has stopped", rank(stops, 0.99), 1.0)
    print(f"   left in the index: {left}; files with its text after closing: {held or 'none'}")


def _long_file(number: int) -> File:
    """A megabyte in paragraphs: some seconds of reading, cutting and embedding."""
    words = [f"{WORD}{number}" if n % 50 == 0 else f"w{n}" for n in range(200_000)]
    parts = [" ".join(words[at : at + 100]) for at in range(0, len(words), 100)]
    return File(content="\n\n".join(parts).encode(), name=f"{number}.txt")


def _runs(kb: Library) -> bool:
    with kb._kb.main.read() as snapshot:
        return bool(snapshot.running(Lane.INDEX))


def leftovers(path: Path, base: BaseId) -> dict[str, int]:
    """Rows and files that could hold something of what was deleted."""
    connection = apsw.Connection(str(path / "index" / f"{base}.db"))
    counts = {
        table: int(next(connection.execute(f"SELECT count(*) FROM {table}"))[0])  # noqa: S608
        for table in ("chunk", "vec", "code", "page")
    }
    connection.close()
    stored = sum(one.is_file() for one in (path / "files").rglob("*"))
    return {**counts, "stored files": stored}


def _holds(file: Path) -> bool:
    return file.is_file() and WORD.encode() in file.read_bytes()


# ------------------------------------------------------------------ words


def until(true: Callable[[], bool]) -> None:
    end = time.perf_counter() + PATIENCE
    while not true():
        if time.perf_counter() > end:
            raise TimeoutError
        time.sleep(0.001)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _said(what: str, seconds: float, limit: float | None) -> None:
    verdict = "" if limit is None else f"  under {limit:g} s: {_verdict(seconds < limit)}"
    print(f"   {what:48} {seconds:8.3f} s{verdict}")


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


PARTS: dict[str, tuple[Callable[[int], None], int, int]] = {
    "items": (items, 100_000, 100_000),
    "files": (files, 15_000, 150_000),
    "deletes": (deletes, 10_000, 10_000),
    "base": (base_goes, 100_000, 1_000_000),
    "running": (running, 100, 100),
}

if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("part", choices=PARTS)
    asked.add_argument("--count", type=int)
    given = asked.parse_args()
    chosen, _, big = PARTS[given.part]
    chosen(given.count or big)
