"""What is the status of a container, given its own expansion and its children?"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.item_states import COMPLETED, FAILED, PREPARING, PROCESSING, Status


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the database knows about the inside of a container; deleting children do not count."""

    own_outcome: Status | None
    own_error: tuple[str, str, str] | None  # of an expansion that succeeded: its warning
    has_children: bool
    has_active: bool
    failed: int
    settled: int
    worst: tuple[tuple[str, str], ...] = ()  # the first failed children: name, reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status that follows, with the words that go with it."""

    status: Status
    error: tuple[str, str, str] | None = None
    warning: str | None = None


def roll_up(inside: Outlook) -> Verdict:
    """The one rule: own expansion, then activity, then own failure, then the children's."""
    if inside.own_outcome is None:
        return Verdict(PREPARING)
    if inside.has_active:
        return Verdict(PROCESSING)
    if inside.own_outcome is FAILED:
        return Verdict(FAILED, error=inside.own_error)
    warning = inside.own_error[0] if inside.own_error else None
    if inside.failed:
        return Verdict(FAILED, error=_summary(inside), warning=warning)
    empty = None if inside.has_children else "nothing inside"
    return Verdict(COMPLETED, warning=warning or empty)


def _summary(inside: Outlook) -> tuple[str, str, str]:
    named = "; ".join(f"{name}: {reason}" for name, reason in inside.worst)
    message = f"{inside.failed} of {inside.settled} inside failed ({named})"
    return ("conflict", message, "look at the failed children; re-index them or this container")
