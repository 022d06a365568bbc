"""Is what a caller gave of the kind that was asked for? Asked before anything is looked up."""

from __future__ import annotations

import math
from typing import TypeGuard

from holdfast.domain.errors import InvalidInput

MAX_LIMIT = 1_000


def is_text(given: object) -> TypeGuard[str]:
    """Text that can be written down: half a character of a pair cannot."""
    if not isinstance(given, str):
        return False
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_whole(given: object, low: int, high: int) -> TypeGuard[int]:
    """A whole number within these bounds; true and false are none."""
    return isinstance(given, int) and not isinstance(given, bool) and low <= given <= high


def is_number(given: object) -> TypeGuard[float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def may_page(limit: object, cursor: object) -> None:
    """The limit and the cursor of a list."""
    if not is_whole(limit, 1, MAX_LIMIT):
        raise InvalidInput(f"limit is {limit!r}; it takes 1 to {MAX_LIMIT}")
    if cursor is not None and not is_text(cursor):
        raise InvalidInput(f"{cursor!r} is not a cursor of this list")


def may_wait(timeout: object) -> None:
    if timeout is not None and not is_number(timeout):
        raise InvalidInput(f"timeout is {timeout!r}; it takes seconds, or None to wait for ever")
