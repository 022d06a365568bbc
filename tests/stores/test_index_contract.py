"""What every index store promises, whatever stands behind the door."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.domain.chunks import Chunk, SmallBuild, digest_of, text_hash
from holdfast.domain.errors import Permanent, Superseded, Transient
from holdfast.domain.ids import ItemId
from holdfast.stores.index import IndexMissing, IndexStore, VectorsMissing
from tests.stores.index_worlds import (
    BASE,
    IMPLEMENTATIONS,
    OTHER,
    SPACE,
    WIDTH,
    X,
    Y,
    Z,
    chunks_of,
    claim,
    found,
    has_vector,
    nearest,
    put,
    standing,
    unsealed,
    vector_of,
    write,
)


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexStore]:
    made = IMPLEMENTATIONS[request.param](tmp_path)
    made.create(BASE)
    yield made
    made.close()


# ------------------------------------------------------------------------------- builds


def test_begin_removes_what_bore_the_number(index: IndexStore) -> None:
    write(index, X, 7, ["old one", "old two"])

    index.begin(BASE, X, claim(7))

    assert index.chunks(BASE, X, claim(7), after=-1, limit=10) == []
    assert index.seals(BASE, [(X, claim(7))]) == {}
    assert found(index, "old") == []


def test_begin_leaves_other_numbers_and_items_alone(index: IndexStore) -> None:
    write(index, X, 6, ["six"])
    write(index, Y, 7, ["of y"])

    index.begin(BASE, X, claim(7))

    assert found(index, "six") == ["six"]
    assert found(index, "y") == ["of y"]


def test_a_build_can_be_written_again_under_its_number(index: IndexStore) -> None:
    write(index, X, 7, ["first try"])
    write(index, X, 7, ["second attempt"])

    assert found(index, "attempt") == ["second attempt"]
    assert found(index, "first") == []


def test_append_keeps_what_a_chunk_is(index: IndexStore) -> None:
    given = Chunk(0, "text", 10, 14, page=3, headings=("A", "B \u4e2d \u0000"))
    put(index, 1, ["text"])
    index.begin(BASE, X, claim(1))

    index.append(BASE, X, claim(1), SPACE, [given])

    stored = index.chunks(BASE, X, claim(1), after=-1, limit=10)
    assert [one.chunk for one in stored] == [given]
    assert (stored[0].item_id, stored[0].build) == (X, 1)


def test_append_refuses_the_whole_page_when_one_vector_is_missing(index: IndexStore) -> None:
    put(index, 1, ["known"])
    index.begin(BASE, X, claim(1))

    with pytest.raises(VectorsMissing) as refusal:
        index.append(BASE, X, claim(1), SPACE, chunks_of(["known", "unknown"]))

    assert refusal.value.hashes == {text_hash("unknown")}
    assert index.chunks(BASE, X, claim(1), after=-1, limit=10) == []


def test_a_vector_of_another_space_does_not_count(index: IndexStore) -> None:
    put(index, 1, ["text"])
    index.begin(BASE, X, claim(1))

    with pytest.raises(VectorsMissing):
        index.append(BASE, X, claim(1), SPACE + 1, chunks_of(["text"]))


def test_a_keyword_only_base_needs_no_vectors(index: IndexStore) -> None:
    index.begin(BASE, X, claim(1))
    index.append(BASE, X, claim(1), None, chunks_of(["only words"]))
    index.seal(BASE, X, claim(1))

    assert found(index, "words") == ["only words"]


def test_a_page_given_twice_is_kept_once(index: IndexStore) -> None:
    unsealed(index, X, 1, ["one", "two"])

    index.append(BASE, X, claim(1), SPACE, chunks_of(["one", "two"]))

    assert index.seal(BASE, X, claim(1)).count == 2


def test_a_page_for_a_build_that_was_removed_is_superseded(index: IndexStore) -> None:
    unsealed(index, X, 1, ["one"])
    index.remove(BASE, [(X, claim(1))], live=[])

    with pytest.raises(Superseded):
        index.append(BASE, X, claim(1), None, chunks_of(["two"], first=1))
    with pytest.raises(Superseded):
        index.seal(BASE, X, claim(1))
    assert standing(index) == set()


def test_a_sealed_build_grows_no_more(index: IndexStore) -> None:
    write(index, X, 1, ["one"])

    with pytest.raises(Superseded):
        index.append(BASE, X, claim(1), None, chunks_of(["two"], first=1))


def test_seal_counts_and_digests_the_chunks_in_order(index: IndexStore) -> None:
    texts = [f"text {number}" for number in range(25)]
    put(index, 1, texts)
    chunks = chunks_of(texts)
    index.begin(BASE, X, claim(1))
    index.append(BASE, X, claim(1), SPACE, chunks[:10])
    index.append(BASE, X, claim(1), SPACE, chunks[10:])

    seal = index.seal(BASE, X, claim(1))

    assert seal == digest_of(text_hash(text) for text in texts)
    assert index.seal(BASE, X, claim(1)) == seal
    assert index.seals(BASE, [(X, claim(1)), (Y, claim(1))]) == {(X, claim(1)): seal}


def test_an_empty_build_can_be_sealed(index: IndexStore) -> None:
    index.begin(BASE, X, claim(1))

    assert index.seal(BASE, X, claim(1)) == digest_of([])


def test_builds_lists_sealed_and_unsealed_ones(index: IndexStore) -> None:
    write(index, X, 1, ["one"])
    unsealed(index, X, 2, ["two"])

    seals = {(row.item_id, row.claim): row.seal for row in index.builds(BASE)}

    assert seals == {(X, 1): digest_of([text_hash("one")]), (X, 2): None}


def test_small_builds_are_written_in_one_go(index: IndexStore) -> None:
    put(index, 3, ["a", "b", "c"])
    write(index, X, 1, ["old"])

    seals = index.write_small(
        BASE,
        SPACE,
        [
            SmallBuild(X, claim(3), tuple(chunks_of(["a", "b"]))),
            SmallBuild(Y, claim(4), tuple(chunks_of(["c"]))),
            SmallBuild(Z, claim(5), ()),
        ],
    )

    assert [seal.count for seal in seals] == [2, 1, 0]
    assert standing(index) == {(X, 1), (X, 3), (Y, 4), (Z, 5)}
    assert nearest(index, "c", k=1) == ["c"]


def test_small_builds_with_a_missing_vector_leave_nothing(index: IndexStore) -> None:
    put(index, 3, ["a"])
    builds = [
        SmallBuild(X, claim(3), tuple(chunks_of(["a"]))),
        SmallBuild(Y, claim(4), tuple(chunks_of(["none"]))),
    ]

    with pytest.raises(VectorsMissing) as refusal:
        index.write_small(BASE, SPACE, builds)

    assert refusal.value.hashes == {text_hash("none")}
    assert standing(index) == set()


def test_chunks_come_in_order_after_an_ordinal(index: IndexStore) -> None:
    write(index, X, 1, [f"t{number}" for number in range(10)])

    page = index.chunks(BASE, X, claim(1), after=3, limit=4)

    assert [one.chunk.ordinal for one in page] == [4, 5, 6, 7]


# ----------------------------------------------------------------------------- removing


def test_drop_before_reaches_smaller_numbers_only(index: IndexStore) -> None:
    for number in (3, 5, 8):
        write(index, X, number, [f"number {number}"])
    write(index, Y, 1, ["of another item"])

    index.drop_before(BASE, [(X, claim(5))], live=[])

    assert standing(index) == {(X, 5), (X, 8), (Y, 1)}


def test_remove_takes_exactly_the_given_pairs(index: IndexStore) -> None:
    for item in (X, Y):
        for number in (1, 2):
            write(index, item, number, [f"{item} {number}"])

    index.remove(BASE, [(X, claim(1)), (Y, claim(2)), (Z, claim(9))], live=[])

    assert standing(index) == {(X, 2), (Y, 1)}


def test_remove_items_goes_on_until_nothing_is_left(index: IndexStore) -> None:
    for number in (1, 2):
        write(index, X, number, [f"x {number} {n}" for n in range(20)])
    write(index, Y, 1, ["stays"])

    while not index.remove_items(BASE, [X, Z], live=[]):
        pass

    assert standing(index) == {(Y, 1)}
    assert index.remove_items(BASE, [X], live=[])
    assert not has_vector(index, "x 1 0")


def test_a_vector_goes_with_the_last_chunk_that_names_it(index: IndexStore) -> None:
    write(index, X, 1, ["shared", "of x"])
    write(index, Y, 2, ["shared"])

    index.remove(BASE, [(X, claim(1))], live=[])
    assert has_vector(index, "shared")
    assert not has_vector(index, "of x")

    index.remove(BASE, [(Y, claim(2))], live=[])
    assert not has_vector(index, "shared")


def test_a_living_claim_keeps_its_lone_vectors(index: IndexStore) -> None:
    write(index, X, 1, ["text"])
    put(index, 2, ["being written"])

    index.remove(BASE, [(X, claim(1))], live=[claim(2)])

    assert has_vector(index, "being written")
    assert not has_vector(index, "text")


def test_a_dead_claim_s_lone_vectors_are_collected_with_the_next_removal(index: IndexStore) -> None:
    write(index, X, 1, ["text"])
    put(index, 2, ["never written"])

    index.drop_before(BASE, [(X, claim(1))], live=[])

    assert not has_vector(index, "never written")
    assert has_vector(index, "text")


def test_a_vector_put_again_belongs_to_the_later_claim(index: IndexStore) -> None:
    write(index, X, 1, ["text"])
    put(index, 2, ["text"])

    index.remove(BASE, [(X, claim(1))], live=[claim(2)])
    assert has_vector(index, "text")

    index.remove(BASE, [], live=[])
    assert not has_vector(index, "text")


def test_a_vector_put_again_is_the_newest_one(index: IndexStore) -> None:
    write(index, X, 1, ["text"])
    other = vector_of("something else")

    index.put_vectors(BASE, SPACE, claim(2), [text_hash("text")], other[np.newaxis])

    with index.snapshot(BASE) as snapshot:
        (hit,) = snapshot.vector(SPACE, other, 1)
    assert hit.score == pytest.approx(1, abs=0.01)


def test_a_vector_kept_by_a_claim_is_named_by_the_next_append(index: IndexStore) -> None:
    write(index, X, 1, ["text"])
    index.remove(BASE, [(X, claim(1))], live=[claim(1)])

    index.begin(BASE, Y, claim(2))
    index.append(BASE, Y, claim(2), SPACE, chunks_of(["text"]))
    index.seal(BASE, Y, claim(2))
    index.remove(BASE, [], live=[])

    assert nearest(index, "text") == ["text"]


def test_nothing_is_removed_while_a_backup_holds(index: IndexStore) -> None:
    write(index, X, 1, ["old"])
    write(index, X, 2, ["new"])

    with index.hold():
        index.drop_before(BASE, [(X, claim(2))], live=[])
        index.remove(BASE, [(X, claim(1))], live=[])
        with pytest.raises(Transient):
            index.remove_items(BASE, [X], live=[])
        with pytest.raises(Transient):
            index.drop(BASE)

    assert standing(index) == {(X, 1), (X, 2)}
    assert index.remove_items(BASE, [X], live=[])


# ----------------------------------------------------------------------------- vectors


def test_equal_texts_share_one_vector(index: IndexStore) -> None:
    put(index, 1, ["same"])

    for item in (X, Y):
        index.begin(BASE, item, claim(1))
        index.append(BASE, item, claim(1), SPACE, chunks_of(["same", "same"]))
        index.seal(BASE, item, claim(1))

    assert nearest(index, "same") == ["same"] * 4


def test_missing_names_the_texts_without_a_vector(index: IndexStore) -> None:
    put(index, 1, ["a", "b"])
    hashes = [text_hash(text) for text in ("a", "b", "c", "c")]

    assert index.missing(BASE, SPACE, hashes) == {text_hash("c")}
    assert index.missing(BASE, SPACE + 1, hashes) == set(hashes)
    assert index.missing(BASE, SPACE, []) == set()


def test_vectors_of_another_width_are_refused(index: IndexStore) -> None:
    put(index, 1, ["a"])
    wide = np.ones((1, WIDTH + 1), dtype=np.float32)

    with pytest.raises(Permanent) as refusal:
        index.put_vectors(BASE, SPACE, claim(1), [text_hash("b")], wide)

    assert refusal.value.code == "bad_vectors"
    assert not has_vector(index, "b")


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_vectors_that_are_no_directions_are_refused(index: IndexStore, bad: float) -> None:
    rows = np.full((1, WIDTH), bad, dtype=np.float32)

    with pytest.raises(Permanent):
        index.put_vectors(BASE, SPACE, claim(1), [text_hash("b")], rows)


def test_a_space_filled_after_the_chunks_answers(index: IndexStore) -> None:
    write(index, X, 1, ["a", "b"])
    rows = np.stack([vector_of("b"), vector_of("a")])
    index.put_vectors(BASE, 2, claim(2), [text_hash("a"), text_hash("b")], rows)

    with index.snapshot(BASE) as snapshot:
        (hit,) = snapshot.vector(2, vector_of("b"), 1)
        assert snapshot.load([hit.chunk_id])[hit.chunk_id].chunk.text == "a"


def test_the_old_space_answers_while_the_new_one_is_filled(index: IndexStore) -> None:
    write(index, X, 1, ["a", "b"])
    with index.snapshot(BASE) as snapshot:
        assert snapshot.vector(2, vector_of("a", 8), 5) == []

    for text in ("a", "b"):
        rows = vector_of(text, 8)[np.newaxis]
        index.put_vectors(BASE, 2, claim(2), [text_hash(text)], rows)
        assert nearest(index, text, k=1) == [text]

    with index.snapshot(BASE) as snapshot:
        assert len(snapshot.vector(2, vector_of("a", 8), 5)) == 2


# ------------------------------------------------------------------------------ search


def test_only_sealed_builds_are_candidates(index: IndexStore) -> None:
    write(index, X, 1, ["common sealed"])
    unsealed(index, Y, 2, ["common unsealed"])

    assert found(index, "common") == ["common sealed"]
    assert nearest(index, "common unsealed") == ["common sealed"]


def test_a_candidate_says_item_and_build(index: IndexStore) -> None:
    write(index, X, 4, ["needle"])

    with index.snapshot(BASE) as snapshot:
        (by_word,) = snapshot.keyword("needle", 5)
        (by_vector,) = snapshot.vector(SPACE, vector_of("needle"), 5)

    assert (by_word.item_id, by_word.build) == (X, 4)
    assert by_vector.chunk_id == by_word.chunk_id
    assert by_vector.score == pytest.approx(1, abs=0.01)


def test_the_nearest_come_first_and_only_k(index: IndexStore) -> None:
    texts = [f"text {number}" for number in range(300)]
    write(index, X, 1, texts)
    want = sorted(texts, key=lambda text: -float(vector_of(text) @ vector_of("text 7")))

    assert nearest(index, "text 7", k=5) == want[:5]
    assert nearest(index, "text 7", k=0) == []


def test_more_of_the_words_rank_higher(index: IndexStore) -> None:
    write(index, X, 1, ["red fox", "red dog", "a red and quick brown fox", "nothing here"])

    assert set(found(index, "quick red fox")) == {"red fox", "red dog", "a red and quick brown fox"}
    assert found(index, "quick red fox")[0] == "a red and quick brown fox"
    assert found(index, "quick red fox")[-1] == "red dog"


def test_masked_items_are_left_out(index: IndexStore) -> None:
    write(index, X, 1, ["word one"])
    write(index, Y, 1, ["word two"])

    assert found(index, "word", masked=[X]) == ["word two"]
    assert nearest(index, "word one", masked=[X]) == ["word two"]


def test_within_looks_at_these_items_only_and_fills_k(index: IndexStore) -> None:
    write(index, X, 1, [f"word {number}" for number in range(200)])
    write(index, Y, 1, [f"word filler filler {number}" for number in range(10)])

    assert len(found(index, "word", k=7, within=[Y])) == 7
    assert all("filler" in text for text in found(index, "word", k=7, within=[Y, Z]))
    assert len(nearest(index, "word 5", k=7, within=[Y])) == 7
    assert found(index, "word", within=[]) == []
    assert nearest(index, "word 1", within=[]) == []
    assert found(index, "word", masked=[Y], within=[Y]) == []


def test_a_snapshot_does_not_see_later_writes(index: IndexStore) -> None:
    write(index, X, 1, ["word before"])

    with index.snapshot(BASE) as snapshot:
        write(index, Y, 2, ["word after"])
        index.remove(BASE, [(X, claim(1))], live=[])
        by_word = snapshot.keyword("word", 10)
        by_vector = snapshot.vector(SPACE, vector_of("word after"), 10)
        loaded = snapshot.load([one.chunk_id for one in by_word])

    assert [one.chunk.text for one in loaded.values()] == ["word before"]
    assert by_word[0].chunk_id == by_vector[0].chunk_id
    assert len(by_vector) == 1
    assert found(index, "word") == ["word after"]
    assert nearest(index, "word before") == ["word after"]


def test_an_older_snapshot_stays_right_when_a_newer_one_was_asked(index: IndexStore) -> None:
    write(index, X, 1, ["word one", "word two"])

    with index.snapshot(BASE) as older:
        older.keyword("word", 1)
        index.remove(BASE, [(X, claim(1))], live=[])
        write(index, Y, 2, ["word three"])
        assert nearest(index, "word one") == ["word three"]
        again = older.vector(SPACE, vector_of("word one"), 5)

    assert {one.item_id for one in again} == {X}
    assert len(again) == 2


def test_load_leaves_out_what_is_gone(index: IndexStore) -> None:
    write(index, X, 1, ["a"])

    with index.snapshot(BASE) as snapshot:
        (hit,) = snapshot.keyword("a", 1)
        assert set(snapshot.load([hit.chunk_id, 10**9])) == {hit.chunk_id}


def test_ids_are_not_given_twice(index: IndexStore) -> None:
    write(index, X, 1, ["a"])
    with index.snapshot(BASE) as snapshot:
        (old,) = snapshot.keyword("a", 1)
    index.remove(BASE, [(X, claim(1))], live=[])
    write(index, Y, 2, ["b"])

    with index.snapshot(BASE) as snapshot:
        assert snapshot.load([old.chunk_id]) == {}


def test_around_gives_the_neighbours_of_the_same_build(index: IndexStore) -> None:
    write(index, X, 1, [f"old {number}" for number in range(9)])
    write(index, X, 2, [f"new {number}" for number in range(9)])

    with index.snapshot(BASE) as snapshot:
        hit = next(iter(snapshot.vector(SPACE, vector_of("new 1"), 1)))
        stored = snapshot.load([hit.chunk_id])[hit.chunk_id]
        texts = [one.chunk.text for one in snapshot.around(stored, 2)]

    assert texts == ["new 0", "new 2", "new 3"]


# ----------------------------------------------------------------------- words of all scripts


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("国", "我在中国"),
        ("我", "我在中国"),
        ("中国", "我在中国"),
        ("在中国", "我在中国"),
        ("我在中国", "我在中国"),
        ("iPhone", "新款iPhone手机发布"),
        ("手机", "新款iPhone手机发布"),
        ("iphone 手机", "新款iPhone手机发布"),
        ("東京", "東京タワーへ行く"),
        ("タワー", "東京タワーへ行く"),
        ("ﾀﾜｰ", "東京タワーへ行く"),
        ("서울", "서울에서 만나요"),
        ("만나", "서울에서 만나요"),
        ("𠮷野", "𠮷野家の牛丼"),
        ("strasse", "Lange Straße"),
        ("STRASSE", "Lange Straße"),
        ("cafe", "Café au lait"),
        ("CAFÉ", "un cafe\u0301"),
        ("हिन्दी", "यह हिन्दी है"),
        ("ไทย", "ภาษาไทยง่าย"),
        ("x86_64", "for x86_64 only"),
        ("don't", "don't panic"),
        ("42", "the answer is 42."),
        ("naïve OR", "a naive approach"),
    ],
)
def test_a_word_is_found_in_its_script(index: IndexStore, query: str, text: str) -> None:
    write(index, X, 1, [text, "something else entirely", "别的东西"])

    assert found(index, query)[:1] == [text]


def test_a_short_run_is_a_phrase(index: IndexStore) -> None:
    write(index, X, 1, ["中国人民", "人民。中国", "在中，国人"])

    assert found(index, "国人民") == ["中国人民"]
    assert set(found(index, "中国")) == {"中国人民", "人民。中国"}


def test_a_sentence_is_found_by_its_parts(index: IndexStore) -> None:
    write(index, X, 1, ["北京大学的校长是王老师", "天气很好，我们去公园", "上海大学"])

    assert found(index, "请问北京大学的校长是谁？")[0] == "北京大学的校长是王老师"


ODD = ["", " ", "*", "a*", "NEAR(", "AND", "OR NOT", "a:b", "^a", "(", "-", "{a b}:c", "\x00", "+"]
QUOTES = ['"', "'", "\\", "%_", "a + b", "col:中", "a\x00b", "中\x00国", "\ud800", "😀"]
LONG = ["x" * 5_000, "字" * 5_000]


@pytest.mark.parametrize("query", [*ODD, *QUOTES, *LONG], ids=lambda query: ascii(query[:9]))
def test_odd_strings_are_fine(index: IndexStore, query: str) -> None:
    write(index, X, 1, ["a b c", "中国"])

    assert set(found(index, query)) <= {"a b c", "中国"}


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(query=st.text(max_size=60))
def test_any_string_may_be_asked_for(index: IndexStore, query: str) -> None:
    if not index.builds(BASE):
        write(index, X, 1, ["some text", "中文"])

    found(index, query)


@pytest.mark.parametrize("text", ["a\x00b", "lone \ud800 half", "", " ", "\ufffe", "😀", "'\"\\"])
def test_any_text_is_kept_as_it_is(index: IndexStore, text: str) -> None:
    write(index, X, 1, [text, "beside"])

    assert [one.chunk.text for one in index.chunks(BASE, X, claim(1), -1, 9)] == [text, "beside"]
    assert nearest(index, text, k=1) == [text]


# -------------------------------------------------------------------------------- bases


def test_create_and_drop_may_be_called_again(index: IndexStore) -> None:
    write(index, X, 1, ["kept"])

    index.create(BASE)
    assert found(index, "kept") == ["kept"]

    index.drop(BASE)
    index.drop(BASE)
    assert index.bases() == []


def test_a_dropped_index_comes_back_empty(index: IndexStore) -> None:
    write(index, X, 1, ["gone"])
    index.drop(BASE)
    index.create(BASE)

    assert found(index, "gone") == []
    assert not has_vector(index, "gone")


def test_bases_lists_those_that_have_an_index(index: IndexStore) -> None:
    index.create(OTHER)

    assert sorted(index.bases()) == [BASE, OTHER]


def test_another_base_is_never_seen(index: IndexStore) -> None:
    index.create(OTHER)
    write(index, X, 1, ["mine"])
    write(index, X, 1, ["theirs"], base=OTHER)

    assert nearest(index, "theirs") == ["mine"]
    assert found(index, "theirs") == []
    assert not has_vector(index, "theirs")
    index.remove_items(BASE, [X], live=[])
    assert found(index, "theirs", base=OTHER) == ["theirs"]


def test_a_missing_index_is_said_when_it_is_needed(index: IndexStore) -> None:
    rows = vector_of("a")[np.newaxis]

    with pytest.raises(IndexMissing):
        index.missing(OTHER, SPACE, [text_hash("a")])
    with pytest.raises(IndexMissing):
        index.put_vectors(OTHER, SPACE, claim(1), [text_hash("a")], rows)
    with pytest.raises(IndexMissing):
        index.begin(OTHER, X, claim(1))
    with pytest.raises(IndexMissing):
        index.append(OTHER, X, claim(1), SPACE, chunks_of(["a"]))
    with pytest.raises(IndexMissing):
        index.seal(OTHER, X, claim(1))
    with pytest.raises(IndexMissing):
        index.write_small(OTHER, SPACE, [SmallBuild(X, claim(1), ())])
    with pytest.raises(IndexMissing), index.snapshot(OTHER):
        pass
    assert index.bases() == [BASE]


def test_removing_from_a_missing_index_succeeds(index: IndexStore) -> None:
    index.drop_before(OTHER, [(X, claim(1))], live=[])
    index.remove(OTHER, [(X, claim(1))], live=[])

    assert index.remove_items(OTHER, [X], live=[])
    assert index.builds(OTHER) == []
    assert index.seals(OTHER, [(X, claim(1))]) == {}
    assert index.purge(OTHER)
    assert index.bases() == [BASE]


def test_a_sound_index_has_nothing_to_say(index: IndexStore) -> None:
    write(index, X, 1, ["one", "two", "中国"])
    unsealed(index, Y, 2, ["three"])
    write(index, X, 3, ["one"])
    index.drop_before(BASE, [(X, claim(3))], live=[])

    while not index.purge(BASE):
        pass

    assert index.verify(BASE) == []
    assert nearest(index, "one") == ["one"]
    assert found(index, "two") == []


def test_many_items_and_many_rounds_leave_what_was_written_last(index: IndexStore) -> None:
    items = [ItemId(f"item-{number}") for number in range(8)]
    for number in range(1, 6):
        for item in items:
            write(index, item, number, [f"{item} round {number} part {p}" for p in range(4)])
            index.drop_before(BASE, [(item, claim(number))], live=[])

    assert len(found(index, "round", k=100)) == 32
    assert set(found(index, "round", k=100)) == set(nearest(index, "x", k=100))
    assert index.verify(BASE) == []
