"""How is a self-test told?"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from holdfast.interfaces.cli.screen import facts
from holdfast.testing.chaos import Report


def show_trial(console: Console, report: Report) -> None:
    rows = [
        ("kills", str(report.kills)),
        ("accepted", str(report.accepted)),
        ("deleted", str(report.deleted)),
        ("lost", str(len(report.lost))),
        ("found although deleted", str(len(report.undead))),
        ("found more than once", str(len(report.doubled))),
        ("doctor", "; ".join(report.findings) or "nothing found"),
        ("seconds", f"{report.seconds:.1f}"),
    ]
    console.print(facts(rows))
    style = "bold green" if report.ok else "bold red"
    said = "All promises kept." if report.ok else "A promise was broken; please report it."
    console.print(Text(said, style=style))
