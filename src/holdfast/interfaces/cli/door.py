"""How does a command reach the engine, and how does it answer?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.domain.errors import CODES, HoldfastError, InvalidInput, Unavailable

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.config import Settings
    from holdfast.interfaces.cli.screen import Screen
    from holdfast.interfaces.library import Holdfast
    from holdfast.interfaces.words import Document
    from holdfast.machine.interrupts import Interrupts

# what the errors' own advice says in the words of a Python program
ADVICE = {
    "owned": "wait until that process has ended, or stop it (Ctrl-C there, or kill -INT its pid); "
    "search, ls, show, queue, explain, history, bases, stats and doctor work beside it",
    "conflict": "wait until the listed items are completed or failed, or give --skip-active",
    "mixed_bases": "run the command once for each base",
    "not_found": "check the name or id; `holdfast ls` shows what is there",
    "timed_out": "the work goes on at the next command; `holdfast explain ITEM` says why it waits",
}

# a busy thread gives the interpreter away this often, so that answers do not wait behind work
SWITCH_INTERVAL = 0.0001


@dataclass
class Door:
    """One command's way in and out; what is heavy is imported when it is gone through."""

    data: Path | None
    config: Path | None
    as_json: bool

    @cached_property
    def screen(self) -> Screen:
        from holdfast.interfaces.cli.screen import Screen

        return Screen()

    @property
    def folder(self) -> Path:
        from holdfast.config import data_folder

        return self.data if self.data is not None else data_folder()

    def settings(self) -> Settings:
        """The settings as a command finds them that opens no data folder."""
        from holdfast.config import load

        return load(self.settings_file)

    @property
    def settings_file(self) -> Path:
        from holdfast.config import CONFIG_FILE

        return self._config() or self.folder / CONFIG_FILE

    @contextmanager
    def reading(self) -> Iterator[Holdfast]:
        """The data folder as it is, also beside a living owner."""
        from holdfast.interfaces.library import Holdfast

        try:
            hf = Holdfast.open(self.folder, read_only=True, config=self._config())
        except Unavailable as error:
            if error.code != "not_found":
                raise
            raise Unavailable(
                f"{self.folder} holds no knowledge base yet",
                code="not_found",
                advice="add something first (holdfast add PATH), or name the folder with --data",
            ) from error
        with hf:
            yield hf

    @contextmanager
    def owning(self, *, run: bool) -> Iterator[tuple[Holdfast, Interrupts]]:
        """The data folder for writing; with `run` its unfinished work goes on at once.

        The first Ctrl-C only asks: the command looks at it, and leaving here stops gracefully.
        """
        from holdfast.interfaces.library import Holdfast
        from holdfast.machine.interrupts import Interrupts

        sys.setswitchinterval(SWITCH_INTERVAL)
        with (
            Interrupts() as stop,
            Holdfast.open(self.folder, run=run, config=self._config()) as hf,
        ):
            yield hf, stop

    def answer(self, document: Document, show: Callable[[Console], None]) -> None:
        """The command's one answer: a JSON document, or what a person reads."""
        if self.as_json:
            sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        else:
            self.screen.show(show)

    def say(self, text: str) -> None:
        """A message beside the answer."""
        self.screen.err.print(text, highlight=False, markup=False)

    def refuse(self, error: HoldfastError) -> None:
        """The error as the command's answer, and for a person in words."""
        own = error.advice if _has_own_advice(error) else None
        advice = own or ADVICE.get(error.code, error.advice)
        if self.as_json:
            from holdfast.interfaces.words import error_document

            document = error_document(error, advice)
            sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        self.screen.error(str(error), advice)
        for one in error.blocking[:20]:
            self.say(f"  {one.name} is {one.status} ({one.item_id})")

    def _config(self) -> Path | None:
        if self.config is not None and not self.config.is_file():
            raise InvalidInput(
                f"--config {self.config} is not a file",
                advice="name a settings file, or leave it out: holdfast.toml in the data folder",
            )
        return self.config


def _has_own_advice(error: HoldfastError) -> bool:
    """Was it given advice of its own, not the general one of its code?"""
    return error.advice != CODES.get(error.code)
