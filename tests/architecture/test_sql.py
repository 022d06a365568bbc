"""SQL stands in `.sql` files, each statement once, each used, and alike in both dialects."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from holdfast.domain.invariants import AT_REST, INVARIANTS
from tests.architecture import source, sql

DIALECTS = [name for name in ("sqlite", "postgres") if (source.STORES / name / "sql").is_dir()]


def test_no_python_string_holds_sql() -> None:
    found = [
        f"{source.short(path)}:{line}: {text}"
        for path in source.modules()
        for line, text in sql.sql_literals(
            source.tree(path),
            edges_allowed=source.short(path).removeprefix("src/holdfast/") in sql.EDGES_AT,
        )
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_has_a_name_of_its_own_and_says_something(dialect: str) -> None:
    statements = sql.statements(source.STORES / dialect / "sql")
    names = Counter(statement.name for statement in statements)

    assert statements, "a folder for SQL without a named statement"
    assert not [name for name, times in names.items() if times > 1]
    assert not [s.name for s in statements if not s.name.replace("_", "").isalnum()]
    assert not [s.name for s in statements if not s.bare.strip()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_is_called_by_its_name(dialect: str) -> None:
    mentioned = {
        word for path in sql.python_of(source.STORES) for word in sql.mentioned(source.tree(path))
    }
    mentioned |= (
        INVARIANTS.keys()
        | AT_REST.keys()
        | {f"{noun}_columns" for noun in sql.shared_columns(dialect)}
    )
    unused = [
        f"{source.short(statement.file)}: {statement.name}"
        for statement in sql.statements(source.STORES / dialect / "sql")
        if statement.name not in mentioned and statement.file.name not in mentioned
    ]

    assert not unused, "\n".join(unused)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_name_that_is_called_exists(dialect: str) -> None:
    known = {statement.name for statement in sql.statements(source.STORES / dialect / "sql")}
    missing = [
        f"{source.short(path)}: {name}"
        for path in sql.python_of(source.STORES / dialect)
        for name in sorted(sql.called(source.tree(path)) - known)
    ]

    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_invariant_has_its_query(dialect: str) -> None:
    queries = source.STORES / dialect / "sql" / "invariants.sql"
    known = {statement.name for statement in sql.statements(queries.parent)}

    assert not (INVARIANTS.keys() | AT_REST.keys()) - known


def test_both_dialects_have_the_same_names_and_parameters() -> None:
    if DIALECTS != ["sqlite", "postgres"]:
        assert not (source.STORES / "postgres").exists(), "stores/postgres has no folder sql"
        return
    here, there = (
        {s.name: s.parameters for s in sql.statements(source.STORES / name / "sql")}
        for name in DIALECTS
    )

    assert sorted(here) == sorted(there)
    assert not [name for name in here if here[name] != there[name]]


def test_a_store_that_is_there_has_its_statements_in_a_folder() -> None:
    assert DIALECTS or not (source.STORES / "sqlite").exists()


# ------------------------------------------------------- the rules themselves, on planted text


@pytest.mark.parametrize(
    "planted",
    [
        'run("SELECT id FROM items")',
        'run("select id, name from items where id = 1")',
        'run(f"UPDATE {table} SET status = 1")',
        'run("  INSERT OR IGNORE INTO jobs VALUES (1)")',
        'run("delete from items")',
        'run("PRAGMA synchronous = FULL")',
        'run("BEGIN IMMEDIATE")',
        'run("CREATE TABLE t (a)")',
        'run("WITH RECURSIVE below(id) AS (SELECT 1) SELECT * FROM below")',
        'clause = " WHERE base_id = :base"',
        'x = "id, name " + "ORDER BY id"',
    ],
)
def test_sql_in_a_string_is_seen(planted: str) -> None:
    assert sql.sql_literals(ast.parse(planted))


@pytest.mark.parametrize(
    "allowed",
    [
        '"""SELECT in a docstring is a word."""',
        'method = "DELETE"',
        'move = "delete"',
        'say("select a base from the list above, please")',
        'say("update of item 42 was refused")',
        'say("begin again")',
        'say("insert the missing page")',
    ],
)
def test_ordinary_words_are_no_sql(allowed: str) -> None:
    assert not sql.sql_literals(ast.parse(allowed))


def test_only_the_edges_of_a_transaction_are_allowed_where_it_is_opened() -> None:
    module = ast.parse('a("BEGIN IMMEDIATE"); b("COMMIT"); c("SAVEPOINT x"); d("SELECT 1 ")')

    assert [text for _, text in sql.sql_literals(module, edges_allowed=True)] == ["SELECT 1"]


def test_calls_and_mentions_are_told_apart() -> None:
    module = ast.parse(
        'tx.run("move_items", id=1); prepare(c, "full" if f else "normal"); queries("a")["shape"]; '
        'other = "unused_word"; queries("invariants").items()'
    )

    assert sql.called(module) == {"move_items", "full", "normal", "shape"}
    assert {"unused_word", "invariants.sql"} <= sql.mentioned(module)


def test_names_and_parameters_are_read_from_a_file() -> None:
    text = (
        "-- head\n-- name: first\n-- why :not_this\nSELECT :a, ':nor_this', x::int, :b;\n"
        "-- name: second\nSELECT 1\n"
    )
    first, second = sql.named(Path("x.sql"), text)

    assert (first.name, second.name) == ("first", "second")
    assert first.parameters == {"a", "b"}
