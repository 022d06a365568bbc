"""Under which names do our SQL statements stand? Every one is in a `.sql` file beside this one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)\n", re.MULTILINE)


@cache
def queries(file: str) -> dict[str, str]:
    """The statements of one file by name."""
    text = files("holdfast.stores.sqlite").joinpath("sql", f"{file}.sql").read_text("utf-8")
    named = dict(_named(text))
    return {name: _filled(statement, named) for name, statement in named.items()}


def _filled(statement: str, named: dict[str, str]) -> str:
    """Lists of columns that several statements share stand once, as `<noun>_columns`."""
    for noun in ("item", "job", "remote"):
        columns = named.get(f"{noun}_columns", "")
        statement = statement.replace(f"/*{noun}*/", columns)
    return statement


def _named(text: str) -> Iterator[tuple[str, str]]:
    parts = _NAME.split(text)
    for name, statement in zip(parts[1::2], parts[2::2], strict=True):
        lines = statement.splitlines()
        yield name, "\n".join(line for line in lines if not line.startswith("--")).strip()
