"""When does deleted text leave the files? When nothing else is to be done, and soon in any case.

Deleting hides at once and removes rows and chunks within moments; their words may stay in free
pages, in segments of full text and in write-ahead logs until a purge. It works in slices of about
50 ms with pauses, so that others get their turn, and goes on after a restart: that it is due is
written in the stores.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.domain.ids import BaseId
from holdfast.workflow.overview import is_going_on
from holdfast.workflow.workbench import Workbench

BETWEEN_SLICES = 0.05
UNTIL_IDLE = 5.0


@dataclass(slots=True)
class Purges:
    """Which stores hold deleted text, since when, and what is done about it."""

    kb: Workbench
    _since: dict[BaseId | None, float] = field(default_factory=dict)  # None: the main store
    _at_work: bool = False

    def look(self) -> None:
        """Note what is due; asked with every sweep."""
        due = purges_due(self.kb)
        now = self.kb.clock.mono()
        self._since = {one: self._since.get(one, now) for one in due}

    def pause(self) -> float:
        """How long until `work` should be called again; asks no store, so it cannot fail."""
        if not self._since:
            return float("inf")
        return BETWEEN_SLICES if self._at_work else UNTIL_IDLE

    def work(self) -> None:
        """One slice, if it is time for one; what fails is tried again when others may be done."""
        self._at_work = False
        if not self._since or not self._may_begin():
            return
        store = next(iter(self._since))
        if purge_slice(self.kb, store):
            del self._since[store]
        self._at_work = True

    def _may_begin(self) -> bool:
        oldest = min(self._since.values())
        late = self.kb.clock.mono() - oldest >= self.kb.settings.purge_after
        return late or not is_going_on(self.kb)


def purges_due(kb: Workbench) -> list[BaseId | None]:
    """The bases whose index holds deleted text, and None when the main store does."""
    due: list[BaseId | None] = [base for base in kb.index.bases() if kb.index.purge_due(base)]
    return [*due, None] if kb.main.purge_due() else due


def purge_slice(kb: Workbench, store: BaseId | None) -> bool:
    """True when no file of this store holds deleted text any more."""
    return kb.main.purge() if store is None else kb.index.purge(store)


def purge_all(kb: Workbench, seconds: float) -> bool:
    """Everything that is due, but no longer than this; True when nothing is left."""
    until = kb.clock.mono() + seconds
    for store in purges_due(kb):
        while not purge_slice(kb, store):
            if kb.clock.mono() >= until:
                return False
    return True
