"""Which entries of a folder become children, and what is told of the others?"""

from __future__ import annotations

import pytest

from holdfast.ports import Entry, Look
from holdfast.stages.walking.binary import is_clearly_binary
from holdfast.stages.walking.listing import (
    MOST_SKIPPED,
    Manner,
    Skipped,
    is_folder,
    is_silent,
    why_not,
)
from holdfast.stages.walking.rules import Rules, rules_of

FILE, FOLDER, PIPE = Look("file", 10, 1), Look("directory", 0, 1), Look("other", 0, 1)


def manner(*, recursive: bool = True, follow: bool = False, rules: Rules | None = None) -> Manner:
    return Manner(rules or Rules(), recursive, follow, max_file_bytes=10)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry("a.txt", FILE), None),
        (Entry("sub", FOLDER), None),
        (Entry("no-ending", FILE), None),
        (Entry("locked.txt", None), None),
        (Entry("pipe", PIPE), "not a regular file"),
        (Entry("dead-pipe", None, hint="other"), "not a regular file"),
        (Entry("link.txt", FILE, is_symlink=True), "symbolic link"),
        (Entry("link", FOLDER, is_symlink=True), "symbolic link"),
        (Entry("cat.PNG", FILE), "unsupported type"),
        (Entry("big.txt", Look("file", 11, 1)), "larger than max_file_bytes (10)"),
    ],
)
def test_each_kind_of_entry_has_its_answer(entry: Entry, reason: str | None) -> None:
    assert why_not(entry, manner()) == reason


def test_folders_inside_are_passed_over_when_recursive_is_off() -> None:
    assert why_not(Entry("sub", FOLDER), manner(recursive=False)) is not None
    assert why_not(Entry("a.txt", FILE), manner(recursive=False)) is None


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (FILE, None),
        (FOLDER, "symbolic link to a folder"),
        (None, "symbolic link that leads nowhere"),
        (PIPE, "not a regular file"),
    ],
)
def test_links_are_followed_to_files_only(look: Look | None, reason: str | None) -> None:
    assert why_not(Entry("link", look, is_symlink=True), manner(follow=True)) == reason


def test_a_rule_is_named_with_its_file() -> None:
    rules = rules_of([("root", {".gitignore": b"build/"})])

    assert why_not(Entry("build", FOLDER), manner(rules=rules)) == "ignored by .gitignore: build/"
    assert why_not(Entry("build", FILE), manner(rules=rules)) is None


@pytest.mark.parametrize("name", [".git", ".env", ".a.txt"])
def test_hidden_names_are_passed_over_in_silence(name: str) -> None:
    assert is_silent(Entry(name, FILE))


def test_only_a_folder_is_version_control() -> None:
    assert is_silent(Entry("CVS", FOLDER))
    assert not is_silent(Entry("CVS", FILE))


def test_what_cannot_be_examined_is_what_the_folder_says() -> None:
    assert is_folder(Entry("locked", None, hint="directory"))
    assert not is_folder(Entry("locked", None))
    assert not is_folder(Entry("link", FOLDER, is_symlink=True))


@pytest.mark.parametrize("name", ["a.zip", "b.tar.gz", "C.JPG", "lib.so", "x.sqlite"])
def test_names_of_clearly_binary_files(name: str) -> None:
    assert is_clearly_binary(name)


@pytest.mark.parametrize(
    "name", ["zip", ".zip", "a.pdf", "b.docx", "c.md", "d.svg", "e", "f.zip.txt", "readme.ko"]
)
def test_names_of_files_that_are_opened(name: str) -> None:
    assert not is_clearly_binary(name)


def test_the_count_goes_on_when_the_list_is_full() -> None:
    skipped = Skipped()
    for number in range(MOST_SKIPPED + 5):
        skipped.add(f"{number}.zip", "unsupported type")
    skipped.in_silence()

    document = skipped.document()

    assert document is not None
    assert (document["count"], len(document["entries"])) == (MOST_SKIPPED + 6, MOST_SKIPPED)


def test_skipped_goes_on_where_an_earlier_run_was() -> None:
    first = Skipped()
    first.add("caf\udce9.zip", "unsupported type")

    second = Skipped.of(first.document())
    second.add("b.zip", "unsupported type")

    assert second.document() == {
        "count": 2,
        "entries": [
            {"path": "caf\\xe9.zip", "reason": "unsupported type"},
            {"path": "b.zip", "reason": "unsupported type"},
        ],
    }
    assert Skipped.of(None).document() is None
