"""Each state has one writer: whoever looks for how it changes finds one statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import source, sql
from tests.architecture.test_sql import DIALECTS


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_statement_writes_the_status_of_an_item(dialect: str) -> None:
    folder = source.STORES / dialect / "sql"
    writers = [s.name for s in sql.statements(folder) if not is_free(s) and writes(s, "items")]

    assert len(writers) <= 1, writers
    assert writers or not (folder / "catalog.sql").exists(), "catalog.sql without a move"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_the_queue_writes_the_state_of_a_job(dialect: str) -> None:
    folder = source.STORES / dialect / "sql"
    writers = [s for s in sql.statements(folder) if not is_free(s) and writes(s, "jobs", "state")]

    assert not [(s.file.name, s.name) for s in writers if s.file.name != "queue.sql"]
    assert writers or not (folder / "queue.sql").exists(), "queue.sql changes no job"


def is_free(statement: sql.Named) -> bool:
    return sql.is_schema(statement)


def writes(statement: sql.Named, table: str, column: str = "status") -> bool:
    return not {(table, column), (table, "*")}.isdisjoint(sql.updates(statement))


# ------------------------------------------------------- the rules themselves, on planted text


@pytest.mark.parametrize(
    "planted",
    [
        "UPDATE items SET status = :target WHERE id = :id",
        "UPDATE items AS i SET name = 'status', status = CASE WHEN 1 THEN 2 END",
        "UPDATE items SET (generation, status) = (SELECT 1, 'x') WHERE id = 1",
        "UPDATE items SET seen = (SELECT max(a, b) FROM t WHERE c = 1), status = 'failed'",
        "INSERT INTO items (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET status = 'idle'",
        "INSERT OR REPLACE INTO items (id, status) VALUES (1, 2)",
        "WITH moved AS (UPDATE items SET status = 'failed' RETURNING id) SELECT id FROM moved",
    ],
)
def test_a_second_writer_is_seen(planted: str) -> None:
    assert writes(statement(planted), "items")


@pytest.mark.parametrize(
    "allowed",
    [
        "UPDATE items SET progress = 3 WHERE status = 'reading'",
        "UPDATE items SET seen = (SELECT status = 1 FROM t), name = 'a' WHERE status = 2",
        "-- UPDATE items SET status = 1\nSELECT status FROM items",
        "INSERT INTO items (id, status) VALUES (1, 'processing')",
        "UPDATE bases SET status = 'deleting'",
        "UPDATE items SET error = 'status = 1'",
        "WITH c AS (UPDATE items SET seen = 1) UPDATE bases SET status = 'x'",
    ],
)
def test_other_writes_are_left_alone(allowed: str) -> None:
    assert not writes(statement(allowed), "items")


def statement(body: str) -> sql.Named:
    return sql.Named(Path("catalog.sql"), "planted", body)
