"""May a provider of models be called now? Its places, and how much it was asked in the last minute.

What the provider itself says (wait, I am down) stands in its row of the main store, where the claim
sees it; this is what we hold ourselves to. One condition of its owner guards all of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.config import Settings

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls at once, calls and tokens in any minute; 0 of these is no limit."""

    concurrency: int
    requests: int = 0
    tokens: int = 0


def limits_of(settings: Settings, provider: str) -> Limits:
    """Those of its own table, else those of all."""
    own = settings.providers.get(provider)
    if own is None:
        return Limits(
            settings.embedding_concurrency, settings.requests_per_minute, settings.tokens_per_minute
        )
    return Limits(
        _first(own.concurrency, settings.embedding_concurrency),
        _first(own.requests_per_minute, settings.requests_per_minute),
        _first(own.tokens_per_minute, settings.tokens_per_minute),
    )


def _first(own: int | None, otherwise: int) -> int:
    return otherwise if own is None else own


@dataclass(slots=True)
class Window:
    """What was used in the last minute, at most so much; 0 is no limit."""

    most: int
    _used: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])
    _sum: int = 0

    def wait(self, now: float, amount: int) -> float:
        """Seconds until so much may be used; more than all there is waits for an empty window."""
        self._forget(now)
        over = min(self._sum, self._sum + amount - self.most)
        if not self.most or over <= 0:
            return 0.0
        for at, used in self._used:
            over -= used
            if over <= 0:
                return max(0.0, at + MINUTE - now)
        return 0.0

    def use(self, now: float, amount: int) -> None:
        if self.most and amount:
            self._used.append((now, amount))
            self._sum += amount

    def _forget(self, now: float) -> None:
        while self._used and self._used[0][0] + MINUTE <= now:
            self._sum -= self._used.popleft()[1]


@dataclass(slots=True)
class Traffic:
    """One provider: who is at it, and what it was asked lately."""

    limits: Limits
    used: int = 0
    requests: Window = field(init=False)
    tokens: Window = field(init=False)

    def __post_init__(self) -> None:
        self.requests = Window(self.limits.requests)
        self.tokens = Window(self.limits.tokens)

    def has_place(self) -> bool:
        return self.used < self.limits.concurrency

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until our own limits admit a call of so many tokens."""
        return max(self.requests.wait(now, 1), self.tokens.wait(now, tokens))

    def count(self, now: float, tokens: int) -> None:
        """A call is made, also one that takes no place: a search does not queue."""
        self.requests.use(now, 1)
        self.tokens.use(now, tokens)


class Governor:
    """Every provider's traffic, made when first asked for."""

    def __init__(self, limits: Callable[[str], Limits]) -> None:
        self._limits = limits
        self._of: dict[str, Traffic] = {}

    def of(self, provider: str) -> Traffic:
        if provider not in self._of:
            self._of[provider] = Traffic(self._limits(provider))
        return self._of[provider]
