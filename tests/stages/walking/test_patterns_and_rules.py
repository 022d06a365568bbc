"""Which entries do the rules of `.gitignore` leave out? Git itself is asked as well."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from holdfast.stages.walking.patterns import pattern_of
from holdfast.stages.walking.rules import rules_of

PIECES = ["a", "b", "*", "a*", "*.md", "**", "docs", "x.md", "[ab]", "?", "[!a]", "x\\.md", "*d*"]
TREE = [
    f"{folder}/{path}"
    for folder in ("a", "b", "docs")
    for path in ("x.md", "y.txt", "ab", "a/x.md", "a/a", "b/y.txt", "docs/x.md", "docs/a")
] + ["x.md", "y.txt", "ab"]


def ignored(line: str, path: str) -> bool:
    pattern = pattern_of(line)
    return pattern is not None and pattern.matches(path.rstrip("/").split("/"), path.endswith("/"))


@pytest.mark.parametrize(
    ("line", "hit", "miss"),
    [
        ("*.log", "a.log", "a.log.txt"),
        ("*.log", "deep/down/a.log", "log"),
        ("build/", "build/", "build"),
        ("/build", "build", "inner/build"),
        ("inner/build", "inner/build", "more/inner/build"),
        ("**/build", "a/b/build", "a/builder"),
        ("docs/**", "docs/a", "docs/"),
        ("a/**/b", "a/b", "a/xb"),
        ("a/**/b", "a/x/y/b", "b"),
        ("?.txt", "a.txt", "ab.txt"),
        ("[a-c]x", "bx", "dx"),
        ("[!a-c]x", "dx", "bx"),
        ("[[:digit:]]x", "1x", "ax"),
        ("\\!bang", "!bang", "bang"),
        ("\\#hash", "#hash", "hash"),
        ("trailing   ", "trailing", "trailing   "),
        ("kept\\ ", "kept ", "kept"),
        ("caf\u00e9*", "caf\u00e9s", "cafe"),
    ],
)
def test_a_line_matches_what_it_says_and_nothing_else(line: str, hit: str, miss: str) -> None:
    assert ignored(line, hit)
    assert not ignored(line, miss)


@pytest.mark.parametrize("line", ["", "   ", "# note", "!", "/", "//", "a\\", "[", "[[:none:]]"])
def test_a_line_that_is_no_rule_matches_nothing(line: str) -> None:
    assert not ignored(line, "a")


def test_a_hostile_pattern_is_matched_in_no_time() -> None:
    stars, deep = "*a" * 100 + "b", "/".join(["**", "a"] * 40 + ["b"])
    began = time.process_time()

    assert not ignored(stars, "a" * 250)
    assert not ignored(deep, "/".join(["a"] * 500))

    assert time.process_time() - began < 2


def files_left(lines: bytes) -> set[str]:
    """The tree walked as the engine walks it: what is ignored is never entered."""
    left: set[str] = set()

    def walk(way: tuple[str, ...]) -> None:
        inside = "/".join((*way, ""))
        level = rules_of([("root", {".gitignore": lines}), *((name, {}) for name in way)])
        for name in {path[len(inside) :].split("/")[0] for path in TREE if path.startswith(inside)}:
            is_folder = inside + name not in TREE
            if level.ignored_by(name, is_folder) is None:
                if is_folder:
                    walk((*way, name))
                else:
                    left.add(inside + name)

    walk(())
    return left


def drawn_line(draw: random.Random) -> str:
    body = "/".join(draw.choice(PIECES) for _ in range(draw.choice((1, 1, 1, 2, 2, 3))))
    start = draw.choice(("", "", "/"))
    end = draw.choice(("", "", "/"))
    return draw.choice(("", "", "!")) + start + body + end


@pytest.mark.skipif(shutil.which("git") is None, reason="asks git")
def test_git_leaves_out_the_same_files(tmp_path: Path) -> None:
    for path in TREE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    ask = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    for seed in range(150):
        draw = random.Random(seed)
        lines = "\n".join(drawn_line(draw) for _ in range(draw.randint(1, 5)))
        (tmp_path / ".gitignore").write_text(lines)
        said = subprocess.run(ask, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

        assert files_left(lines.encode()) == set(said.split("\0")) - {"", ".gitignore"}, lines


def test_rules_further_down_are_asked_first() -> None:
    rules = rules_of([("root", {".gitignore": b"*.log"}), ("sub", {".gitignore": b"!keep.log"})])

    assert rules.ignored_by("keep.log", is_folder=False) is None
    assert rules.ignored_by("other.log", is_folder=False) == "../.gitignore: *.log"


def test_our_own_rules_are_asked_before_those_of_git() -> None:
    top = ("root", {".holdfastignore": b"!notes.log\ndraft*"})
    rules = rules_of([top, ("sub", {".gitignore": b"*.log"})])

    assert rules.ignored_by("notes.log", is_folder=False) is None
    assert rules.ignored_by("b.log", is_folder=False) == ".gitignore: *.log"
    assert rules.ignored_by("draft.md", is_folder=False) == "../.holdfastignore: draft*"


def test_a_rule_with_a_path_counts_from_its_own_folder() -> None:
    rules = rules_of([("root", {".gitignore": b"/sub/a.txt\n/b.txt"}), ("sub", {})])

    assert rules.ignored_by("a.txt", is_folder=False) is not None
    assert rules.ignored_by("b.txt", is_folder=False) is None


def test_a_file_of_rules_may_have_a_mark_windows_ends_and_names_that_are_no_text() -> None:
    rules = rules_of([("root", {".gitignore": b"\xef\xbb\xbf*.log\r\ncaf\xe9.txt\r\n"})])

    assert rules.ignored_by("a.log", is_folder=False) == ".gitignore: *.log"
    assert rules.ignored_by("caf\udce9.txt", is_folder=False) is not None
