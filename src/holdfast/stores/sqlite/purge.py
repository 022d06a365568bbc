"""How does deleted text leave the file? Full text merges until no word of it is left.

Full text only marks what is deleted; the words stay in its segments until these are merged. So a
purge makes one segment of all, in slices, and then cuts the write-ahead log. SQLite itself
overwrites what it frees (secure_delete). `meta.purge` says how far it is: a crash goes on there.
"""

from __future__ import annotations

from holdfast.ports import Clock
from holdfast.stores.sqlite.connection import Database, Session

SLICE_SECONDS = 0.05
PAGES_AT_ONCE = 64
NOTHING_DONE = 2  # rows changed by a merge that found nothing to merge, at most

CLEAN, DUE, MERGING = 0, 1, 2


def purge_is_due(database: Database) -> bool:
    with database.read() as session:
        return _stage(session) != CLEAN


def purge_slice(database: Database, clock: Clock) -> bool:
    """About 50 ms of it; True when no file holds deleted text any more."""
    if not purge_is_due(database):
        return True
    if not _merged(database, clock):
        return False
    return _log_is_empty(database)


def _merged(database: Database, clock: Clock) -> bool:
    until = clock.mono() + SLICE_SECONDS
    while clock.mono() < until:
        with database.write() as session:
            if not _merge_some(session):
                return True
    return False


def _merge_some(session: Session) -> bool:
    """Was there anything to merge?"""
    if not session.value("has_deleted_words"):
        return False
    before = session.connection.total_changes()
    if _stage(session) == DUE:
        session.run("merge_from_the_start", pages=PAGES_AT_ONCE)
        session.run("purge_stage", stage=MERGING)
        return True
    session.run("merge_on", pages=PAGES_AT_ONCE)
    if session.connection.total_changes() - before < NOTHING_DONE:
        session.run("purge_stage", stage=DUE)  # segments came after the merge began: once more
    return True


def _log_is_empty(database: Database) -> bool:
    """Cut the log; a reader at work keeps it, then the next slice tries again."""
    with database.write() as session:
        if session.value("has_deleted_words"):
            return False
        session.run("purge_stage", stage=CLEAN)
    with database.exclusively() as session:
        if database.emptied_log(session):
            return True
    with database.write() as session:
        session.run("purge_stage", stage=DUE)
    return False


def _stage(session: Session) -> int:
    row = session.one("index_meta")
    return int(row[4]) if row else CLEAN
