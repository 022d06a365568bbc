"""What a reranker changes in an answer, and what it never holds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.domain.answers import SearchAnswer
from holdfast.domain.bases import Base
from holdfast.domain.errors import InvalidInput, Permanent, Transient
from tests.workflow.worlds import Overlap, World

NEAR = "old lamp in the hall"
BETTER = "how the old lamp hums at night in the hall"
QUERY = "old lamp hums at night"


@pytest.fixture
def read(world: World) -> Base:
    """A base whose passages are read once more; BETTER is not what its vectors put first."""
    base = world.hf.create_base("read", embedding_model="hash/32", rerank_model="test/overlap")
    for text in (NEAR, BETTER, *(f"lamp lamp number {n}" for n in range(20))):
        world.note(text, base=base)
    world.drain()
    return base


def ask(world: World, base: Base, **more: Any) -> SearchAnswer:
    return world.hf.search(QUERY, bases=[base], **more)


def test_the_reranker_has_the_last_word_on_the_order(world: World, read: Base) -> None:
    answer = ask(world, read, top_k=2)

    assert [hit.content for hit in answer.hits] == [BETTER, NEAR]
    assert [(hit.score, hit.score_kind) for hit in answer.hits] == [
        (5, "relevance"),
        (2, "relevance"),
    ]
    assert not answer.warnings


def test_it_reads_all_candidates_once_and_equal_texts_once(world: World, read: Base) -> None:
    world.note(BETTER, base=read)
    world.drain()

    (best,) = ask(world, read, top_k=1, mode="keyword").hits

    (sent,) = world.reranker.calls
    assert len(sent) == len(set(sent)) == 4  # of five candidates
    assert len(best.also) == 1


def test_a_threshold_holds_for_its_scores(world: World, read: Base) -> None:
    assert [hit.content for hit in ask(world, read, threshold=3).hits] == [BETTER]


def refusing(error: Exception) -> Any:
    def refuse(_texts: Sequence[str]) -> None:
        raise error

    return refuse


@pytest.mark.parametrize("error", [Transient("it is down"), Permanent("no such model")])
def test_a_reranker_that_fails_leaves_the_order_and_a_warning(
    world: World, read: Base, error: Exception
) -> None:
    plain = ask(world, read, rerank=False)
    world.reranker.on_call = refusing(error)

    answer = ask(world, read)

    assert passages(answer) == passages(plain)
    assert {hit.score_kind for hit in answer.hits} == {"ranking"}
    assert "not reranked" in answer.warnings[0]


@pytest.mark.parametrize("scores", [[1.0], [float("nan")] * 22, ["high"] * 22])
def test_scores_that_make_no_sense_are_not_used(
    world: World, read: Base, scores: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ask(world, read, rerank=False)
    monkeypatch.setattr(Overlap, "rerank", lambda *_: scores)

    answer = ask(world, read)

    assert passages(answer) == passages(plain)
    assert "not reranked" in answer.warnings[0]


def test_a_question_may_do_without_and_says_when_there_is_none(world: World, read: Base) -> None:
    assert not ask(world, read, rerank=False).warnings
    assert not world.reranker.calls

    assert "no rerank_model" in ask(world, world.base, rerank=True).warnings[0]


def test_what_is_deleted_during_a_slow_rerank_is_not_in_the_answer(
    world: World, read: Base
) -> None:
    best = ask(world, read).hits[0]
    world.reranker.on_call = lambda _texts: void(world.hf.delete([best.item_id]))

    answer = ask(world, read)

    assert best.item_id not in {hit.item_id for hit in answer.hits}
    assert answer.hits[0].content == NEAR


def test_a_base_of_a_reranker_nobody_knows_is_refused(world: World, read: Base) -> None:
    with pytest.raises(InvalidInput, match="test"):
        world.hf.create_base("other", rerank_model="nobody/knows")
    with pytest.raises(InvalidInput, match="nobody/knows"):
        world.hf.update_base(read, rerank_model="nobody/knows")


def passages(answer: SearchAnswer) -> list[str]:
    return [hit.chunk_id for hit in answer.hits]


def void(_: object) -> None:
    """An answer nobody needs."""
