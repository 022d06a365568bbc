"""`holdfast models`, and the model a base has when nobody names one."""

from __future__ import annotations

import pytest

from tests.interfaces.doors import Shell


@pytest.fixture(autouse=True)
def _own_cache(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_MODEL_CACHE", str(shell.home / "cache"))
    monkeypatch.delenv("HOLDFAST_DEFAULT_EMBEDDING_MODEL", raising=False)


def test_the_models_are_listed_with_the_default(shell: Shell) -> None:
    listed = shell.json("models")

    assert [one["name"] for one in listed["models"] if one["isDefault"]] == ["local/auto"]
    assert {one["maxTokens"] for one in listed["models"]} == {254}
    assert listed["optimized"] is False


def test_a_model_that_cannot_be_loaded_says_why(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_LOCAL_MODEL_FOLDER", str(shell.home / "nowhere"))

    assert all("nowhere" in one["trouble"] for one in shell.json("models")["models"])


@pytest.mark.slow
def test_optimizing_makes_a_file_once(shell: Shell) -> None:
    first = shell.json("models", "optimize")
    made = (shell.home / "cache").stat().st_mtime_ns
    second = shell.json("models", "optimize")

    assert first == second
    assert (shell.home / "cache").stat().st_mtime_ns == made
    assert shell.json("models")["optimized"] is True


@pytest.mark.slow
def test_a_first_run_says_how_it_could_be_quicker_and_then_no_more(shell: Shell) -> None:
    shell.write({"tea.md": "Green tea is steeped at seventy degrees."})

    first = shell.run("add", "docs", "--base", "one")
    shell.run("models", "optimize")
    second = shell.run("add", "docs", "--base", "two")

    assert "(local/auto)" in first.err
    assert "holdfast models optimize" in first.err
    assert "optimize" not in second.err


def test_a_base_is_found_by_meaning_and_in_another_language(shell: Shell) -> None:
    shell.write(
        {
            "tea.md": "Green tea is steeped at seventy degrees.",
            "car.md": "The engine needs oil every ten thousand kilometres.",
        }
    )
    shell.json("add", "docs")
    assert shell.json("bases")["items"][0]["chunkSize"] == 254

    hits = shell.json("search", "绿茶应该用多热的水泡？", "--mode", "vector")["hits"]

    assert hits[0]["title"] == "tea.md"


def test_none_is_a_base_searched_by_words(shell: Shell) -> None:
    made = shell.run("add", "-", "--model", "none", stdin="Green tea.")

    assert "searched by words." in made.err
    assert shell.json("bases")["items"][0]["embeddingModel"] is None


def test_models_takes_one_word_only(shell: Shell) -> None:
    assert shell.run("models", "download").code == 2
