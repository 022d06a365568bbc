"""What is there? (`holdfast ls`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE
from holdfast.interfaces.cli.options import BaseOption


@command("ls")
def ls(
    door: Door,
    *,
    item: Annotated[
        str | None,
        typer.Argument(metavar="[ITEM]", help="A folder that was added; else everything."),
    ] = None,
    base: BaseOption = None,
    status: Annotated[
        str | None,
        typer.Option(metavar="STATUS", help="Only items in this state, for example failed."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", help="Most items shown.", show_default=True)
    ] = 1000,
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Go on at a nextCursor (with --json).")
    ] = None,
) -> int:
    """List what was added, as a tree.

    With --json: a page {items, nextCursor} of everything, or of what is directly inside ITEM.

    \b
    Examples:
      holdfast ls
      holdfast ls documents --status failed
      holdfast ls --json --limit 100
    """
    from holdfast.domain.errors import InvalidInput
    from holdfast.interfaces.cli.listing import Asked, page_of, show_tree, trees

    if cursor is not None and not door.as_json:
        raise InvalidInput("--cursor goes with --json", advice="a tree is shown with --limit")
    with door.reading() as hf:
        asked = Asked.of(hf, item, base, status, limit)
        document = page_of(hf, asked, cursor) if door.as_json else {}
        found = [] if door.as_json else trees(hf, asked)
    door.answer(document, lambda console: show_tree(console, found, limit))
    if not door.as_json and not any(tree.children for tree in found):
        door.say("Nothing here yet." if status is None else f"Nothing here is {status}.")
    return DONE
