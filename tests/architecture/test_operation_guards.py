"""The table in docs/operation-guards.md is the table in domain/guards.py."""

from __future__ import annotations

import re

import pytest

from holdfast.domain.guards import GUARDS, Operation
from tests.architecture import source

PAGE = (source.DOCS / "operation-guards.md").read_text("utf-8")
ALLOWED, COLLAPSES = {"allow": True, "reject": False}, {"yes": True, "no": False}


def rows() -> dict[str, list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells}


def test_the_table_has_a_row_for_each_operation() -> None:
    assert set(rows()) == set(Operation) == set(GUARDS)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_row_says_what_the_guard_does(operation: Operation) -> None:
    base, roots, _extra, written, refused = rows()[operation]

    row = GUARDS[operation]
    assert (ALLOWED[base], COLLAPSES[roots]) == (row.failed_base_allowed, row.collapses_roots)
    assert (written, refused) == (row.before_enqueue, row.if_enqueue_refuses)


@pytest.mark.parametrize("operation", list(Operation))
def test_each_operation_has_its_section(operation: Operation) -> None:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (mine,) = [part for part in section if part.startswith(f"`{operation}`")]

    assert mine.count("**") >= 8
