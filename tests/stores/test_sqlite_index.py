"""What the index in files promises beyond the contract: exactness, damage, deleted text, caches."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.domain.chunks import text_hash
from holdfast.domain.errors import HoldfastError, Superseded
from holdfast.domain.ids import BaseId, ClaimNo, ItemId
from holdfast.stores.index import IndexMissing, IndexStore, Pair, VectorsMissing
from holdfast.stores.memory_index import MemoryIndex
from holdfast.stores.sqlite import code_cache, codes
from holdfast.stores.sqlite.code_memory import CodeMemory
from holdfast.stores.sqlite.index import SqliteIndex
from holdfast.testing.reference import Reference
from tests.stores.index_disk import TestClock, TestDisk, TestThreads
from tests.stores.index_worlds import (
    BASE,
    OTHER,
    SPACE,
    X,
    Y,
    chunks_of,
    claim,
    found,
    has_vector,
    nearest,
    put,
    sqlite_index,
    standing,
    texts_of,
    unsealed,
    vector_of,
    write,
)

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "ir" / "xquad-zh" / "corpus.jsonl.gz"
WORDS = ["red", "green", "blue", "fox", "dog", "cat", "中国", "大学", "北京", "人民", "tea", "ship"]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    made = sqlite_index(tmp_path)
    made.create(BASE)
    yield made
    made.close()


def reopened(index: SqliteIndex, folder: Path) -> SqliteIndex:
    index.close()
    return sqlite_index(folder)


def file_of(folder: Path, base: BaseId = BASE) -> Path:
    return folder / "index" / f"{base}.db"


def sentences(count: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=8)) + f" n{seed}x{n}" for n in range(count)]


# ---------------------------------------------------------------------------- like the reference


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_it_answers_like_the_index_in_memory(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    ours, plain = sqlite_index(tmp_path), MemoryIndex()
    both: list[IndexStore] = [ours, plain]
    for index in both:
        index.create(BASE)
    items, number = [X, Y, ItemId("z"), ItemId("q")], 10

    for _ in range(60):
        number += 1
        item, texts = chosen.choice(items), chosen.sample(sentences(30), chosen.randint(0, 6))
        live = [claim(n) for n in range(10, number) if chosen.random() < 0.5]
        act, asked = chosen.random(), chosen.random()
        for index in both:
            _one_step(index, act, (item, claim(number)), texts, live)
        assert sorted(standing(ours)) == sorted(standing(plain))
        hashes = [text_hash(text) for text in sentences(30)]
        assert ours.missing(BASE, SPACE, hashes) == plain.missing(BASE, SPACE, hashes)
        if asked < 0.5:
            assert sorted(found(ours, "red 中国", 100)) == sorted(found(plain, "red 中国", 100))
            query = chosen.choice(sentences(30))
            assert sorted(nearest(ours, query, 100)) == sorted(nearest(plain, query, 100))
            assert nearest(ours, query, 1) == nearest(plain, query, 1)
        if asked < 0.1:
            ours = reopened(ours, tmp_path)
            both = [ours, plain]

    assert ours.verify(BASE) == plain.verify(BASE) == []
    ours.close()


def _one_step(
    index: IndexStore, act: float, pair: Pair, texts: list[str], live: list[ClaimNo]
) -> None:
    item, number = pair
    pairs = sorted(standing(index))
    if act < 0.4:
        write(index, item, number, texts)
    elif act < 0.5:
        unsealed(index, item, number, texts)
    elif act < 0.6 and texts:
        put(index, number, texts)
    elif act < 0.75:
        index.drop_before(BASE, [(item, claim(number - 3))], live)
    elif act < 0.85 and pairs:
        index.remove(BASE, [(ItemId(i), claim(c)) for i, c in pairs[::3]], live)
    elif act < 0.95:
        index.remove_items(BASE, [item], live)
    else:
        while not index.purge(BASE):
            pass


@pytest.mark.parametrize("share", [0.01, 0.001])
def test_filters_give_the_same_hits_as_the_reference(index: SqliteIndex, share: float) -> None:
    count = 3_000
    for n in range(0, count, 100):
        for item in range(10):
            texts = sentences(10, seed=n * 10 + item)
            write(index, ItemId(f"i{n}-{item}"), 1, texts)
    items = sorted({row.item_id for row in index.builds(BASE)})
    within = random.Random(4).sample(items, max(1, int(len(items) * share)))
    reference = Reference(index, BASE, vector_of)

    with index.snapshot(BASE) as snapshot:
        for query in ("red fox", "大学", "tea ship 中国 n5", "cat"):
            ours = snapshot.keyword(query, 20, within=within)
            want = reference.ranked(query, 20, within=within)
            assert [one.score for one in ours] == pytest.approx([one.score for one in want])
            near = snapshot.vector(SPACE, vector_of(query), 5, within=within)
            exact = reference.nearest(vector_of(query), 5, within=within)
            assert [one.chunk_id for one in near] == [chunk for chunk, _ in exact]


def test_words_rank_as_the_reference_ranks_them(index: SqliteIndex) -> None:
    for n in range(20):
        write(index, ItemId(f"i{n}"), 1, sentences(15, seed=n))
    reference = Reference(index, BASE, vector_of)

    with index.snapshot(BASE) as snapshot:
        for query in ("red", "red fox", "北京大学", "dog 人民 ship n3x7", "国"):
            ours, want = snapshot.keyword(query, 30), reference.ranked(query, 30)
            assert [one.score for one in ours] == pytest.approx([one.score for one in want])


def test_recall_of_the_codes_is_nearly_whole(index: SqliteIndex) -> None:
    chosen = np.random.default_rng(1)
    rows = chosen.normal(size=(3_000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    _write_rows(index, rows)

    hits = 0
    with index.snapshot(BASE) as snapshot:
        for query in rows[:50] + chosen.normal(scale=0.03, size=(50, 384)).astype(np.float32):
            exact = set(np.argsort(-(rows @ query))[:10].tolist())
            got = snapshot.load([one.chunk_id for one in snapshot.vector(SPACE, query, 10)])
            hits += len(exact & {int(one.chunk.text) for one in got.values()})

    assert hits / 500 >= 0.99


def _write_rows(index: SqliteIndex, rows: NDArray[np.float32]) -> None:
    texts = [str(n) for n in range(len(rows))]
    index.put_vectors(BASE, SPACE, claim(1), [text_hash(text) for text in texts], rows)
    index.begin(BASE, X, claim(1))
    index.append(BASE, X, claim(1), SPACE, chunks_of(texts))
    index.seal(BASE, X, claim(1))


def test_without_the_library_the_codes_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = np.random.default_rng(2)
    rows = chosen.normal(size=(200, 64)).astype(np.float32)
    packed, scales = codes.unpacked(codes.packed(rows), 200, 64)
    with_it = codes.scores_of_codes(rows[0], packed, scales)
    bits_with_it = codes.scores_of_bits(rows[0], codes.bits(packed))

    monkeypatch.setitem(__import__("sys").modules, "simsimd", None)

    assert codes.scores_of_codes(rows[0], packed, scales) == pytest.approx(with_it)
    assert codes.scores_of_bits(rows[0], codes.bits(packed)) == pytest.approx(bits_with_it)
    assert with_it == pytest.approx(rows @ rows[0], abs=1.5)


# -------------------------------------------------------------------------------- codes in memory


def test_blocks_fill_overflow_and_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "BLOCK_ROWS", 16)
    index = sqlite_index(tmp_path)
    index.create(BASE)
    chosen = random.Random(3)
    kept: dict[str, list[str]] = {}

    for number in range(1, 120):
        item = f"i{chosen.randrange(12)}"
        kept[item] = sentences(chosen.randint(1, 9), seed=number)
        write(index, ItemId(item), number, kept[item])
        index.drop_before(BASE, [(ItemId(item), claim(number))], live=[])
        every = sorted(text for texts in kept.values() for text in texts)
        assert sorted(nearest(index, "x", k=1_000)) == every
        some = [ItemId(one) for one in chosen.sample(sorted(kept), min(3, len(kept)))]
        inside = sorted(text for one in some for text in kept[one])
        assert sorted(nearest(index, "x", k=1_000, within=some)) == inside
        outside = sorted(set(every) - set(inside))
        assert sorted(set(nearest(index, "x", k=1_000, masked=some))) == outside

    cache = index._memory._caches[BASE, SPACE][1]
    assert len(cache._blocks) <= 12
    index.close()


def test_a_snapshot_older_than_what_the_cache_remembers_reads_for_itself(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "REMEMBERED_REVS", 2)
    write(index, X, 1, ["first"])

    with index.snapshot(BASE) as old:
        for number in range(2, 9):
            write(index, X, number, [f"number {number}"])
            index.drop_before(BASE, [(X, claim(number))], live=[])
            assert nearest(index, "first") == [f"number {number}"]
        hits = old.vector(SPACE, vector_of("first"), 5)
        assert texts_of(old, [one.chunk_id for one in hits]) == ["first"]


def test_a_cache_that_missed_the_tombstones_reads_anew(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.sqlite.index_file.KEPT_TOMBSTONES", 3)
    write(index, X, 1, ["first"])
    assert nearest(index, "first") == ["first"]

    for number in range(2, 12):
        write(index, X, number, [f"number {number}"])
        index.drop_before(BASE, [(X, claim(number))], live=[])

    assert nearest(index, "first") == ["number 11"]


def test_codes_of_many_bases_share_one_budget(tmp_path: Path) -> None:
    threads = TestThreads()
    memory = CodeMemory(threads, budget=50 * 32)
    index = SqliteIndex(TestDisk(tmp_path), threads, TestClock(), memory=memory)
    bases = [BaseId(f"base{n}") for n in range(4)]
    for base in bases:
        index.create(base)
        write(index, X, 1, sentences(20), base=base)

    for base in bases * 3:
        assert len(nearest(index, "red", k=50, base=base)) == 20
        assert memory.size <= 50 * 32
    index.close()


def test_a_base_too_large_for_bytes_is_searched_by_bits(tmp_path: Path) -> None:
    threads = TestThreads()
    memory = CodeMemory(threads, most_rows=100)
    index = SqliteIndex(TestDisk(tmp_path), threads, TestClock(), memory=memory)
    index.create(BASE)
    texts = sentences(300)
    write(index, X, 1, texts[:90])
    assert nearest(index, texts[5], k=1) == [texts[5]]

    write(index, Y, 2, texts[90:])

    assert [nearest(index, text, k=1) for text in texts[::10]] == [[text] for text in texts[::10]]
    assert nearest(index, texts[200], k=1) == [texts[200]]
    assert memory._caches[BASE, SPACE][1].as_bits
    index.close()


# --------------------------------------------------------------------------------- words


needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason="needs ../shared/ir/xquad-zh beside the repository"
)


@needs_corpus
def test_chinese_terms_of_the_collection_are_found(index: SqliteIndex) -> None:
    _look_for_terms(index, every=40)


@needs_corpus
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_chinese_term_of_the_collection_is_found(index: SqliteIndex) -> None:
    _look_for_terms(index, every=1)


def _look_for_terms(index: SqliteIndex, every: int) -> None:
    """Terms of 1 to 4 characters: found in exactly the texts in which they stand."""
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    index.begin(BASE, X, claim(1))
    index.append(BASE, X, claim(1), None, chunks_of(texts))
    index.seal(BASE, X, claim(1))
    runs = {run for text in texts for run in re.findall(r"[\u4e00-\u9fff]+", text)}
    sizes = range(1, 5)
    terms = {run[at : at + n] for run in runs for n in sizes for at in range(len(run) - n + 1)}

    with index.snapshot(BASE) as snapshot:
        for term in sorted(terms)[::every]:
            ids = [one.chunk_id for one in snapshot.keyword(term, len(texts))]
            got = {stored.chunk.ordinal for stored in snapshot.load(ids).values()}
            assert got == {n for n, text in enumerate(texts) if term in text}, term
    assert len(terms) > 50_000


def test_common_words_are_ranked_by_the_rarer_ones(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.sqlite.index_search.MOST_RANKED", 30)
    monkeypatch.setattr("holdfast.stores.sqlite.index_search.NEWEST_RANKED", 20)
    write(index, X, 1, [f"common words {n}" for n in range(100)] + ["common rare words"])

    assert found(index, "common rare words", k=1) == ["common rare words"]
    assert len(found(index, "common words", k=10)) == 10
    assert len(found(index, "common rare", k=10)) == 10
    assert len(found(index, "common nothing", k=10)) == 10


SCRIPTS = [
    "abc ",
    "äöß",
    "中国人民大学",
    "ひらカナ",
    "한국어",
    "русский",
    "عربي",
    "ไทย",
    "हिन्दी",
    "😀👍🏽",
]
MARKS = [
    "\"'*()[]{}:^-+~|&!?<>=,.;/\\%_#@$`",
    " AND OR NOT NEAR ",
    "\x00\ud800\udfff\ufffe\u200d\u202e",
]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_thousand_odd_strings_are_fine(index: SqliteIndex) -> None:
    index.create(OTHER)
    write(index, X, 1, [*sentences(50), "中国人民大学 abc", "한국어 русский"])
    write(index, Y, 1, ["secret abc 中国 русский"], base=OTHER)
    chosen = random.Random(7)
    pool = [*SCRIPTS, *MARKS]

    with index.snapshot(BASE) as snapshot:
        for _ in range(100_000):
            parts = [chosen.choice(chosen.choice(pool)) for _ in range(chosen.randint(0, 12))]
            hits = snapshot.keyword("".join(parts), 10)
            assert {hit.item_id for hit in hits} <= {X}


# -------------------------------------------------------------------------------- deleted text


def test_a_deleted_text_is_in_no_file_after_the_purge(index: SqliteIndex, tmp_path: Path) -> None:
    marker = "xyzzymarker"
    texts = [f"{text} {marker}{n} and {marker}" for n, text in enumerate(sentences(300))]
    write(index, Y, 1, sentences(300, seed=5))
    write(index, X, 2, texts)
    write(index, Y, 3, sentences(200, seed=6))
    assert _files_with(tmp_path, marker)

    index.remove_items(BASE, [X], live=[])
    assert index.purge_due(BASE)
    slices = 1
    while not index.purge(BASE):
        slices += 1

    assert not _files_with(tmp_path, marker)
    assert not index.purge_due(BASE)
    assert index.verify(BASE) == []
    assert len(found(index, "red", k=1_000)) > 100
    assert slices < 100


def test_an_unfinished_purge_goes_on_after_a_restart(index: SqliteIndex, tmp_path: Path) -> None:
    write(index, X, 1, [f"marker{n}z" for n in range(100)])
    write(index, Y, 1, ["stays"])
    index.remove_items(BASE, [X], live=[])

    again = reopened(index, tmp_path)
    assert again.purge_due(BASE)
    while not again.purge(BASE):
        pass

    assert not _files_with(tmp_path, "marker5z")
    again.close()


def _files_with(folder: Path, text: str) -> list[Path]:
    wanted = text.encode()
    return [file for file in folder.rglob("*") if file.is_file() and wanted in file.read_bytes()]


# ------------------------------------------------------------------------------------- damage


def test_an_index_of_another_base_is_set_aside(index: SqliteIndex, tmp_path: Path) -> None:
    write(index, X, 1, ["mine"])
    index.close()
    shutil.copy(file_of(tmp_path), file_of(tmp_path, OTHER))
    told: list[tuple[str, str]] = []
    again = SqliteIndex(
        TestDisk(tmp_path), TestThreads(), TestClock(), on_damage=lambda b, w: told.append((b, w))
    )

    with pytest.raises(IndexMissing):
        again.missing(OTHER, SPACE, [])

    assert [base for base, _ in told] == [OTHER]
    assert again.bases() == [BASE]
    assert file_of(tmp_path, OTHER).with_name("b2.db.damaged").exists()
    assert found(again, "mine") == ["mine"]
    again.close()


def test_a_file_that_is_no_database_is_set_aside_and_made_again(tmp_path: Path) -> None:
    file_of(tmp_path).parent.mkdir()
    file_of(tmp_path).write_bytes(b"no database at all" * 500)
    index = sqlite_index(tmp_path)

    with pytest.raises(IndexMissing), index.snapshot(BASE):
        pass
    index.create(BASE)

    write(index, X, 1, ["new"])
    assert found(index, "new") == ["new"]
    index.close()


def test_an_index_whose_making_was_interrupted_is_made_again(tmp_path: Path) -> None:
    file_of(tmp_path).parent.mkdir()
    file_of(tmp_path).touch()
    index = sqlite_index(tmp_path)

    with pytest.raises(IndexMissing):
        index.missing(BASE, SPACE, [])
    index.create(BASE)

    assert index.builds(BASE) == []
    index.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_overwritten_pages_are_always_noticed(tmp_path: Path) -> None:
    """Every kind of page: what is not noticed at open is noticed by verify."""
    whole = tmp_path / "whole"
    index = sqlite_index(whole)
    index.create(BASE)
    for n in range(40):
        write(index, ItemId(f"i{n}"), 1, sentences(25, seed=n))
    index.close()
    content = file_of(whole).read_bytes()
    chosen, unnoticed = random.Random(11), []

    for round_ in range(100):
        folder = tmp_path / f"r{round_}"
        (folder / "index").mkdir(parents=True)
        at = chosen.randrange(0, len(content) - 4_096)
        damaged = content[:at] + chosen.randbytes(4_096) + content[at + 4_096 :]
        file_of(folder).write_bytes(damaged)
        if not _is_noticed(folder):
            unnoticed.append(at)
        shutil.rmtree(folder)

    assert not unnoticed


def _is_noticed(folder: Path) -> bool:
    index = sqlite_index(folder)
    try:
        return bool(index.verify(BASE))
    except HoldfastError:
        return True
    finally:
        index.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_cut_log_leaves_a_sound_index(tmp_path: Path) -> None:
    """The write-ahead log cut anywhere: what is there is sound, and a prefix of what was done."""
    live = tmp_path / "live"
    index = sqlite_index(live)
    index.create(BASE)
    states: list[frozenset[tuple[str, int]]] = [frozenset()]
    for n in range(1, 30):
        item = ItemId(f"i{n % 7}")
        write(index, item, n, sentences(6, seed=n))
        states.append(frozenset(standing(index)))
        index.drop_before(BASE, [(item, claim(n))], live=[])
        states.append(frozenset(standing(index)))
    database = file_of(live).read_bytes()
    log = Path(f"{file_of(live)}-wal").read_bytes()
    index.close()
    assert len(log) > 100_000
    chosen = random.Random(13)

    for round_ in range(1_000):
        folder = tmp_path / f"r{round_}"
        (folder / "index").mkdir(parents=True)
        file_of(folder).write_bytes(database)
        Path(f"{file_of(folder)}-wal").write_bytes(log[: chosen.randrange(len(log))])
        _check_cut(folder, states)
        shutil.rmtree(folder)


def _check_cut(folder: Path, states: list[frozenset[tuple[str, int]]]) -> None:
    index = sqlite_index(folder)
    try:
        sealed = {(row.item_id, row.claim) for row in index.builds(BASE) if row.seal}
        assert any(sealed <= state for state in states)
        if BASE in index.bases() and index.builds(BASE):
            assert index.verify(BASE) == []
        with index.snapshot(BASE) as snapshot:
            assert {one.item_id for one in snapshot.keyword("red", 50)} <= {i for i, _ in sealed}
    except IndexMissing:
        pass  # cut before the index was there
    finally:
        index.close()


# ------------------------------------------------------------------------------- shared texts


def test_a_text_deleted_meanwhile_is_asked_for_again_and_nothing_in_vain(
    index: SqliteIndex,
) -> None:
    write(index, X, 1, ["shared"])
    assert not index.missing(BASE, SPACE, [text_hash("shared")])
    index.begin(BASE, Y, claim(2))
    index.remove_items(BASE, [X], live=[claim(2)])

    with pytest.raises(VectorsMissing):
        index.append(BASE, Y, claim(2), SPACE, chunks_of(["shared"]))
    put(index, 2, ["shared"])
    index.remove(BASE, [], live=[claim(2)])
    index.append(BASE, Y, claim(2), SPACE, chunks_of(["shared"]))
    index.seal(BASE, Y, claim(2))

    assert nearest(index, "shared") == ["shared"]
    assert has_vector(index, "shared")


def test_a_large_item_is_removed_in_slices_and_never_seen_in_part(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.sqlite.index_file.SLICE_CHUNKS", 10)
    write(index, X, 1, sentences(35))

    assert [index.remove_items(BASE, [X], live=[]) for _ in range(4)] == [False] * 3 + [True]
    assert standing(index) == set()
    assert index.verify(BASE) == []


def test_a_half_removed_build_is_listed_and_answers_nothing(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.sqlite.index_file.SLICE_CHUNKS", 10)
    write(index, X, 1, sentences(35))
    index.remove_items(BASE, [X], live=[])

    assert [(row.claim, row.seal) for row in index.builds(BASE)] == [(1, None)]
    assert found(index, "red", k=100) == []
    assert nearest(index, "red", k=100) == []
    with pytest.raises(Superseded):
        index.seal(BASE, X, claim(1))
    index.remove(BASE, [(X, claim(1))], live=[])
    assert standing(index) == set()


def test_ordinals_of_a_large_document_come_back_in_order(index: SqliteIndex) -> None:
    texts = sentences(500)
    put(index, 1, texts)
    index.begin(BASE, X, claim(1))
    chunks = chunks_of(texts)
    for start in range(0, 500, 120):
        index.append(BASE, X, claim(1), SPACE, chunks[start : start + 120])
    index.seal(BASE, X, claim(1))

    stored = index.chunks(BASE, X, claim(1), -1, 1_000)

    assert [one.chunk for one in stored] == chunks
    assert all(one.id < other.id for one, other in pairwise(stored))
