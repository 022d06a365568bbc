"""What only a real process shows: two at once, signals, pipes, how soon help is there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast import HoldfastError
from holdfast.domain.item_states import Status
from tests.interfaces.doors import Shell

HEAVY = ("numpy", "apsw", "pydantic", "pydantic_settings", "simsimd", "rich", "structlog")
MANY = {f"{number}.md": f"# Doc {number}\n\n" + "some words of it. " * 150 for number in range(600)}


HELP = "import sys; from holdfast.interfaces.cli.shell import run; run(['--help']);"


def test_help_imports_nothing_heavy(shell: Shell) -> None:
    script = f"{HELP} sys.exit(', '.join(one for one in {HEAVY} if one in sys.modules) or 0)"

    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    assert said.stderr == b""
    assert b"holdfast add ~/documents" in said.stdout


@pytest.mark.slow
def test_help_is_there_at_once(shell: Shell) -> None:
    times: list[float] = []
    for _ in range(10):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", HELP], capture_output=True, check=True)
        times.append(time.monotonic() - began)

    assert min(times) < 0.3


def test_every_command_has_help_with_an_example(shell: Shell) -> None:
    listed = shell.run("--help").out.partition("Commands:\n")[2]
    commands = re.findall(r"^  (\w+) ", listed, re.MULTILINE)

    assert len(commands) >= 15
    for name in commands:
        told = shell.run(name, "--help")
        assert told.code == 0
        assert re.search(rf"Examples?:\n.*holdfast {name}", told.out, re.DOTALL), name
        assert "--data FOLDER" in told.out


def test_the_executable_adds_and_finds(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})

    added = shell.real("add", "docs", "--json")
    found = shell.real("search", "lamp")

    assert (added.code, found.code) == (0, 0)
    assert added.document["created"][0]["status"] == "completed"
    assert "The lamp hums." in found.out


def test_the_console_script_is_installed(shell: Shell) -> None:
    script = Path(sys.executable).parent / "holdfast"

    said = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)

    assert said.returncode == 0
    assert said.stdout.startswith("holdfast ")


def test_reading_commands_work_beside_a_living_owner_and_writing_ones_name_it(
    shell: Shell,
) -> None:
    shell.json("add", "-", stdin="Green tea.")
    shell.write(MANY)
    owner = shell.start("add", "docs", "--model", "hash/64", "--base", "many")
    shell.eventually(lambda: _owner(shell) == str(owner.pid), "the folder is owned")

    for words in (
        ("search", "tea"),
        ("ls", "--limit", "5"),
        ("show", "Green tea."),
        ("queue",),
        ("explain", "Green tea."),
        ("history", "Green tea."),
        ("bases",),
        ("stats",),
        ("doctor",),
    ):
        assert shell.run(*words, "--json").code == 0, words
    for writing in (("rm", "Green tea."), ("reindex", "Green tea."), ("recover",), ("dismiss",)):
        told = shell.run(*writing, "--json")
        assert told.code == 1
        assert told.error["code"] == "owned"
        assert f"pid {owner.pid}" in told.error["message"]
        assert "wait until that process has ended" in told.error["advice"]
    owner.send_signal(signal.SIGINT)
    assert shell.ended(owner).code == 130


def _owner(shell: Shell) -> str:
    """The process that has the folder; only looked at, as taking it would keep the owner out."""
    lock = shell.data / "engine.lock"
    return lock.read_text() if (shell.data / "holdfast.db").exists() else ""


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_signal_in_the_middle_of_add_stops_gracefully_and_the_next_command_goes_on(
    shell: Shell, number: signal.Signals
) -> None:
    shell.write(MANY)
    child = shell.start("add", "docs", "--model", "hash/384")
    shell.eventually(lambda: 0 < _ready(shell) < len(MANY), "it is in the middle")

    child.send_signal(number)
    began = time.monotonic()
    stopped = shell.ended(child)

    assert stopped.code == 130
    assert time.monotonic() - began < 10
    assert re.search(r"Stopped\. [\d,]+ of 600 documents unfinished", stopped.err)
    assert "Nothing is lost" in stopped.err
    assert _ready(shell) < len(MANY)

    going_on = shell.real("add", "-", stdin="Green tea.")

    assert going_on.code == 0, going_on.err
    assert _ready(shell) == len(MANY) + 1
    assert shell.json("doctor")["healthy"]
    assert (
        shell.json("stats")["textsEmbedded"]
        <= sum(one["chunkCount"] for one in shell.json("bases")["items"]) + 4 * 128
    )


def _ready(shell: Shell) -> int:
    """How many documents can be found at this moment."""
    try:
        with shell.read() as hf:
            items = [item.id for base in hf.bases() for item in hf.items(base).items]
            return hf.tally(items).completed
    except HoldfastError:
        return 0  # its owner has not made it yet


@pytest.mark.slow
def test_an_interrupted_add_still_answers_one_document(shell: Shell) -> None:
    shell.write(MANY)
    child = shell.start("add", "docs", "--model", "hash/384", "--json")
    shell.eventually(lambda: _ready(shell) > 0, "it is in the middle")

    child.send_signal(signal.SIGINT)
    stopped = shell.ended(child)

    assert stopped.code == 130
    assert stopped.document["interrupted"] is True
    assert stopped.document["created"][0]["status"] in {Status.PREPARING, Status.PROCESSING}


def test_a_reader_that_goes_away_ends_the_listing_quietly(shell: Shell) -> None:
    shell.write({f"{number}.md": "Tea." for number in range(400)})
    shell.json("add", "docs", "--no-wait")
    shell.json("recover")
    listing = f"{sys.executable} -m holdfast ls --json | head -c 10"

    said = subprocess.run(
        ["sh", "-c", listing],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOLDFAST_DATA": str(shell.data)},
    )

    assert said.stdout == '{\n  "items'
    assert said.stderr == ""


@pytest.mark.slow
def test_a_killed_add_loses_nothing(shell: Shell) -> None:
    shell.write(MANY)
    child = shell.start("add", "docs", "--model", "hash/64")
    shell.eventually(lambda: _ready(shell) > 0, "it is in the middle")

    child.kill()
    shell.ended(child)
    again = shell.real("add", "docs", "--json")

    assert again.code == 0
    assert [item["status"] for item in json.loads(again.out)["reindexed"]] == ["completed"]
    assert _ready(shell) == len(MANY)
    assert shell.json("doctor")["healthy"]


@pytest.mark.slow
def test_the_chaos_test_kills_and_finds_every_promise_kept(shell: Shell) -> None:
    said = shell.real("selftest", "--chaos", "--kills", "5", "--json")

    assert said.code == 0
    assert said.document["kills"] == 5
    assert said.document["accepted"] > 40


def test_completion_scripts_are_offered(shell: Shell) -> None:
    # else the shell is looked for among our ancestors, and there may be none (a service, nohup)
    shell.patch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")

    said = shell.real("--show-completion", "bash")

    assert said.code == 0
    assert "_HOLDFAST_COMPLETE" in said.out
