"""What may a check-up set right in the main store? Parts that are missing, rows that disagree.

Rows are changed by named statements inside the doctor's transaction; the form of the file, its
indexes and triggers, is compared with that of a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import apsw

from holdfast.domain.ids import ItemId
from holdfast.stores.sqlite.connection import Damaged, Database, Session
from holdfast.stores.sqlite.migrations import migrate
from holdfast.stores.sqlite.queries import queries

SOUND = "ok"


class SqliteRepairs:
    """The statements of a repair, inside one transaction."""

    session: Session

    def free_of_parents(self) -> int:
        return self.session.run("free_of_parents")

    def drop_baseless(self) -> int:
        return self.session.run("drop_baseless")

    def calm_jobs(self) -> int:
        return self.session.run("calm_jobs")

    def rehome_jobs(self) -> int:
        return self.session.run("rehome_jobs")

    def complete_failure(self, item: ItemId, error: str, advice: str) -> None:
        self.session.run("complete_failure", id=item, error=error, advice=advice)


def flaws(database: Database) -> Iterator[str]:
    """What is wrong with the file itself, in words."""
    try:
        with database.read() as session:
            found = [str(row[0]) for row in session.rows("main_integrity")]
            yield from (one for one in found if one != SOUND)
            yield from (f"{name} is missing" for name in _lacking(session))
    except Damaged as damage:
        yield str(damage)


def mended(database: Database) -> None:
    """Indexes agree with their tables again, and what was missing is there, if it can be."""
    with database.write() as session:
        if any(row[0] != SOUND for row in session.rows("main_integrity")):
            session.run("renew_indexes")
        for statement in _lacking(session).values():
            try:
                session.connection.execute(statement)
            except apsw.ConstraintError:  # rows disagree with it: it stays missing, and is told
                continue


def _lacking(session: Session) -> dict[str, str]:
    present = {name for name, _ in session.rows("parts_of_the_store")}
    return {name: how for name, how in _parts_of_a_new_one().items() if name not in present}


@cache
def _parts_of_a_new_one() -> dict[str, str]:
    session = Session(apsw.Connection(":memory:"), queries("repair"))
    migrate(session)
    return dict(session.rows("parts_of_the_store"))
