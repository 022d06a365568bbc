"""May a provider be asked, and is it there? Its row says so, and a fixed text asks.

    open --- 429, outage ---> paused until t --- t ---> one probe --- answer ---> open
                                    ^                       |
                                    +------ no answer ------+

The row is seen by the claim, which hands out no work of a paused provider and one run as its probe;
and by every run before every call, as runs were at work when the pause began. The probe sends a
fixed text and nothing else: it costs one call, and its vector tells whether the model that answers
is still the one that answered before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.bases import BaseStatus
from holdfast.domain.chunks import about_tokens
from holdfast.domain.errors import Permanent, ProviderPaused, Transient
from holdfast.domain.events import stored
from holdfast.domain.ids import BaseId
from holdfast.domain.retries import LONGEST_PROVIDER_PAUSE, RETRY_AFTER_CAP, SLOT_PATIENCE
from holdfast.stages.embedding.checks import checked
from holdfast.stores.queue import ProviderRow
from holdfast.workflow.oven import Oven
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIXED_TEXT = "Are you there, and still the one you were?"
ALIKE = 0.999  # cosine of two vectors of one text by one model; another one is far below


def admit(oven: Oven) -> bool:
    """Returns when this run may call; was it the probe? ProviderPaused when the wait is long."""
    row = _row(oven.kb, oven.provider)
    if row is not None and 0 < (left := _left(oven.kb, row)) <= SLOT_PATIENCE:
        oven.token.cancelled.wait(left)
        oven.token.check()
        row = _row(oven.kb, oven.provider)
    if row is None or row.paused_until is None:
        return False
    if (left := _left(oven.kb, row)) > 0:
        raise ProviderPaused(row.reason or "it is paused", provider=row.name, retry_after=left)
    if row.failures:
        _probe(oven, row)
    return bool(row.failures)


def acquainted(oven: Oven) -> None:
    """Once in a process and base: the model is the one this base was embedded with."""
    if oven.embedder.steady or _place(oven) in oven.kb.kitchen.known:
        return
    admit(oven)
    if _place(oven) not in oven.kb.kitchen.known:
        ask(oven)


def ask(oven: Oven) -> None:
    """The provider answers the fixed text as it did before; else it is paused, or the base fails.

    An unusable vector is an answer too: the texts it was asked for will say what is wrong with it.
    """
    oven.token.check()
    oven.kb.kitchen.count(oven.provider, about_tokens(FIXED_TEXT))
    oven.spent.calls += 1
    try:
        answer = oven.embedder.embed([FIXED_TEXT])
        vector = checked(answer, 1, oven.embedder.width)[0]
    except Transient as error:
        raise paused(oven, error) from error
    except Permanent:
        return
    _compare(oven, vector)


def paused(oven: Oven, error: Transient) -> ProviderPaused:
    """The provider is left alone for a while, by everyone; to be raised by who found out."""
    interval = oven.kb.settings.provider_probe_interval
    longest = max(interval, RETRY_AFTER_CAP)
    delay = interval if error.retry_after is None else min(longest, error.retry_after)
    return _write_pause(oven, delay, str(error), failed=True)


def full(oven: Oven, seconds: float) -> ProviderPaused:
    """Our own limits admit no call for so long; nobody has to look before the next one."""
    said = f"the limits of {oven.provider} admit no call for {seconds:.0f} s"
    return _write_pause(oven, seconds, said, failed=False)


def row_of(kb: Workbench, provider: str) -> ProviderRow | None:
    """What stands in the way of asking this provider now; None when nothing does."""
    row = _row(kb, provider)
    if row is None or row.paused_until is None:
        return None
    return row if row.failures or _left(kb, row) > 0 else None


def _write_pause(oven: Oven, delay: float, reason: str, *, failed: bool) -> ProviderPaused:
    kb, provider = oven.kb, oven.provider
    with kb.main.write() as tx:
        tx.pause_provider(provider, stored(kb.clock.wall() + delay), reason, failed=failed)
    return ProviderPaused(reason, provider=provider, retry_after=delay)


def _probe(oven: Oven, row: ProviderRow) -> None:
    with oven.kb.main.write() as tx:
        ours = tx.take_probe(row.name, oven.claim)
    if not ours:
        interval = oven.kb.settings.provider_probe_interval
        raise ProviderPaused(row.reason or "it is paused", provider=row.name, retry_after=interval)
    ask(oven)
    with oven.kb.main.write() as tx:
        tx.open_provider(row.name)


def _compare(oven: Oven, vector: NDArray[np.float32]) -> None:
    """The first answer is kept; a later one that differs ends the use of this base."""
    base, space = _place(oven)
    unit = _unit(vector)
    with oven.kb.main.read() as snapshot:
        kept = snapshot.fingerprint(base, space)
    if kept is None:
        with oven.kb.main.write() as tx:
            tx.keep_fingerprint(base, space, unit.astype("<f4").tobytes())
    elif not _alike(kept, unit):
        _fail_base(oven)
    oven.kb.kitchen.known.add((base, space))


def _fail_base(oven: Oven) -> None:
    with oven.kb.main.write() as tx:
        tx.set_base_state(oven.base.id, BaseStatus.FAILED, "model_changed")
    said = f"{oven.embedder.name} answers with other vectors than base {oven.base.name!r} has"
    raise ProviderPaused(said, provider=oven.provider, retry_after=RETRY_AFTER_CAP)


def _alike(kept: bytes, unit: NDArray[np.float32]) -> bool:
    import numpy as np

    before = np.frombuffer(kept, dtype="<f4")
    return before.shape == unit.shape and float(before @ unit) >= ALIKE


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _place(oven: Oven) -> tuple[BaseId, int]:
    return oven.base.id, oven.base.space


def _row(kb: Workbench, provider: str) -> ProviderRow | None:
    with kb.main.read() as snapshot:
        return next((one for one in snapshot.providers() if one.name == provider), None)


def _left(kb: Workbench, row: ProviderRow) -> float:
    """Seconds of pause that are left; none when the clock was set back behind it."""
    left = (row.paused_until or 0) / 1_000_000 - kb.clock.wall()
    return left if left <= LONGEST_PROVIDER_PAUSE else 0.0
