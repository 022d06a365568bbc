"""Why does an item wait, and what happened to it? (`holdfast explain` and `history`)"""

from __future__ import annotations

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE
from holdfast.interfaces.cli.options import BaseOption, ItemArgument


@command("explain")
def explain(door: Door, item: ItemArgument, base: BaseOption = None) -> int:
    """Say why an item waits, or how it ended.

    \b
    Examples:
      holdfast explain report.md
      holdfast explain 5d41402a --json
    """
    from holdfast.interfaces.cli.story import show_explanation
    from holdfast.interfaces.words import explanation_document

    with door.reading() as hf:
        why = hf.explain(hf.find(item, base=base))
    door.answer(explanation_document(why), lambda console: show_explanation(console, why))
    return DONE


@command("history")
def history(door: Door, item: ItemArgument, base: BaseOption = None) -> int:
    """Show what happened to an item.

    Oldest first; by its whole id also when the item is gone.

    \b
    Examples:
      holdfast history report.md
      holdfast history report.md --json
    """
    from holdfast.interfaces.cli.story import ledger_of, show_events
    from holdfast.interfaces.words import event_document

    with door.reading() as hf:
        events = ledger_of(hf, item, base)
    document = {"items": [event_document(one) for one in events], "nextCursor": None}
    door.answer(document, lambda console: show_events(console, events))
    return DONE
