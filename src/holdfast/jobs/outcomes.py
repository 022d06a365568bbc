"""How does a run end that did not reach its own end? One place decides by the error's class."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.errors import HoldfastError, ProviderDown, ProviderPaused, Superseded
from holdfast.domain.events import stored
from holdfast.domain.retries import LONGEST_DELAY, TryAgain, after_failure, delete_backoff
from holdfast.jobs.run import Cancelled, Run, Stopping
from holdfast.ports import Clock, Rng
from holdfast.stores.catalog import Trouble
from holdfast.stores.main import MainStore, Transaction


class LaterPlease(Exception):
    """The run asks to be continued after a while; no attempt is counted."""

    def __init__(self, delay: float, reason: str) -> None:
        super().__init__(reason)
        self.delay, self.reason = delay, reason


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Writes the end of a run; may be called again, late calls find no row."""

    main: MainStore
    clock: Clock
    rng: Rng

    def failed(self, run: Run, error: BaseException, *, endless: bool = False) -> None:
        with self.main.write() as tx:
            if isinstance(error, Superseded):
                tx.finish([run.fence], reason="superseded")
            elif isinstance(error, Cancelled):
                # ends below if the row says so; else the wish was undone with its transaction
                tx.give_back(run.fence, None, "not cancelled after all", counts=False, trouble=None)
            elif isinstance(error, Stopping):
                tx.give_back(run.fence, None, "stopped", counts=False, trouble=None)
            elif isinstance(error, LaterPlease):
                at = self._at(error.delay)
                tx.give_back(run.fence, at, error.reason, counts=False, trouble=None)
            else:
                self._by_class(tx, run, error, endless=endless)
            tx.end_cancelled(run.fence)  # told to stop while it failed: then this is its end

    def _by_class(self, tx: Transaction, run: Run, error: BaseException, *, endless: bool) -> None:
        trouble = trouble_of(error)
        decision = (
            TryAgain(delete_backoff(run.job.attempt), counts=True, reason="delete_stuck")
            if endless
            else after_failure(_known(error), run.job.attempt, self.rng.random())
        )
        if isinstance(error, ProviderDown) and not isinstance(error, ProviderPaused):
            tx.pause_provider(error.provider, self._at(LONGEST_DELAY), str(error), failed=True)
        if isinstance(decision, TryAgain):
            at = self._at(decision.delay)
            tx.give_back(run.fence, at, decision.reason, decision.counts, trouble)
        else:
            tx.condemn(run.fence, trouble)

    def _at(self, delay: float) -> int:
        return stored(self.clock.wall() + delay)


def trouble_of(error: BaseException) -> Trouble:
    """Code, sentence and advice of any error; what is not ours is a defect and says so."""
    if isinstance(error, HoldfastError):
        return error.code, str(error), error.advice
    unknown = HoldfastError(f"{type(error).__name__}: {error}", code="internal")
    return unknown.code, str(unknown), unknown.advice


def _known(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(repr(error))
