"""Wrong use is exit code 2, what could not be done is 1; both say what and what to do."""

from __future__ import annotations

import pytest

from tests.interfaces.doors import Shell


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("frob",),
        ("search",),
        ("add",),
        ("ls", "--frob"),
        ("search", "tea", "--top-k", "many"),
        ("search", "tea", "--top-k", "0"),
        ("search", "tea", "--top-k", "101"),
        ("search", "tea", "--mode", "fuzzy"),
        ("search", ""),
        ("search", "x" * 8_001),
        ("ls", "--limit", "0"),
        ("ls", "--status", "sleeping"),
        ("ls", "--cursor", "nonsense"),
        ("show", ""),
        ("add", "-", "-"),
        ("add", "docs", "--title", "no stdin"),
        ("add", "-"),
        ("add", "docs", "--base", " "),
        ("add", "docs", "--model", "hash/64"),
        ("rm",),
        ("rm", "--whole-base"),
        ("selftest", "--kills", "0"),
        ("ls", "--config", "/nowhere.toml"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(shell: Shell, words: tuple[str, ...]) -> None:
    shell.write({"a.md": "The lamp hums."})
    shell.json("add", "-", "--base", "default", stdin="Green tea.")

    plain = shell.run(*words)
    told = shell.run(*words, "--json")

    assert (plain.code, told.code) == (2, 2), plain.err
    assert plain.out == ""
    assert "Error: " in plain.err
    assert told.error["code"] == "invalid_input"
    assert told.error["message"]
    assert told.error["advice"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "nothing"), "not_found"),
        (("ls", "--base", "nothing"), "not_found"),
        (("search", "tea", "--base", "nothing"), "not_found"),
        (("rm", "nothing"), "not_found"),
        (("reindex", "nothing"), "not_found"),
        (("explain", "nothing"), "not_found"),
        (("history", "nothing"), "not_found"),
        (("queue", "--base", "nothing"), "not_found"),
        (("recover", "--base", "nothing"), "not_found"),
        (("dismiss", "--base", "nothing"), "not_found"),
        (("rm", "--whole-base", "--base", "nothing"), "not_found"),
        (("add", "-", "--base", "new", "--model", "frob/1"), "missing_embedding_model"),
        (("rm", "Green tea.", "Black tea."), "mixed_bases"),
        (("show", "Black tea.", "--chunks"), "not_completed"),
        (("reindex", "Black tea.", "--no-wait"), "conflict"),
    ],
)
def test_what_cannot_be_done_is_told_and_ends_with_1(
    shell: Shell, words: tuple[str, ...], code: str
) -> None:
    shell.json("add", "-", "--base", "green", stdin="Green tea.")
    shell.json("add", "-", "--base", "black", "--no-wait", stdin="Black tea.")

    told = shell.run(*words, "--json", stdin="White tea.")

    assert told.code == 1
    assert told.error["code"] == code
    assert told.error["advice"]


def test_a_conflict_names_what_stands_in_the_way(shell: Shell) -> None:
    item = shell.json("add", "-", "--no-wait", stdin="Green tea.")["created"][0]["id"]

    told = shell.run("reindex", "Green tea.", "--no-wait", "--json")

    assert told.error["blocking"] == [
        {"itemId": item, "name": "Green tea.", "status": "processing"}
    ]
    assert "--skip-active" in told.error["advice"]
    assert "Green tea. is processing" in told.err


def test_a_name_that_fits_several_items_lists_them(shell: Shell) -> None:
    shell.write({"one/a.md": "Green tea.", "two/a.md": "Black tea."})
    shell.json("add", "docs")

    told = shell.run("show", "a.md", "--json")

    assert told.code == 2
    assert "one/a.md" in told.error["message"]
    assert "two/a.md" in told.error["message"]
    assert shell.json("show", "two/a.md")["source"].endswith("two/a.md")


@pytest.mark.parametrize("words", [("ls",), ("search", "tea"), ("bases",), ("doctor",), ("queue",)])
def test_a_folder_that_holds_nothing_yet_says_how_to_begin(
    shell: Shell, words: tuple[str, ...]
) -> None:
    told = shell.run(*words, "--json")

    assert told.code == 1
    assert told.error["code"] == "not_found"
    assert "holdfast add PATH" in told.error["advice"]
    assert not shell.data.exists()


def test_a_settings_file_that_is_no_toml_is_named(shell: Shell) -> None:
    config = shell.home / "my.toml"
    config.write_text("top_k = = 3", "utf-8")

    told = shell.run("add", "-", "--config", str(config), "--json", stdin="Tea.")

    assert told.code == 2
    assert "my.toml is not valid TOML" in told.error["message"]


def test_a_setting_that_is_not_one_is_named(shell: Shell) -> None:
    shell.data.mkdir()
    (shell.data / "holdfast.toml").write_text("frob = 3\n", "utf-8")

    told = shell.run("add", "-", "--json", stdin="Tea.")

    assert told.code == 2
    assert "frob" in told.error["message"]


def test_a_note_that_is_no_text_is_refused(shell: Shell) -> None:
    told = shell.run("add", "-", "--json", stdin=b"\xff\xfe\x00")

    assert told.code == 2
    assert "not UTF-8" in told.error["message"]


def test_another_model_for_a_base_that_is_there_is_refused(shell: Shell) -> None:
    shell.json("add", "-", "--model", "hash/64", stdin="Green tea.")

    told = shell.run("add", "-", "--model", "hash/32", "--json", stdin="Black tea.")

    assert told.code == 2
    assert "hash/64" in told.error["message"]


def test_a_defect_is_told_as_an_error_too(shell: Shell) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    shell.json("add", "-", stdin="Green tea.")
    shell.patch.setattr("holdfast.interfaces.library.search", broken)

    told = shell.run("search", "tea", "--json")

    assert told.code == 1
    assert told.error["code"] == "internal"
    assert "planted" in told.error["message"]
    assert "Traceback" in told.err
