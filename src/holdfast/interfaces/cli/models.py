"""Which embedding models are there? (`holdfast models`)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.domain.errors import InvalidInput
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.interfaces.models import Model

OPTIMIZE = "optimize"
QUICKER = "`holdfast models optimize` makes the local models quicker, once; it takes a few seconds."


@command("models")
def models(
    door: Door,
    *,
    act: Annotated[
        str | None, typer.Argument(metavar="[optimize]", help="Make the local models quicker.")
    ] = None,
) -> int:
    """List the embedding models, or make the local ones quicker.

    \b
    Examples:
      holdfast models
      holdfast models optimize
    """
    from holdfast.interfaces.models import is_optimized, optimize_local
    from holdfast.interfaces.models import models as known
    from holdfast.interfaces.words import plain

    if act not in {None, OPTIMIZE}:
        raise InvalidInput(f"models takes {OPTIMIZE} or nothing, not {act!r}")
    settings = door.settings()
    if act == OPTIMIZE:
        place = optimize_local(settings)
        door.answer({"optimized": place}, lambda console: console.print(f"Ready: {place}"))
        return DONE
    seen, quick = known(settings), is_optimized(settings)
    document = {"models": [plain(one) for one in seen], "optimized": quick}
    door.answer(document, lambda console: _show(console, seen, quick=quick))
    return DONE


def _show(console: Console, seen: list[Model], *, quick: bool) -> None:
    from holdfast.interfaces.cli.screen import table

    numbers = ("Dimensions", "Tokens")
    shown = table("Model", *numbers, "State", right=numbers)
    for one in seen:
        state = one.trouble or ("ready, the default" if one.is_default else "ready")
        shown.add_row(one.name, f"{one.dimensions or ''}", f"{one.max_tokens or ''}", state)
    console.print(shown)
    if not quick:
        console.print(QUICKER)
