"""How does a used connection come to hold what an image holds?

Loading the image into it would expire all its prepared statements, and preparing them is the
dearest thing a schedule does. So the rows are replaced. The triggers of the schema stand in the way
of a plain copy: parents and the states of bases are therefore set after all rows are there, and
what the triggers wrote into the ledger is replaced last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import apsw

from holdfast.stores.sqlite import invariants
from holdfast.stores.sqlite.queries import queries

WRITTEN_ALONG = ("item_events", "sqlite_sequence")  # by the triggers, as items come


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one table, as they can be inserted, and what is set afterwards."""

    name: str
    places: int
    rows: list[tuple[Any, ...]]
    later: list[dict[str, Any]]


LATER = {
    "items": ("parent_id", None, "given_parent"),
    "bases": ("status", "completed", "given_status"),
}


def refill(connection: apsw.Connection, image: bytes) -> None:
    """This connection holds what the image does, and has seen nothing forbidden."""
    tables = _tables(image)
    invariants.watch(connection)  # perhaps it was never watched
    with connection:
        _empty(connection, tables)
        for table in tables:
            if table.name not in WRITTEN_ALONG:
                _fill(connection, table)
        for table in tables:
            if table.later:
                connection.executemany(_named(LATER[table.name][2]), table.later)
        for table in tables:
            if table.name in WRITTEN_ALONG:
                connection.execute(_named("empty", table.name))
                _fill(connection, table)
        connection.execute(_named("nothing_seen"))


def _empty(connection: apsw.Connection, tables: list[Table]) -> None:
    connection.execute(_named("no_parents"))
    for table in reversed(tables):
        connection.execute(_named("empty", table.name))


def _fill(connection: apsw.Connection, table: Table) -> None:
    if table.rows:
        connection.executemany(_named("fill", table.name, table.places), table.rows)


def _tables(image: bytes) -> list[Table]:
    source = apsw.Connection(":memory:")
    source.deserialize("main", image)
    names = [name for (name,) in source.execute(_named("tables"))]
    tables = [_read(source, name) for name in names]
    source.close()
    return tables


def _read(source: apsw.Connection, name: str) -> Table:
    columns = [column for (column,) in source.execute(_named("columns"), {"name": name})]
    rows = list(source.execute(_named("all_rows", name)))
    later: list[dict[str, Any]] = []
    if name in LATER:
        column, meanwhile, _ = LATER[name]
        place, key = columns.index(column), columns.index("id")
        later = [{"id": row[key], "value": row[place]} for row in rows if row[place] != meanwhile]
        rows = [(*row[:place], meanwhile, *row[place + 1 :]) for row in rows]
    return Table(name, len(columns), rows, later)


@lru_cache(maxsize=200)
def _named(statement: str, table: str = "", places: int = 0) -> str:
    sql = queries("refill")[statement]
    return sql.replace("/*table*/", table).replace("/*places*/", ", ".join("?" * places))
