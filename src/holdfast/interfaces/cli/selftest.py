"""Does it keep its promises on this machine? (`holdfast selftest`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE, FAILED


@command("selftest")
def selftest(
    door: Door,
    *,
    chaos: Annotated[
        bool, typer.Option("--chaos", help="Kill a working process again and again.")
    ] = False,
    kills: Annotated[int, typer.Option(metavar="N", help="How many kills.")] = 20,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of what is done and when.")] = 1,
) -> int:
    """Try on this machine what Holdfast promises.

    In a temporary folder; your data is not touched. Without --chaos: add, search, delete,
    check. With it, a process of its own that adds, re-reads and deletes is killed (kill -9) at
    random instants; then nothing accepted may be missing, nothing deleted may be found, and
    doctor must find nothing.

    \b
    Examples:
      holdfast selftest
      holdfast selftest --chaos --kills 50
    """
    from holdfast.domain.errors import InvalidInput
    from holdfast.interfaces.cli.trial import show_trial
    from holdfast.interfaces.words import plain
    from holdfast.testing.chaos import run_chaos

    if kills < 1:
        raise InvalidInput(f"--kills is {kills}; it takes 1 or more")
    report = run_chaos(kills if chaos else 0, seed, door.say)
    document = {"ok": report.ok, **plain(report)}
    door.answer(document, lambda console: show_trial(console, report))
    return DONE if report.ok else FAILED
