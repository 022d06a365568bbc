"""Is everything true that must be? (`holdfast doctor`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE, FAILED


@command("doctor")
def doctor(
    door: Door,
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
) -> int:
    """Check every rule the data folder must keep.

    With --repair what can be is made again: damaged parts of an index from its chunks and vectors,
    damaged chunks from their sources, with the next command that runs work. Exits 1 when anything
    is found; with --repair when anything is left.

    \b
    Examples:
      holdfast doctor
      holdfast doctor --repair
    """
    from holdfast.domain.errors import HoldfastError
    from holdfast.interfaces.cli.health import show_findings
    from holdfast.interfaces.words import plain
    from holdfast.workflow.doctor import Finding

    try:
        if repair:
            with door.owning(run=False) as (hf, _):
                findings = hf.doctor(repair=True)
        else:
            with door.reading() as hf:
                findings = hf.doctor()
    except HoldfastError as error:
        if error.code != "missing_vector_store":
            raise
        findings = [Finding("main_store_is_whole", "holdfast.db", f"{error}; {error.advice}")]
    document = {"healthy": not findings, "findings": plain(findings)}
    door.answer(document, lambda console: show_findings(console, findings, repaired=repair))
    return FAILED if findings else DONE
