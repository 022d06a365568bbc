"""Modules say what they are, keep to their size, and use nothing that a port should give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture import source

MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_A_FILE = 400
# What may be longer, up to which length, and why: "workflow/search.py" or "workflow/search.py:run".
# The test fails when an entry is no longer needed, so the list can only shrink or be argued for.
LONGER: dict[str, tuple[int, str]] = {}

NAMES_THAT_SAY_NOTHING = {
    *("util", "utils", "utilities", "helper", "helpers", "common", "misc", "stuff"),
    *("manager", "managers", "toolbox"),
}
LEFT_UNDONE = re.compile(r"\b(?:TODO|FIXME|XXX)\b|\bNotImplementedError\b|pragma:\s*no\s+cover")
# The real files, and a test double that stages what files can do; elsewhere: Files (ports.py).
MAY_OPEN = ("machine/", "testing/")


def test_every_module_opens_with_a_sentence() -> None:
    silent = [
        source.short(path)
        for path in source.modules()
        if not opens_with_a_sentence(ast.get_docstring(source.tree(path)))
    ]

    assert not silent, "\n".join(silent)


def test_no_module_has_a_name_that_says_nothing() -> None:
    found = [
        source.short(path)
        for path in source.PACKAGE.rglob("*")
        if path.suffix in {"", ".py", ".sql", ".js"} and says_nothing(path)
    ]

    assert not found, "\n".join(found)


def test_nothing_is_left_undone() -> None:
    found = [
        f"{source.short(path)}: {match.group()}"
        for path, text in source.texts()
        for match in LEFT_UNDONE.finditer(text)
    ]

    assert not found, "\n".join(found)


def test_functions_and_files_keep_their_size() -> None:
    sizes = dict(each for path in source.modules() for each in measured(path))
    too_long = [
        f"{name}: {lines} lines"
        for name, lines in sizes.items()
        if lines > LONGER.get(name, (limit_of(name), ""))[0]
    ]

    assert not too_long, "\n".join(too_long)


def test_an_exception_from_the_sizes_is_still_needed_and_has_a_reason() -> None:
    sizes = dict(each for path in source.modules() for each in measured(path))
    idle = [name for name in LONGER if sizes.get(name, 0) <= limit_of(name)]

    assert not idle
    assert all(reason.strip() for _, reason in LONGER.values())


def test_files_are_opened_by_the_machine() -> None:
    found = [
        f"{source.short(path)}:{line}"
        for path in source.modules()
        if not path.relative_to(source.PACKAGE).as_posix().startswith(MAY_OPEN)
        for line in opens(source.tree(path))
    ]

    assert not found, "take Files (ports.py) instead of open():\n" + "\n".join(found)


def opens_with_a_sentence(docstring: str | None) -> bool:
    first = (docstring or "").strip().split("\n\n")[0]
    return re.match(r"[`\w].*?[.?](?=[\s\"')]|$)", first, re.DOTALL) is not None


def says_nothing(path: Path) -> bool:
    return path.stem.strip("_").lower() in NAMES_THAT_SAY_NOTHING


def limit_of(name: str) -> int:
    return MOST_LINES_OF_A_FUNCTION if ":" in name else MOST_LINES_OF_A_FILE


def measured(path: Path) -> Iterator[tuple[str, int]]:
    """The file and each of its functions, with their lines."""
    name = path.relative_to(source.PACKAGE).as_posix()
    yield name, len(path.read_text("utf-8").splitlines())
    for qualified, lines in functions(source.tree(path)):
        yield f"{name}:{qualified}", lines


def functions(node: ast.AST, inside: str = "") -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            qualified = f"{inside}{child.name}"
            if not isinstance(child, ast.ClassDef):
                yield qualified, (child.end_lineno or child.lineno) - child.lineno + 1
            yield from functions(child, f"{qualified}.")
        else:
            yield from functions(child, inside)


def opens(module: ast.Module) -> list[int]:
    """Lines that call the built-in open(), which ruff's banned names do not see."""
    return [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
    ]


# ------------------------------------------------------- the rules themselves, on planted text


@pytest.mark.parametrize(
    "docstring",
    [None, "", "   ", "Holds the queue", "Holds the queue:\n\nand then says more."],
)
def test_a_module_that_does_not_open_with_a_sentence_is_seen(docstring: str | None) -> None:
    assert not opens_with_a_sentence(docstring)


@pytest.mark.parametrize(
    "docstring", ["Where is it kept?", "One line. Then\nmore:", "Two lines, that\nend here."]
)
def test_a_sentence_may_ask_or_tell(docstring: str) -> None:
    assert opens_with_a_sentence(docstring)


def test_a_name_that_says_nothing_is_seen() -> None:
    named = ["jobs/utils.py", "Helpers.py", "_common.py", "misc", "jobs/claim.py"]

    assert [says_nothing(Path(name)) for name in named] == [True, True, True, True, False]


@pytest.mark.parametrize(
    "planted",
    ["# TO" + "DO later", "raise NotImplemented" + "Error", "x()  # pragma: no" + " cover"],
)
def test_what_is_left_undone_is_seen(planted: str) -> None:
    assert LEFT_UNDONE.search(planted)


def test_lines_are_counted_per_function() -> None:
    module = ast.parse(
        "class A:\n    def b(self):\n        def c():\n            pass\n        c()\n"
    )

    assert dict(functions(module)) == {"A.b": 4, "A.b.c": 2}


def test_the_built_in_open_is_seen() -> None:
    assert opens(ast.parse("x = 1\nwith open('a') as file:\n    files.open('b')")) == [2]
