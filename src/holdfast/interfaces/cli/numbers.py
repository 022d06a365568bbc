"""How are bases and totals shown?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from holdfast.domain.events import instant
from holdfast.domain.item_states import ACTIVE
from holdfast.interfaces.cli.portrait import local
from holdfast.interfaces.cli.screen import size_text, table
from holdfast.stores.queue import ProviderRow
from holdfast.workflow.overview import Overview
from holdfast.workflow.stats import Stats

OF_BASES = ("Documents", "Passages", "Size", "Active", "Failed")
OF_STATS = ("Embedded", "Reused", "Calls", "Tokens")


def show_bases(console: Console, seen: Sequence[Overview]) -> None:
    if not seen:
        console.print("There is no base yet: holdfast add PATH")
        return
    shown = table("Base", *OF_BASES, "Model", "State", right=OF_BASES)
    for one in seen:
        base = one.base
        shown.add_row(
            Text(base.name, style="bold"),
            f"{one.document_count:,}",
            f"{one.chunk_count:,}",
            size_text(one.size_bytes),
            f"{sum(number for status, number in one.counts.items() if status in ACTIVE):,}",
            f"{one.failed_count:,}",
            base.settings.embedding_model or "none: words only",
            _state(one),
        )
    console.print(shown)


def _state(one: Overview) -> Text:
    if one.base.error_code:
        return Text(f"failed: {one.base.error_code}", style="red")
    if one.base.paused:
        return Text("paused", style="yellow")
    return Text(f"{one.percent} %" if one.percent < 100 else "ready", style="green")  # noqa: PLR2004  (percent)


def show_stats(console: Console, stats: Stats) -> None:
    shown = table("Provider", *OF_STATS, right=OF_STATS)
    for one in stats.providers:
        numbers = (one.texts_embedded, one.texts_reused, one.model_calls, one.tokens)
        shown.add_row(one.name, *(f"{number:,}" for number in numbers))
    tokens = sum(one.tokens for one in stats.providers)
    total = (stats.texts_embedded, stats.texts_reused, stats.model_calls, tokens)
    shown.add_row(Text("all", style="bold"), *(f"{number:,}" for number in total))
    console.print(shown)
    show_paused(console, stats.providers)


def show_paused(console: Console, providers: Sequence[ProviderRow]) -> None:
    """Who does not answer, or was asked enough: why, and until when."""
    for one in providers:
        if one.paused_until is not None:
            until = local(instant(one.paused_until))
            probe = f", item {one.probed_by} looks now" if one.probed_by else ""
            said = f"{one.name} is paused until {until}{probe}: {one.reason}"
            console.print(Text(said, style="yellow"), soft_wrap=True)
