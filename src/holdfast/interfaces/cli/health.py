"""How is a check-up told?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from holdfast.interfaces.cli.screen import counted, table
from holdfast.workflow.doctor import Finding


def show_findings(console: Console, findings: Sequence[Finding], *, repaired: bool) -> None:
    if not findings:
        console.print("Everything is as it must be.")
        return
    shown = table("Rule", "About", "What must be true, and is not")
    for one in findings:
        shown.add_row(one.invariant, one.subject, one.sentence)
    console.print(shown)
    left = "left after the repair" if repaired else "found; `holdfast doctor --repair` mends"
    console.print(f"\n{counted(len(findings), 'disagreement')} {left}.")
