"""How old is a stored file, whatever the clock on the wall did meanwhile?

A file that waits for its row must not look old because somebody set the clock: bytes would go that
are accepted a moment later. What this process stored itself it knows by its own steady clock; where
other processes store too, no file is older than the time for which this one has seen it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

LONG_AGO = 86_400.0  # by then the other clock may tell alone


class Ages:
    """Ages of stored files, as far as this process can vouch for them."""

    def __init__(self, mono: Callable[[], float], *, shared: bool = False) -> None:
        self._mono, self._shared = mono, shared
        self._since: dict[str, float] = {}

    def kept(self, name: str) -> None:
        """To be told before the file is there."""
        self._since[name] = self._mono()

    def of(self, files: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """Names and ages by the clock on the wall, made no older than they are known to be."""
        now = self._mono()
        found = [(name, min(age, self._known(name, age, now))) for name, age in files]
        for name in [name for name, since in self._since.items() if now - since > LONG_AGO]:
            del self._since[name]
        return found

    def _known(self, name: str, age: float, now: float) -> float:
        if self._shared and name not in self._since:
            self._since[name] = now
        since = self._since.get(name)
        return age if since is None else now - since
