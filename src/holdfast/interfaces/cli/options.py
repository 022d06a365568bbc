"""Which options do several commands share?"""

from __future__ import annotations

from typing import Annotated

import typer

ItemArgument = Annotated[
    str, typer.Argument(metavar="ITEM", help="An id, either end of one, a path, or a name.")
]
ItemsArgument = Annotated[
    list[str],
    typer.Argument(metavar="ITEM...", help="Ids, either end of one, paths, or names."),
]
BaseOption = Annotated[
    str | None, typer.Option("--base", metavar="NAME", help="Only this base (name or id).")
]
NoWaitOption = Annotated[
    bool, typer.Option("--no-wait", help="Accept only; the next command does the work.")
]
