"""How does one OS thread hold many call stacks? The typed door to greenlet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import greenlet  # type: ignore[import-untyped]  # it ships no types


class Body(Protocol):
    """A call stack of its own; true while it has begun and not ended."""

    def switch(self) -> object: ...
    def throw(self, error: type[BaseException]) -> object: ...
    def __bool__(self) -> bool: ...


def body_of(run: Callable[[], None], back_to: Body) -> Body:
    """A new stack that runs this when first switched to, and ends in `back_to`."""
    body: Body = greenlet.greenlet(run, back_to)
    return body


def here() -> Body:
    """The stack that runs now."""
    body: Body = greenlet.getcurrent()
    return body
