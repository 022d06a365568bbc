"""What is known of one item? (`holdfast show`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE
from holdfast.interfaces.cli.options import BaseOption, ItemArgument


@command("show")
def show(
    door: Door,
    *,
    item: ItemArgument,
    base: BaseOption = None,
    chunks: Annotated[
        bool, typer.Option("--chunks", help="Also the passages it was cut into.")
    ] = False,
) -> int:
    """Show one item.

    Its state, where it came from, why it failed, what was skipped inside it.

    \b
    Examples:
      holdfast show report.md
      holdfast show ~/documents/report.md --chunks
      holdfast show 5d41402a --json
    """
    from holdfast.interfaces.cli.listing import share
    from holdfast.interfaces.cli.portrait import every_chunk, portrait, show_item
    from holdfast.interfaces.words import item_document, plain

    with door.reading() as hf:
        found = hf.find(item, base=base)
        percent = share(hf, found)
        passages = every_chunk(hf, found) if chunks else None
        of_base = hf.base(found.base_id).name
    document = item_document(found, percent)
    if passages is not None:
        document["chunks"] = plain(passages)
    door.answer(
        document,
        lambda console: show_item(console, portrait(found, percent, of_base), found, passages),
    )
    return DONE
