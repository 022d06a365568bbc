"""How much of a delete is done at once?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from holdfast.domain.errors import TimedOut
from holdfast.domain.jobs import Lane
from holdfast.interfaces.cli.screen import counted
from holdfast.interfaces.library import Holdfast
from holdfast.interfaces.words import Document

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out, in names and as a document."""

    names: tuple[str, ...]
    document: Document


def removed_base(hf: Holdfast, base: str) -> Removed:
    gone = hf.base(base)
    hf.delete_base(gone)
    return Removed((f"base {gone.name}",), {"baseId": gone.id})


def removed_items(hf: Holdfast, named: Sequence[str], base: str | None) -> Removed:
    found = [hf.find(one, base=base) for one in named]
    roots = hf.delete(found)
    return Removed(tuple(one.name for one in found), {"itemIds": list(roots)})


def clean(hf: Holdfast, seconds: float) -> bool:
    """Remove what is stored of deleted items, for so long; True when nothing is left to do."""
    try:
        hf.drain(seconds, due_only=True, lanes=[Lane.URGENT])
    except TimedOut:
        return False
    return True


def show_removed(console: Console, gone: Removed) -> None:
    more = f" and {counted(len(gone.names) - SHOWN, 'more', 'more')}" if gone.names[SHOWN:] else ""
    console.print(f"Removed {', '.join(gone.names[:SHOWN])}{more}.", soft_wrap=True)
