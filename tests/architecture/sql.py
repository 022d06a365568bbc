"""How do statements stand in `.sql` files, who calls them, and what do they write?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture import source

NAME = re.compile(r"^-- name:[ \t]*(.*?)[ \t]*\n", re.MULTILINE)
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r"'(?:[^']|'')*'")
PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")

# The methods that take the name of a statement: as the first word, or, for these, as the second.
CALLS = {"run", "one", "value", "returned", "rows"}
CALLS_SECOND = {"prepare"}

# Columns that several statements share stand once and are put in where `/*noun*/` stands.
SHARED = re.compile(r"/\*(\w+)\*/")

SHAPES = re.compile(
    r"""
    ^\s*(?:
        SELECT\s | VALUES\s*\( | WITH\s+(?:RECURSIVE\s+)?\w+.*\bAS\s*\(
      | (?i:select\s+(?:distinct\s+)?[\w.*()]+(?:\s*,\s*[\w.*()]+)*\s+from\s+\w+)
      | (?i:insert\s+(?:or\s+\w+\s+)?into\s) | (?i:replace\s+into\s)
      | (?i:update\s+(?:or\s+\w+\s+)?\w+\s+set\s) | UPDATE\s+\w*\s*$
      | (?i:delete\s+from\s)
      | (?i:pragma\s+\w+\s*(?:[=(;]|$)) | PRAGMA\s
      | (?i:(?:create|drop)\s+(?:unique\s+|temp\s+|temporary\s+|virtual\s+)?
             (?:table|index|trigger|view)\s)
      | (?i:alter\s+table\s)
      | BEGIN(?:\s+(?:IMMEDIATE|EXCLUSIVE|DEFERRED|TRANSACTION))*\s*;?\s*$
      | (?:COMMIT|END|VACUUM|ANALYZE)\s*;?\s*$ | ROLLBACK(?:\s+TO\b.*)?\s*;?\s*$
      | SAVEPOINT\b | RELEASE\b | VACUUM\s+INTO\b | (?:ATTACH|DETACH)\s
    )
    | \bWHERE\s+\S | \bORDER\s+BY\s | \bGROUP\s+BY\s | \bLEFT\s+JOIN\s | \bINNER\s+JOIN\s
    """,
    re.VERBOSE | re.DOTALL,
)
# A transaction is the shape of Python's own blocks, so its edges stand where the block is.
EDGES = re.compile(
    r"(?:BEGIN(?: IMMEDIATE)?|COMMIT|ROLLBACK|(?:SAVEPOINT|RELEASE|ROLLBACK TO)\b.*)"
)
EDGES_AT = {
    "stores/sqlite/connection.py",
    "testing/disks.py",  # the simulated disk looks for them
}


@dataclass(frozen=True, slots=True)
class Named:
    """One named statement of one file."""

    file: Path
    name: str
    body: str

    @property
    def bare(self) -> str:
        """The statement without comments and literals."""
        return STRING.sub("''", COMMENT.sub(" ", self.body))

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(PARAMETER.findall(self.bare))


def statements(folder: Path) -> list[Named]:
    """Every named statement below a folder, schemas included."""
    return [found for file in sorted(folder.rglob("*.sql")) for found in named(file)]


def named(file: Path, text: str | None = None) -> Iterator[Named]:
    parts = NAME.split(text if text is not None else file.read_text("utf-8"))
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        yield Named(file, name, body.strip())


def is_schema(statement: Named) -> bool:
    """Schemas and migrations fill tables anew; the rules of writers are not theirs."""
    words = (*statement.file.parts[-2:], statement.file.stem)
    return any(word.startswith(("schema", "migrat")) for word in words)


# ------------------------------------------------------------------------- SQL inside Python


def sql_literals(module: ast.Module, *, edges_allowed: bool = False) -> list[tuple[int, str]]:
    """String literals that look like SQL, with their lines; docstrings may say what they like."""
    found: list[tuple[int, str]] = []
    for line, text in _literals(module):
        if edges_allowed and EDGES.fullmatch(text.strip()):
            continue
        if SHAPES.search(text):
            found.append((line, text.strip().splitlines()[0]))
    return found


def _literals(module: ast.Module) -> Iterator[tuple[int, str]]:
    # docstrings, and the pieces of f-strings: ast.walk comes to the whole before its parts
    passed_over = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            passed_over.update(id(part) for part in node.values)
            yield node.lineno, "".join(_piece(part) for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in passed_over:
            yield from [(node.lineno, node.value)] if isinstance(node.value, str) else []


def _piece(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "x"


# ----------------------------------------------------------------------- names called in Python


def called(module: ast.Module) -> set[str]:
    """The names that are handed to a session, or looked up among the statements of a file."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            found.update(_named_by_call(node))
        elif isinstance(node, ast.Subscript) and _gives_statements(node.value):
            found.update(_words(node.slice))
    return found


def mentioned(module: ast.Module) -> set[str]:
    """Every string literal that could be a name; and all names of files that are used whole."""
    found = {text for _, text in _literals(module) if re.fullmatch(r"[a-z][a-z0-9_]*", text)}
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and node.attr in {"items", "values", "keys"}:
            found.update(f"{file}.sql" for file in _file_of(node.value))
    return found


def _named_by_call(call: ast.Call) -> set[str]:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if isinstance(function, ast.Attribute) and name in CALLS and call.args:
        return _words(call.args[0])
    if name in CALLS_SECOND and len(call.args) > 1:
        return _words(call.args[1])
    return set()


def _words(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.IfExp):
        return _words(node.body) | _words(node.orelse)
    return set()


def _gives_statements(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in {"statements", "_statements"}
    return bool(_file_of(node))


def _file_of(node: ast.expr) -> set[str]:
    """The file in `queries("file")`."""
    if not isinstance(node, ast.Call) or not node.args:
        return set()
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return _words(node.args[0]) if name == "queries" else set()


# --------------------------------------------------------------------- columns a statement writes

UPDATE = re.compile(
    r"\bupdate\s+(?:or\s+\w+\s+|only\s+)?(?P<table>\w+)(?:\s+(?:as\s+)?(?!set\b)\w+)?\s+set\b"
    r"|\binsert\s+(?:or\s+\w+\s+)?into\s+(?P<into>\w+)"
    r"|\bdo\s+update\s+set\b",
    re.IGNORECASE,
)
OVERWRITE = re.compile(
    r"\b(?:replace\s+into|insert\s+or\s+replace\s+into)\s+(?P<table>\w+)", re.IGNORECASE
)
AFTER_SET = re.compile(r"\b(?:where|from|returning|order|limit)\b|;", re.IGNORECASE)


def updates(statement: Named) -> set[tuple[str, str]]:
    """The (table, column) pairs that a statement changes in rows that exist."""
    text, table = statement.bare, ""
    found = {(match["table"].lower(), "*") for match in OVERWRITE.finditer(text)}
    for match in UPDATE.finditer(text):
        if match["into"]:
            table = match["into"].lower()
            continue
        target = match["table"].lower() if match["table"] else table
        found.update((target, column) for column in _assigned(text[match.end() :]))
    return found


def _assigned(rest: str) -> Iterator[str]:
    """The columns left of `=` in a SET clause; subselects stay in their brackets."""
    flat = _outside_brackets(rest)
    end = AFTER_SET.search(flat)
    for part in _split(flat[: end.start() if end else len(flat)]):
        left = part.partition("=")[0]
        yield from (word.lower() for word in re.findall(r"\w+", left))


def _split(clause: str) -> list[str]:
    return re.split(r",(?![^(]*\))", clause)


def _outside_brackets(text: str) -> str:
    """The text with whatever stands in brackets right of an `=` blanked out."""
    kept: list[str] = []
    depth, right = 0, False
    for character in text:
        if character == ")" and depth:
            depth -= 1
        elif character == ")":
            break  # the end of a statement inside brackets: WITH changed AS (UPDATE ...)
        kept.append(character if depth == 0 or not right else " ")
        if character == "(":
            depth += 1
        elif depth == 0 and character in "=,":
            right = character == "="
    return "".join(kept)


def python_of(folder: Path) -> list[Path]:
    """The modules of a store."""
    return [path for path in source.modules() if path.is_relative_to(folder)]


def shared_columns(dialect: str) -> set[str]:
    """The nouns whose columns some statement asks for."""
    folder = source.STORES / dialect / "sql"
    return {noun for statement in statements(folder) for noun in SHARED.findall(statement.body)}
