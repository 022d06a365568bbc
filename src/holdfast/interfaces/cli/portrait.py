"""How is one item shown to a person?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.domain.chunks import ChunkView
from holdfast.domain.item_states import ACTIVE
from holdfast.domain.items import Item
from holdfast.interfaces.cli.passages import show_chunks
from holdfast.interfaces.cli.screen import counted, facts, size_text, status_text, table
from holdfast.interfaces.library import Holdfast

SHOWN_SKIPPED = 20


def portrait(item: Item, percent: int, base: str) -> Table:
    status = status_text(item.status)
    if item.status in ACTIVE:
        status.append(f" {percent} %")
    return facts(
        [
            ("name", Text(item.name, style="bold")),
            ("id", item.id),
            ("base", base),
            ("type", item.type.value),
            ("from", Text(item.source)),
            ("status", status),
            ("why", Text(item.error or "", style="red")),
            ("what to do", item.error_advice),
            ("warning", Text(item.warning or "", style="yellow")),
            ("waiting", item.pending),
            ("passages", f"{item.chunk_count:,}" if not item.is_container else None),
            ("size", size_text(item.size) if not item.is_container else None),
            ("outdated", "yes: indexed with other settings" if item.outdated else None),
            ("attempt", str(item.generation)),
            ("attributes", ", ".join(f"{key}={value}" for key, value in item.attributes.items())),
            ("added", local(item.created_at)),
            ("indexed", local(item.indexed_at) if item.indexed_at else None),
        ]
    )


def show_item(
    console: Console, facts_of_it: Table, item: Item, passages: Sequence[ChunkView] | None
) -> None:
    console.print(facts_of_it)
    _show_skipped(console, item)
    if passages:
        console.print()
        show_chunks(console, passages)


def _show_skipped(console: Console, item: Item) -> None:
    skipped = item.skipped or {}
    count, entries = skipped.get("count", 0), skipped.get("entries", [])
    if not count:
        return
    shown = table(f"Skipped ({counted(count, 'entry', 'entries')})", "Why")
    for one in entries[:SHOWN_SKIPPED]:
        shown.add_row(one["path"], one["reason"])
    console.print()
    console.print(shown)
    if count > SHOWN_SKIPPED:
        console.print(f"… {count - SHOWN_SKIPPED:,} more; --json shows up to 1,000")


def every_chunk(hf: Holdfast, item: Item) -> list[ChunkView]:
    found: list[ChunkView] = []
    cursor: str | None = None
    while True:
        page = hf.chunks(item, cursor=cursor, limit=1_000)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def local(at: datetime) -> str:
    """A time as the clock on this machine shows it."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
