"""What does the index store cost, beside a plain numpy scan and beside sqlite-vec?

CPU seconds of this process, one thread, vectors in clusters, texts of 700 characters with words as
often as in a language. Every figure says how often it was repeated; medians. A shared machine moves
them, so compare lines of one run.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec
from numpy.typing import NDArray

from holdfast.domain.chunks import Chunk, SmallBuild, text_hash
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.interfaces.cli.door import SWITCH_INTERVAL
from holdfast.machine.clock import SystemClock
from holdfast.machine.disk import FolderDisk
from holdfast.machine.threads import Threads
from holdfast.stores.sqlite.code_memory import CodeMemory
from holdfast.stores.sqlite.index import SqliteIndex

BASE, SPACE = BaseId("bench"), 1
WORDS_BY_KIND = (
    ("rare", (900, 1_500, 2_500)),
    ("common", (0, 1, 2)),
    ("mixed", (0, 40, 900)),
)
Rows = NDArray[np.float32]


def run(*, large: bool = False) -> None:
    print("CPU ms of one thread, median (figures are of a shared machine: read ratios)")
    for width in (384, 896):
        _vectors(100_000, width)
    _whole(100_000, 384)
    if large:
        _vectors(1_000_000, 384)


# --------------------------------------------------------------------------------- vectors


def _vectors(count: int, width: int) -> None:
    """Search by vector: ours, numpy, sqlite-vec; recall against exact float32."""
    rows = _clustered(count, width)
    queries = _near(rows, 50)
    with _index() as index:
        _fill_vectors(index, rows)
        with index.snapshot(BASE) as snapshot:
            snapshot.vector(SPACE, queries[0], 10)
            found = [[one.chunk_id for one in snapshot.vector(SPACE, q, 10)] for q in queries]
            ours = [_cpu(snapshot.vector, SPACE, q, 10) for q in queries]
    print(f"-- {count:,} x {width}, 50 queries, top 10")
    exact = [set(np.argpartition(-(rows @ q), 10)[:10].tolist()) for q in queries]
    recall = np.mean([len({i - 1 for i in f} & e) / 10 for f, e in zip(found, exact, strict=True)])
    plain = [_cpu(_plain_scan, rows, q) for q in queries]
    _line("holdfast", ours, f"recall@10 {recall:.4f}")
    _line("numpy float32 scan", plain, "recall@10 1.0000")
    _sqlite_vec(rows, queries[:10])


def _sqlite_vec(rows: Rows, queries: Rows) -> None:
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(f"{folder}/peer.db")
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        for kind, bind in (("float", ""), ("int8", "vec_quantize_int8(?, 'unit')")):
            table = f"v_{kind}"
            width = rows.shape[1]
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING vec0(e {kind}[{width}])")
            value = bind or "?"
            with connection:
                connection.executemany(
                    f"INSERT INTO {table}(rowid, e) VALUES (?, {value})",  # noqa: S608  (our names)
                    ((place, row.tobytes()) for place, row in enumerate(rows)),
                )
            ask = f"SELECT rowid FROM {table} WHERE e MATCH {value} AND k = 10"  # noqa: S608
            times = [_cpu(_ask, connection, ask, q) for q in queries]
            _line(f"sqlite-vec {kind}", times, "")


# ----------------------------------------------------------------------------- whole items


def _whole(count: int, width: int) -> None:
    """Bulk, replace, delete, open and load, words, purge: with texts and full text."""
    texts = list(_texts(count))
    rows = _clustered(count, width)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = _open(folder)
        index.create(BASE)
        print(f"-- {count:,} chunks of 700 characters, width {width}, items of 20 chunks")
        _bulk(index, texts, rows)
        size = sum(file.stat().st_size for file in folder.rglob("*")) / count
        print(f"   on disk {size:,.0f} bytes per chunk")
        _replace_and_delete(index, rows)
        _words(index, texts)
        index.close()
        _open_and_load(folder, rows[0])
        index = _open(folder)
        _beside_writers(index, rows)
        _purge(index)
        index.close()


def _bulk(index: SqliteIndex, texts: Sequence[str], rows: Rows) -> None:
    spent = wall = 0.0
    for start in range(0, len(texts), 1_000):
        page = texts[start : start + 1_000]
        builds = [_small(start // 20 + n, 1, page[n * 20 : n * 20 + 20]) for n in range(50)]
        hashes = [text_hash(text) for text in page]
        before = time.process_time(), time.perf_counter()
        index.put_vectors(BASE, SPACE, ClaimNo(1), hashes, rows[start : start + 1_000])
        index.write_small(BASE, SPACE, builds)
        spent += time.process_time() - before[0]
        wall += time.perf_counter() - before[1]
    rate, real = len(texts) / spent, len(texts) / wall
    print(
        f"   bulk                     {rate:10,.0f} chunks per CPU second ({real:,.0f} per second)"
    )


def _replace_and_delete(index: SqliteIndex, rows: Rows, rounds: int = 40) -> None:
    fresh = list(_texts(rounds * 20, seed=7))
    replaced, deleted = [], []
    for n in range(rounds):
        texts = fresh[n * 20 : n * 20 + 20]
        build = _small(n, 2, texts)
        replaced.append(_cpu(_replace, index, build, texts, rows[n : n + 20]))
    for n in range(rounds, 2 * rounds):
        item = ItemId(f"item-{n}")
        deleted.append(_cpu(index.remove_items, BASE, [item], []))
    _line("replace 20 chunks", replaced, f"{rounds} rounds")
    _line("delete 20 chunks", deleted, f"{rounds} rounds")


def _replace(
    index: SqliteIndex,
    build: SmallBuild,
    texts: Sequence[str],
    rows: Rows,
    live: Sequence[ClaimNo] = (),
) -> None:
    index.put_vectors(BASE, SPACE, build.claim, [text_hash(text) for text in texts], rows)
    index.write_small(BASE, SPACE, [build])
    index.drop_before(BASE, [(build.item_id, build.claim)], live)


def _words(index: SqliteIndex, texts: Sequence[str]) -> None:
    with index.snapshot(BASE) as snapshot:
        for kind, ranks in WORDS_BY_KIND:
            query = " ".join(_WORDS[rank] for rank in ranks)
            hits = len(snapshot.keyword(query, 50))
            times = [_cpu(snapshot.keyword, query, 50) for _ in range(20)]
            _line(f"keyword, {kind} words", times, f"{hits} hits, 20 repeats")
        some = {ItemId(f"item-{n}") for n in range(0, 5_000, 100)}
        times = [_cpu(lambda: snapshot.keyword(query, 50, within=some)) for _ in range(20)]
        _line("keyword, filter of 1 %", times, "mixed words, 20 repeats")


def _open_and_load(folder: Path, query: Rows) -> None:
    def once() -> None:
        index = _open(folder)
        with index.snapshot(BASE) as snapshot:
            snapshot.vector(SPACE, query, 10)
        index.close()

    _line("open, load, first search", [_cpu(once) for _ in range(5)], "5 repeats")


def _beside_writers(index: SqliteIndex, rows: Rows, seconds: float = 8.0) -> None:
    """Hybrid searches while four threads compute and write."""
    import sys

    sys.setswitchinterval(SWITCH_INTERVAL)
    stop = threading.Event()
    fresh = list(_texts(4_000, seed=11))
    written = [0] * 4

    def work(which: int) -> None:
        number = 0
        while not stop.is_set():
            place = which * 1_000 + number * 20 % 1_000
            texts = fresh[place : place + 20]
            _burn(0.02)
            build = _small(10_000 + which, 100 + number, texts)
            live = [ClaimNo(claim) for claim in range(100, 5_000)]  # of whom is not asked here
            _replace(index, build, texts, rows[place : place + 20], live)
            number += 1
            written[which] += 20

    threads = [threading.Thread(target=work, args=(which,), daemon=True) for which in range(4)]
    for thread in threads:
        thread.start()
    walls: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        before = time.perf_counter()
        with index.snapshot(BASE) as snapshot:
            near = snapshot.vector(SPACE, rows[len(walls) % 1_000], 50)
            worded = snapshot.keyword(f"{_WORDS[900]} {_WORDS[1500]}", 50)
            snapshot.load([one.chunk_id for one in (*near[:10], *worded[:10])])
        walls.append((time.perf_counter() - before) * 1e3)
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    p50, p99 = np.percentile(walls, [50, 99])
    print(
        f"   search beside 4 workers  p50 {p50:6.1f} ms  p99 {p99:6.1f} ms (wall, {len(walls)} "
        f"searches, {sum(written) / seconds:,.0f} chunks written per second meanwhile)"
    )


def _burn(seconds: float) -> None:
    """A model that keeps the interpreter busy."""
    until = time.thread_time() + seconds
    total = 0
    while time.thread_time() < until:
        total += sum(range(200))


def _purge(index: SqliteIndex) -> None:
    slices: list[float] = []
    done = False
    while not done:
        before = time.perf_counter()
        done = index.purge(BASE)
        slices.append((time.perf_counter() - before) * 1e3)
    longest, total = max(slices), sum(slices)
    slowest = f"longest {longest:.0f} ms"
    print(f"   purge                    {total:8.0f} ms in {len(slices)} slices, {slowest}")


# -------------------------------------------------------------------------------- material


def _open(folder: Path) -> SqliteIndex:
    runtime = Threads()
    return SqliteIndex(FolderDisk(folder), runtime, SystemClock(), memory=CodeMemory(runtime))


@contextmanager
def _index() -> Iterator[SqliteIndex]:
    with tempfile.TemporaryDirectory() as folder:
        index = _open(Path(folder))
        index.create(BASE)
        yield index
        index.close()


def _fill_vectors(index: SqliteIndex, rows: Rows) -> None:
    """Chunks of a few letters: only the vectors matter here."""
    for start in range(0, len(rows), 1_000):
        page = rows[start : start + 1_000]
        texts = [f"v{start + n}" for n in range(len(page))]
        index.put_vectors(BASE, SPACE, ClaimNo(1), [text_hash(text) for text in texts], page)
        index.write_small(BASE, SPACE, [_small(start, 1, texts)])


def _small(number: int, claim: int, texts: Sequence[str]) -> SmallBuild:
    chunks = tuple(Chunk(n, text, 0, len(text)) for n, text in enumerate(texts))
    return SmallBuild(ItemId(f"item-{number}"), ClaimNo(claim), chunks)


def _clustered(count: int, width: int, seed: int = 3) -> Rows:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(max(10, count // 200), width)).astype(np.float32)
    rows: Rows = centres[random.integers(0, len(centres), count)]
    for start in range(0, count, 100_000):
        part = rows[start : start + 100_000]
        part += random.normal(scale=0.8, size=part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return rows


def _near(rows: Rows, count: int) -> Rows:
    random = np.random.default_rng(5)
    picked = rows[random.integers(0, len(rows), count)]
    noise = random.normal(scale=0.4 / np.sqrt(rows.shape[1]), size=picked.shape)
    picked = picked + noise.astype(np.float32)
    near: Rows = (picked / np.linalg.norm(picked, axis=1, keepdims=True)).astype(np.float32)
    return near


def _ask(connection: Any, statement: str, query: Rows) -> list[Any]:
    rows: list[Any] = connection.execute(statement, (query.tobytes(),)).fetchall()
    return rows


def _plain_scan(rows: Rows, query: Rows) -> NDArray[np.intp]:
    return np.argpartition(-(rows @ query), 10)[:10]


_WORDS = [f"w{number:x}" + "abcdefgh"[: number % 7] for number in range(30_000)]


def _texts(count: int, seed: int = 1) -> Iterator[str]:
    """700 characters; the commonest word is every twentieth, the n-th about 1/n as often."""
    random = np.random.default_rng(seed)
    often = 1 / (np.arange(len(_WORDS)) + 2.7)
    often /= often.sum()
    for start in range(0, count, 1_000):
        ranks = random.choice(len(_WORDS), size=(min(1_000, count - start), 120), p=often)
        for number, row in enumerate(ranks, start):
            yield (" ".join(_WORDS[rank] for rank in row) + f" n{seed}x{number}")[-700:]


def _cpu(act: Callable[..., object], *given: object) -> float:
    before = time.process_time()
    act(*given)
    return (time.process_time() - before) * 1e3


def _line(what: str, times: Sequence[float], beside: str) -> None:
    p50, longest = statistics.median(times), max(times)
    print(f"   {what:24} {p50:8.2f} ms  (longest {longest:.2f})  {beside}")
