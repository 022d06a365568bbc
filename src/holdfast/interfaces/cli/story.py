"""How are an item's reason and its past shown?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from holdfast.domain.errors import NotFound
from holdfast.domain.events import Event
from holdfast.interfaces.cli.portrait import local
from holdfast.interfaces.cli.screen import facts, status_text, table
from holdfast.interfaces.library import Holdfast
from holdfast.workflow.explain import Explanation


def show_explanation(console: Console, why: Explanation) -> None:
    console.print(Text.assemble((why.item.name, "bold"), f": {why.sentence}."), soft_wrap=True)
    rows = [
        ("status", status_text(why.item.status)),
        ("until", local(why.until) if why.until else None),
        ("attempts", str(why.attempt) if why.attempt else None),
        ("last error", why.last_error),
        ("what to do", why.item.error_advice),
    ]
    console.print(facts(rows))


def ledger_of(hf: Holdfast, text: str, base: str | None) -> list[Event]:
    """The ledger outlives its item: what is not found as an item may still have a past."""
    try:
        return hf.history(hf.find(text, base=base))
    except NotFound as error:
        try:
            return hf.history(text)
        except NotFound:
            raise error from None


def show_events(console: Console, events: Sequence[Event]) -> None:
    shown = table("When", "What", "Status", "Attempt", "Details", right=("Attempt",))
    for event in events:
        shown.add_row(
            local(event.at),
            event.kind.value,
            status_text(event.status) if event.status else "",
            str(event.generation) if event.generation is not None else "",
            _details(event.detail),
        )
    console.print(shown)


def _details(detail: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in detail.items() if value not in (None, ""))
