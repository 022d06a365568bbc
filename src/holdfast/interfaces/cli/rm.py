"""How is something taken out? (`holdfast rm`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE
from holdfast.interfaces.cli.options import BaseOption

CLEANING_SECONDS = 5.0


@command("rm")
def rm(
    door: Door,
    *,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM...", help="Ids, either end of one, paths, or names."),
    ] = None,
    base: BaseOption = None,
    whole: Annotated[
        bool, typer.Option("--whole-base", help="The base named by --base and all in it.")
    ] = False,
) -> int:
    """Take items out; your own files are not touched.

    Folders go with all that is inside. From the moment this returns nothing of them is found.
    What is stored of them is removed at once as far as that goes quickly; the next command that
    runs work removes the rest.

    \b
    Examples:
      holdfast rm report.md
      holdfast rm ~/documents/old --base work
      holdfast rm --whole-base --base scratch
    """
    from holdfast.domain.errors import InvalidInput
    from holdfast.interfaces.cli.removing import clean, removed_base, removed_items, show_removed

    if whole and (base is None or items):
        raise InvalidInput("--whole-base goes with --base NAME and no ITEM")
    if not whole and not items:
        raise InvalidInput("name the items to take out", advice="see holdfast rm --help")
    with door.owning(run=False) as (hf, _):
        gone = removed_base(hf, base) if whole and base else removed_items(hf, items or [], base)
        left = not clean(hf, CLEANING_SECONDS)
    door.answer(gone.document, lambda console: show_removed(console, gone))
    if left:
        door.say("Not found any more; the next command that runs work removes what is stored.")
    return DONE
