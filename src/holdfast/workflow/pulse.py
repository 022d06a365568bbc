"""How does a run say that it lives and how far it is? After every batch, but not too often.

A value is stored at most once in `progress_interval`; what is shown is what is stored, so a kill
never makes it fall. A job that has killed workers says it every time: each stored batch clears it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.progress import percent
from holdfast.jobs.run import Run
from holdfast.workflow.room import may_take_in
from holdfast.workflow.workbench import Workbench


@dataclass(slots=True)
class Pulse:
    """The heartbeat of one run, or of the runs of a bundle."""

    kb: Workbench
    runs: Sequence[Run]
    start: float = 0.0  # how much of the source was read and written before this page …
    read: float = 1.0  # … and how much is read with it
    _end: float = 0.0
    _last: float | None = None

    def page(self, read: float) -> None:
        """The batches that follow belong to the part just read; DiskFull stops a long one."""
        may_take_in(self.kb)
        self.start, self.read, self._end = self._end, read, read

    def batch(self, done: float) -> None:
        """This fraction of the page is embedded or written."""
        now = self.kb.clock.mono()
        for run in self.runs:
            run.token.heart.last = now
        if self._last is None or now - self._last >= self.kb.settings.progress_interval:
            self._last = now
            written = self.start + (self.read - self.start) * done
            self._store(percent(self.read, written, self.kb.settings.read_weight))
        elif any(run.job.deaths for run in self.runs):
            self._store(0)

    def _store(self, share: int) -> None:
        with self.kb.main.write() as tx:
            for run in self.runs:
                tx.set_progress(run.fence, share)
            tx.beat([run.fence for run in self.runs], tx.now + self.kb.lease)
