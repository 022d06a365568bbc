"""Which form has the main store, and how does an older one become today's?

Each migration is one file and one transaction together with its number (`user_version`), so a
kill leaves the old form or the new one, never something between.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from holdfast.domain.errors import Unavailable
from holdfast.stores.sqlite.connection import Session


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Every migration with its number, in order."""
    folder = files("holdfast.stores.sqlite").joinpath("sql", "migrations")
    found = [(int(file.name[:4]), file.read_text("utf-8")) for file in folder.iterdir()]
    return tuple(sorted(found))


def newest() -> int:
    return migrations()[-1][0]


def migrate(session: Session) -> None:
    """Bring the file to the newest form; Unavailable when a newer Holdfast has written it."""
    present = version(session)
    if present > newest():
        raise _foreign(present, "open it with the newer Holdfast that wrote it")
    for number, text in migrations():
        if number > present:
            _step(session, number, text)


def must_be_newest(session: Session) -> None:
    """A reader brings nothing to a newer form, so it takes the newest only."""
    present = version(session)
    if present != newest():
        raise _foreign(present, "let its owner open it with this Holdfast first")


def _foreign(present: int, advice: str) -> Unavailable:
    said = f"the data folder has form {present}, this Holdfast knows {newest()}"
    return Unavailable(said, advice=advice)


def version(session: Session) -> int:
    found: int = session.connection.pragma("user_version")
    return found


def _step(session: Session, number: int, text: str) -> None:
    with session.transaction():
        session.connection.execute(text)
        session.connection.pragma("user_version", number)
