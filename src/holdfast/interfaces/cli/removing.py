"""How much of a delete is done at once?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from holdfast.domain.errors import TimedOut
from holdfast.domain.jobs import Lane
from holdfast.interfaces.cli.screen import counted
from holdfast.interfaces.library import Holdfast

SHOWN = 5


def clean(hf: Holdfast, seconds: float) -> bool:
    """Remove what is stored of deleted items, for so long; True when nothing is left to do."""
    try:
        hf.drain(seconds, due_only=True, lanes=[Lane.URGENT])
    except TimedOut:
        return False
    return True


def show_removed(console: Console, names: Sequence[str]) -> None:
    named = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    console.print(f"Removed {counted(len(names), 'item')}: {named}", soft_wrap=True)
