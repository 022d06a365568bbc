"""How is one guard taken away, and put back? The proof of the proof needs guards to be missing.

A mutant replaces part of a named statement, part of the schema, or one function. While it is
applied production code runs without that guard; the simulator must notice.
"""

from __future__ import annotations
import __future__

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import getsource
from textwrap import dedent
from types import ModuleType
from typing import Any
from unittest.mock import patch

from holdfast.stores.sqlite import migrations
from holdfast.stores.sqlite.queries import queries

LATER = __future__.annotations.compiler_flag
Switch = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A guard by name, what it keeps from happening, and the switch that removes it.

    `redundant` says why its removal need not be found: another guard stands behind it.
    """

    name: str
    guards: str
    off: Switch
    redundant: str | None = None


def statement(file: str, name: str, old: str, new: str) -> Switch:
    """Part of a named SQL statement is something else."""

    @contextmanager
    def off() -> Iterator[None]:
        statements = queries(file)
        before = statements[name]
        statements[name] = replaced(before, old, new, f"{file}.{name}")
        try:
            yield
        finally:
            statements[name] = before

    return off


def schema(old: str, new: str) -> Switch:
    """Part of the first migration is something else: a trigger, an index."""

    @contextmanager
    def off() -> Iterator[None]:
        (number, text), *rest = migrations.migrations()
        changed = ((number, replaced(text, old, new, "schema")), *rest)
        with patch.object(migrations, "migrations", lambda: changed):
            yield

    return off


def function(place: str, instead: object) -> Switch:
    """One function or method (`module:name` or `module:Class.name`) is another."""

    @contextmanager
    def off() -> Iterator[None]:
        owner, name = _found(place)
        with patch.object(owner, name, instead):
            yield

    return off


def source(place: str, *old_and_new: str) -> Switch:
    """Parts of a function's text are something else, wherever that function is known."""

    @contextmanager
    def off() -> Iterator[None]:
        owner, name = _found(place)
        before = getattr(owner, name)
        text = dedent(getsource(before))
        for old, new in zip(old_and_new[::2], old_and_new[1::2], strict=True):
            text = replaced(text, old, new, place)
        code = compile(text, place, "exec", dont_inherit=True, flags=LATER)
        made: dict[str, Any] = {}
        exec(code, before.__globals__, made)  # noqa: S102  (our own function, a little changed)
        with ExitStack() as patches:
            for known in (owner, *_who_know(before)):
                patches.enter_context(patch.object(known, name, made[name]))
            yield

    return off


def _found(place: str) -> tuple[Any, str]:
    """Who holds what `module:name` or `module:Class.name` means, and under which name."""
    module, _, path = place.partition(":")
    owner: Any = import_module(module)
    *outer, name = path.split(".")
    for one in outer:
        owner = getattr(owner, one)
    return owner, name


def _who_know(function: object) -> list[ModuleType]:
    name = getattr(function, "__name__", "")
    ours = [module for at, module in sorted(sys.modules.items()) if at.startswith("holdfast.")]
    return [module for module in ours if vars(module).get(name) is function]


def together(*switches: Switch) -> Switch:
    """Several guards that stand behind one another are away at once."""

    @contextmanager
    def off() -> Iterator[None]:
        if not switches:
            yield
            return
        with switches[0](), together(*switches[1:])():
            yield

    return off


def replaced(text: str, old: str, new: str, where: str) -> str:
    """The text with a part replaced; ValueError when the part is not there exactly once."""
    if text.count(old) != 1:
        raise ValueError(f"{where} holds {old!r} {text.count(old)} times; a mutant needs it once")
    return text.replace(old, new)
