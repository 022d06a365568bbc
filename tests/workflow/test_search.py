"""What a search shows, and what it never shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from holdfast.domain.answers import Question, SearchAnswer
from holdfast.domain.errors import InvalidInput, Transient
from holdfast.domain.filters import parsed
from holdfast.domain.items import Note
from holdfast.workflow.search import search
from tests.workflow.worlds import Tapped, World


def ask(world: World, query: str, **more: Any) -> SearchAnswer:
    return search(world.engine.kb, Question(query, (world.base.id,), **more))


def texts(answer: SearchAnswer) -> list[str]:
    return [hit.content for hit in answer.hits]


def test_a_hit_says_where_it_stands_and_what_was_found(world: World) -> None:
    item = world.done_note("The lamp hums at night. Nobody minds.")

    (hit,) = ask(world, "LAMP", mode="keyword").hits

    assert (hit.item_id, hit.rank, hit.score_kind, hit.stale) == (item.id, 1, "ranking", False)
    assert [hit.content[start:end] for start, end in hit.highlights] == ["lamp"]


def test_equal_texts_are_one_hit_that_names_the_other_items(world: World) -> None:
    first, second, other = world.notes("same words", "same words", "other words")
    world.drain()

    answer = ask(world, "words")

    assert sorted(texts(answer)) == ["other words", "same words"]
    (same,) = [hit for hit in answer.hits if hit.content == "same words"]
    assert {same.item_id, *same.also} == {first.id, second.id}
    assert other.id not in same.also
    assert [hit.rank for hit in answer.hits] == [1, 2]


def test_equal_texts_do_not_crowd_out_the_others(world: World) -> None:
    world.notes(*["lamp lamp lamp"] * 40, "one lamp", "a lamp")
    world.drain()

    assert len(texts(ask(world, "lamp", top_k=3, mode="keyword"))) == 3


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_a_filter_is_asked_before_the_ranking(world: World, mode: str) -> None:
    many = [Note(f"lamp lamp number {n}", attributes={"n": n}) for n in range(60)]
    world.hf.add(world.base, [*many, Note("lamp, once", attributes={"kept": True})])
    world.drain()
    wanted = parsed({"attributes": {"type": "eq", "key": "kept", "value": True}})

    assert texts(ask(world, "lamp", mode=mode, filter=wanted, top_k=1)) == ["lamp, once"]


def test_a_filter_that_nothing_passes_finds_nothing(world: World) -> None:
    world.done_note()

    assert texts(ask(world, "lamp", filter=parsed({"types": ["url"]}))) == []


def test_a_threshold_cuts_relevance_and_says_when_there_is_none(world: World) -> None:
    world.notes("the lamp hums", "entirely unrelated matters")
    world.drain()

    near = ask(world, "the lamp hums", mode="vector", threshold=0.9)
    ranked = ask(world, "the lamp hums", mode="keyword", threshold=0.9)

    assert texts(near) == ["the lamp hums"]
    assert near.hits[0].score_kind == "relevance"
    assert near.hits[0].score == pytest.approx(1, abs=0.01)
    assert (len(near.warnings), len(ranked.warnings)) == (0, 1)


def test_neighbors_are_the_passages_around_in_order(world: World) -> None:
    paragraphs = [f"Paragraph {n} speaks of {'words ' * 60}and key{n}key." for n in range(9)]
    base = world.hf.create_base("small", chunk_size=64, chunk_overlap=0)
    item = world.note("\n\n".join(paragraphs), base=base)
    world.drain()
    every = world.hf.chunks(item, limit=100).items

    question = Question("key4key", (base.id,), mode="keyword", neighbors=2)
    hit = search(world.engine.kb, question).hits[0]

    at = next(one.ordinal for one in every if one.id == hit.chunk_id)
    assert [one.ordinal for one in hit.neighbors] == [at - 2, at - 1, at + 1, at + 2]
    assert [one.content for one in hit.neighbors] == [
        one.content for one in every if 0 < abs(one.ordinal - at) <= 2
    ]


@pytest.mark.parametrize("wrong", [{"neighbors": -1}, {"neighbors": 99}, {"threshold": "high"}])
def test_what_makes_no_sense_is_refused(world: World, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ask(world, "lamp", **wrong)


def test_bases_are_merged_by_rank_and_numbered_anew(world: World) -> None:
    other = world.hf.create_base("other", embedding_model=None)
    world.note("lamp one")
    world.note("lamp two", base=other)
    world.drain()

    hits = search(world.engine.kb, Question("lamp", (world.base.id, other.id))).hits

    assert [(hit.base_id, hit.rank) for hit in hits] == [(world.base.id, 1), (other.id, 2)]


def test_a_model_that_is_down_leaves_the_words(world: World) -> None:
    world.done_note()

    def down(_texts: object) -> None:
        raise Transient("the model is down")

    world.models.on_call = down

    answer = ask(world, "lamp", mode="hybrid")

    assert texts(answer) == ["The lamp hums at night."]
    assert "down" in answer.warnings[0]
    with pytest.raises(Transient):
        ask(world, "lamp", mode="vector")


# --------------------------------------------------------------------------- while others write


@contextmanager
def after_the_snapshot(world: World, *acts: Any) -> Iterator[None]:
    """Each act happens once, right after a search has opened the index and before it looks."""
    kb, left = world.engine.kb, list(acts)

    @contextmanager
    def snapshot(base: Any) -> Iterator[Any]:
        with kb.index.snapshot(base) as inner:
            if left:
                left.pop(0)()
            yield inner

    tapped = mock.Mock(wraps=kb.index, snapshot=snapshot)
    world.engine.kb = replace(kb, index=tapped)
    yield
    world.engine.kb = kb


def rewrite(world: World, item: Any, text: str) -> Any:
    def act() -> None:
        world.hf.update(item, content=text)
        world.drain()

    return act


def test_a_newer_build_restarts_the_search(world: World) -> None:
    item = world.done_note("lamp, the first version")

    with after_the_snapshot(world, rewrite(world, item, "lamp, the second version")):
        answer = ask(world, "lamp")

    assert texts(answer) == ["lamp, the second version"]
    assert not answer.hits[0].stale


def test_a_search_overtaken_every_time_shows_one_older_text_as_stale(world: World) -> None:
    item = world.done_note("lamp 0")
    acts = [rewrite(world, item, f"lamp {n}") for n in range(1, 5)]

    with after_the_snapshot(world, *acts):
        answer = ask(world, "lamp")

    assert texts(answer) == ["lamp 3"]
    assert answer.hits[0].stale


def test_builds_that_a_backup_keeps_are_not_shown_and_cost_no_restart(world: World) -> None:
    item = world.done_note("lamp, old and buzzing")

    with world.engine.kb.index.hold():
        world.hf.update(item, content="lamp, new")
        world.drain()
        assert len(world.engine.kb.index.builds(world.base.id)) == 2

        assert texts(ask(world, "lamp")) == ["lamp, new"]
        assert texts(ask(world, "buzzing", mode="keyword")) == []


def test_a_build_that_answers_no_more_takes_no_place_in_the_ranking(world: World) -> None:
    """Else an item that is written again and again sinks below what fits worse."""
    item = world.done_note("lamp, old and buzzing, lamp")
    world.done_note("lamp, another")

    with world.engine.kb.index.hold():
        world.hf.update(item, content="lamp, new, lamp")
        world.drain()
        beside = ask(world, "lamp", mode="hybrid")
    world.sweep()
    assert len(world.engine.kb.index.builds(world.base.id)) == 2

    alone = ask(world, "lamp", mode="hybrid")
    assert [(hit.content, hit.score) for hit in beside.hits] == [
        (hit.content, hit.score) for hit in alone.hits
    ]


def test_a_lane_full_of_older_builds_is_widened_though_the_other_has_enough(world: World) -> None:
    """The words must not be lost because vectors alone would fill the answer."""
    item = world.done_note("\n\n".join(f"lamp lamp lamp {n}" + f" old{n}" * 450 for n in range(12)))
    world.hf.add(world.base, [Note(f"heron {n}") for n in range(4)])
    world.drain()

    with world.engine.kb.index.hold():
        world.hf.update(item, content="A lamp that is new. " + "nothing " * 300)
        world.drain()
        settings = world.base.settings
        model = world.models.resolve(str(settings.embedding_model), settings.dimensions or 0)

        asked = model.embed(["heron 1"])
        with mock.patch.object(Tapped, "embed_query", return_value=asked):
            hits = ask(world, "lamp", mode="hybrid", top_k=2).hits

    assert item.id in {hit.item_id for hit in hits}


def test_what_is_deleted_while_a_search_looks_is_not_in_its_answer(world: World) -> None:
    item = world.done_note("lamp, going")
    world.done_note("lamp, staying")

    with after_the_snapshot(world, lambda: world.hf.delete([item])):
        answer = ask(world, "lamp")

    assert texts(answer) == ["lamp, staying"]
