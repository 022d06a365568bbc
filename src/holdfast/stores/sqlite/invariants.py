"""Does the main store keep its promises? Every invariant as one question, asked all at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import apsw

from holdfast.domain.ids import BaseId
from holdfast.domain.invariants import INVARIANTS
from holdfast.stores.sqlite.queries import queries

STRICTER = (
    "i7_jobs_have_their_base",
    "i8_claim_given_once",
    "i9_claim_above_the_counter",
    "i10_completed_is_this_generation",
)
KEPT_BY_THE_SCHEMA = frozenset({"i8_one_live_job_per_key"})  # a unique index says so already


def violations(connection: apsw.Connection, caps: Mapping[str, int]) -> list[tuple[str, str]]:
    """The invariants that are broken now, each with what breaks it."""
    return list(connection.execute(_all_at_once(), caps))


def watch(connection: apsw.Connection) -> None:
    """From here on forbidden transitions of this connection are written down."""
    connection.execute(queries("watch")["watch"])


def watched(connection: apsw.Connection) -> list[tuple[str, str]]:
    """The forbidden transitions since `watch`."""
    return [("transition", what) for (what,) in connection.execute(queries("watch")["watched"])]


def answering_builds(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """Base, item, build, count and digest of everything that answers."""
    return list(connection.execute(queries("watch")["answering_builds"]))


def unrest(connection: apsw.Connection) -> list[str]:
    """What will still happen by itself; empty at rest."""
    return [what for (what,) in connection.execute(queries("watch")["unrest"])]


def standing(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """Every item: id, status, error code, build, digest, count, base, parent."""
    return list(connection.execute(queries("watch")["standing"]))


def bases(connection: apsw.Connection) -> list[BaseId]:
    """The bases that are not being deleted."""
    return [base for (base,) in connection.execute(queries("watch")["living_bases"])]


def conversions(connection: apsw.Connection) -> list[str]:
    """What processors are at, by item and their own id."""
    return [what for (what,) in connection.execute(queries("watch")["conversions"])]


def stored_files(connection: apsw.Connection) -> set[str]:
    """The names of all stored bytes that have an entry."""
    return {name for (name,) in connection.execute(queries("watch")["stored_files"])}


@cache
def _all_at_once() -> str:
    named = queries("invariants")
    asked = {name: named[name] for name in INVARIANTS if name not in KEPT_BY_THE_SCHEMA}
    asked |= {name: queries("watch")[name] for name in STRICTER}
    shell = queries("watch")["as_named_rows"]
    return "\nUNION ALL\n".join(
        shell.replace("/*name*/", name).replace("/*select*/", select)
        for name, select in asked.items()
    )
