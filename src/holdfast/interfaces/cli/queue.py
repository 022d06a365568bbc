"""What is unfinished, and what shall become of it? (`holdfast queue`, `recover`, `dismiss`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE
from holdfast.interfaces.cli.options import BaseOption, NoWaitOption

SomeItems = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ITEM...]", help="Only these; else everything unfinished."),
]


@command("queue")
def queue(door: Door, base: BaseOption = None) -> int:
    """Show what waits, runs, or was left behind.

    \b
    Examples:
      holdfast queue
      holdfast queue --base work --json
    """
    from holdfast.interfaces.cli.unfinished import queues, show_queues
    from holdfast.interfaces.words import queue_document

    with door.reading() as hf:
        whole = hf.queue(base)
        lines = queues(hf, base)
    document = queue_document(whole, [line.queue for line in lines])
    door.answer(document, lambda console: show_queues(console, lines, whole))
    return DONE


@command("recover")
def recover(
    door: Door,
    *,
    items: SomeItems = None,
    base: BaseOption = None,
    no_wait: NoWaitOption = False,
) -> int:
    """Go on with unfinished work.

    Work that a stop left behind goes on by itself at the next command that runs work; this is
    the command for when there is nothing else to do, and for bases that ask first.

    \b
    Examples:
      holdfast recover
      holdfast recover --base work
    """
    from holdfast.interfaces.cli.outcome import outcome_of, waited
    from holdfast.interfaces.cli.reworking import Rework, told
    from holdfast.interfaces.cli.unfinished import active_roots, put_back

    with door.owning(run=not no_wait) as (hf, stop):
        back = put_back(hf, base, items)
        ids = back if items else sorted({*back, *active_roots(hf, base)})
        ending = None if no_wait else waited(hf, stop, door, ids, "going on")
    rework = Rework("taken up again", {"itemIds": ids}, ids)
    with door.reading() as hf:
        return told(door, rework, outcome_of(hf, ids, ending))


@command("dismiss")
def dismiss(door: Door, items: SomeItems = None, base: BaseOption = None) -> int:
    """Give up unfinished work.

    Its items fail with `interrupted`. Only work that was left behind and is not going on by
    itself can be given up.

    \b
    Examples:
      holdfast dismiss --base work
      holdfast dismiss report.md
    """
    from holdfast.interfaces.cli.screen import counted
    from holdfast.interfaces.cli.unfinished import give_up

    with door.owning(run=False) as (hf, _):
        ids = give_up(hf, base, items)
    said = f"{counted(len(ids), 'item')} given up."
    door.answer({"itemIds": ids}, lambda console: console.print(said))
    return DONE
