"""How does every text of a page get its vector, and none twice?

Only texts without a vector are sent, in batches that all runs share (workflow/kitchen.py); each
answer is checked and stored at once, so a crash pays for one batch. A failed batch is tried again
as that batch while waiting is cheap; beyond that the slot is given back and stored batches stay.

Whose fault is a batch without an answer? A fixed text decides (workflow/providers.py): when that is
not answered either, the provider is paused and nobody's tries are counted. When it is, the batch is
halved until the guilty text stands alone, as is one that is refused for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.domain.chunks import Chunk
from holdfast.domain.errors import (
    DiskFull,
    Permanent,
    ProviderDown,
    ProviderPaused,
    StageFailed,
    Transient,
)
from holdfast.domain.ids import BaseId, ClaimNo, TextHash
from holdfast.domain.retries import MAX_ATTEMPTS, SLOT_PATIENCE, backoff
from holdfast.stages.embedding.checks import checked
from holdfast.workflow.orders import Batch, Full, Order, Wish
from holdfast.workflow.oven import Oven, Spent, accounted
from holdfast.workflow.providers import acquainted, admit, ask, full, paused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Oven", "Spent", "accounted", "embed_missing"]

SHORT_PAUSES = 3  # waited for in the slot, before it is given back


class NoAnswer(Exception):
    """The model gave none, however often it was asked while waiting was cheap."""

    def __init__(self, error: Transient) -> None:
        super().__init__(str(error))
        self.error = error


def embed_missing(
    oven: Oven, chunks: Iterable[Chunk], *, force: bool = False, again: bool = False
) -> set[TextHash]:
    """Every text of these chunks has a vector, or stands in `spent.guilty`; those paid for.

    `again` when these chunks were counted before and only lost vectors are made anew.
    """
    texts = {chunk.hash: chunk.text for chunk in chunks}
    wanted = set(texts) if force else oven.kb.index.missing(oven.base.id, oven.base.space, texts)
    if not again:
        oven.spent.reused += len(texts) - len(wanted)
    if not wanted:
        return set()
    acquainted(oven)
    return _ordered(oven, {one: text for one, text in texts.items() if one in wanted})


def _ordered(oven: Oven, texts: Mapping[TextHash, str]) -> set[TextHash]:
    """Wait for these texts, calling for whoever waits longest meanwhile."""
    kitchen, order = oven.kb.kitchen, _order(oven, texts)
    kitchen.place(order, texts)
    pauses = 0
    try:
        while order.open:
            found = kitchen.next(order, oven.token.check)
            if isinstance(found, Full):
                raise full(oven, found.seconds)
            try:
                if found is not None:
                    _cook(oven, found)
            except ProviderPaused as pause:
                pauses += 1
                if pauses > SHORT_PAUSES or (pause.retry_after or 0.0) > SLOT_PATIENCE:
                    raise
            oven.pulse.batch((len(texts) - len(order.open)) / (len(texts) + 1))
    finally:
        kitchen.withdraw(order)
        oven.spent.guilty.update(order.guilty)
    return order.paid


def _order(oven: Oven, texts: Collection[TextHash]) -> Order:
    return Order(
        base=oven.base.id,
        space=oven.base.space,
        claim=oven.claim,
        jobs=frozenset(run.job.id for run in oven.pulse.runs),
        provider=oven.provider,
        embedder=oven.embedder,
        spent=oven.spent,
        open=set(texts),
    )


def _cook(oven: Oven, batch: Batch) -> None:
    """One shared batch; what has no answer in the end waits for somebody else."""
    try:
        probed = admit(oven)
        _bake(Baking(oven, batch, probed), batch.wishes, MAX_ATTEMPTS)
    finally:
        oven.kb.kitchen.put_back(batch)
        oven.kb.kitchen.leave(oven.provider)


@dataclass(frozen=True, slots=True)
class Baking:
    """A batch in the hands of the run that calls for it; has it just seen the provider answer?"""

    oven: Oven
    batch: Batch
    probed: bool


def _bake(baking: Baking, wishes: Sequence[Wish], tries: int) -> None:
    """These texts, stored; or the guilty ones among them told from the others."""
    try:
        vectors = _answer(baking.oven, wishes, tries)
    except Permanent as refusal:
        _halve(baking, wishes, refusal)
    except NoAnswer as none:
        _blame(baking, wishes, none.error)
    else:
        _store(baking.oven, wishes, vectors)
        baking.oven.kb.kitchen.answered(baking.batch, wishes)


def _halve(baking: Baking, wishes: Sequence[Wish], refusal: StageFailed) -> None:
    if len(wishes) == 1:
        baking.oven.kb.kitchen.refused(baking.batch, wishes[0], refusal)
        return
    middle = len(wishes) // 2
    for half in (wishes[:middle], wishes[middle:]):
        _bake(baking, half, 1)


def _blame(baking: Baking, wishes: Sequence[Wish], error: Transient) -> None:
    """The provider when it answers nobody; else these texts, whose tries are then counted."""
    oven = baking.oven
    down = isinstance(error, ProviderDown) and not baking.probed
    if down or error.retry_after is not None:
        raise paused(oven, error) from error
    if len(wishes) == 1 or not baking.probed:
        ask(oven)
    _halve(baking, wishes, Transient(str(error), code=error.code, advice=error.advice))


def _answer(oven: Oven, wishes: Sequence[Wish], tries: int) -> NDArray[np.float32]:
    """The model's checked answer, with a few tries as long as the waits are short."""
    texts, clock = [wish.text for wish in wishes], oven.kb.clock
    until = clock.mono() + SLOT_PATIENCE
    for attempt in range(1, tries + 1):
        oven.token.check()
        oven.spent.calls += 1
        try:
            answer = oven.embedder.embed(texts)
        except DiskFull:
            raise  # said of our disk, not of theirs
        except Transient as error:
            if isinstance(error, ProviderDown) or error.retry_after is not None:
                raise NoAnswer(error) from error
            if attempt == tries or clock.mono() > until:
                raise NoAnswer(error) from error
            oven.token.cancelled.wait(backoff(attempt - 1, oven.kb.rng.random()))
            admit(oven)
        else:
            return checked(answer, len(texts), oven.embedder.width)
    raise AssertionError("the last try returns or raises")


def _store(oven: Oven, wishes: Sequence[Wish], vectors: NDArray[np.float32]) -> None:
    """Each base of a shared batch gets its texts, under the claims of those that wait for them."""
    rows: dict[tuple[BaseId, int, ClaimNo], dict[TextHash, int]] = {}
    for row, wish in enumerate(wishes):
        base, space, one = wish.key
        rows.setdefault((base, space, wish.holder.claim), {})[one] = row
    for (base, space, claim), own in rows.items():
        with oven.kb.permits.writing.hold():
            oven.kb.index.put_vectors(base, space, claim, list(own), vectors[list(own.values())])
