"""How does an answer look to a person?

On a terminal with colours and in its width; in a pipe plain, one row a line, nothing folded.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.domain.item_states import Status

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_WIDTH = 10_000
SHORT_ID = 8
UNITS = ("B", "KB", "MB", "GB", "TB")
THOUSAND = 1_000.0

COLOURS = {
    Status.IDLE: "dim",
    Status.PREPARING: "cyan",
    Status.PROCESSING: "cyan",
    Status.READING: "cyan",
    Status.EMBEDDING: "cyan",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.DELETING: "dim",
}


class Screen:
    """Where answers and messages go."""

    @cached_property
    def out(self) -> Console:
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        return _console(stderr=True)

    def show(self, show: Callable[[Console], None]) -> None:
        """An answer; in a pipe without the blanks that fill a table's last column."""
        if self.out.is_terminal:
            show(self.out)
            return
        with self.out.capture() as captured:
            show(self.out)
        lines = captured.get().splitlines()
        self.out.file.write("".join(f"{line.rstrip()}\n" for line in lines))

    def error(self, sentence: str, advice: str) -> None:
        self.err.print(Text.assemble(("Error: ", "bold red"), sentence), soft_wrap=True)
        self.err.print(Text(advice, style="dim"), soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console = Console(
            stderr=stderr, highlight=False, emoji=False, markup=False, width=PIPE_WIDTH
        )
    return console


def table(*headings: str, right: Sequence[str] = ()) -> Table:
    """An open table: headings, no lines around the cells."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        number = heading in right
        made.add_column(
            heading,
            justify="right" if number else "left",
            overflow="ellipsis" if number else "fold",
            no_wrap=number,
        )
    return made


def facts(rows: Sequence[tuple[str, RenderableType | None]]) -> Table:
    """Names and values below one another; what is absent is left out."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value:
            made.add_row(name, value)
    return made


def status_text(status: Status) -> Text:
    return Text(status.value, style=COLOURS[status])


def short_id(item_id: str) -> str:
    """The end of an id: ids of one moment begin alike."""
    return item_id[-SHORT_ID:]


def size_text(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= THOUSAND and unit < len(UNITS) - 1:
        amount, unit = amount / THOUSAND, unit + 1
    return f"{size} B" if unit == 0 else f"{amount:.1f} {UNITS[unit]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """1 file, 2 files."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration_text(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004  (seconds in a minute)
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def place(source: str) -> str:
    """A path as the user would type it here, if that is shorter."""
    if not Path(source).is_absolute():
        return source
    near = os.path.relpath(source)
    return near if not near.startswith("..") else source
