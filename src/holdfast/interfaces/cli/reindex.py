"""How are items read again? (`holdfast reindex`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.options import BaseOption, ItemsArgument, NoWaitOption


@command("reindex")
def reindex(
    door: Door,
    *,
    items: ItemsArgument,
    base: BaseOption = None,
    skip_active: Annotated[
        bool, typer.Option("--skip-active", help="Leave out what is still at work.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Embed again what was embedded before.")
    ] = False,
    no_wait: NoWaitOption = False,
) -> int:
    """Read items again.

    Until the new version is ready the old one answers. Folders are listed again: new files come
    in, files that are gone go out.

    \b
    Examples:
      holdfast reindex ~/documents
      holdfast reindex report.md --force
    """
    from holdfast.interfaces.cli.outcome import outcome_of, waited
    from holdfast.interfaces.cli.reworking import Rework, told
    from holdfast.interfaces.words import reindexed_document

    with door.owning(run=not no_wait) as (hf, stop):
        found = [hf.find(one, base=base) for one in items]
        done = hf.reindex(found, skip_active=skip_active, force=force)
        ids = [item.id for item in done.items]
        ending = None if no_wait else waited(hf, stop, door, ids, "reading again")
    rework = Rework("read again", reindexed_document(done), ids)
    for item, _, reason in done.skipped:
        door.say(f"Left out {item}: {reason}")
    with door.reading() as hf:
        return told(door, rework, outcome_of(hf, ids, ending))
