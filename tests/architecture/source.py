"""What is in the tree, as the architecture tests read it?"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "holdfast"
STORES = PACKAGE / "stores"
DOCS = ROOT / "docs"

TEXT = {".py", ".sql", ".js", ".mjs", ".css", ".html", ".md", ".toml"}


def short(path: Path) -> str:
    """The path as a person names it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


@cache
def modules() -> tuple[Path, ...]:
    """Every Python module of the package; there is always at least one."""
    found = tuple(sorted(PACKAGE.rglob("*.py")))
    assert found, "src/holdfast holds no module: these tests would look at nothing"
    return found


def texts() -> Iterator[tuple[Path, str]]:
    """Every readable file of the package, with its text."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in TEXT and "__pycache__" not in path.parts:
            yield path, path.read_text("utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The module, parsed once for all tests."""
    return ast.parse(path.read_text("utf-8"), str(path))


def tracked() -> list[Path]:
    """What git tracks, and what it would track with the next `git add`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
