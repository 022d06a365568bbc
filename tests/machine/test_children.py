"""Children: what a stranger's document can do to the process that reads it, and to nobody else."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.errors import DiskFull, Permanent, Transient
from holdfast.machine.children import Children, RunningChild
from holdfast.ports import Limits

QUICKLY = Limits(memory=400 << 20, cpu=20, silence=20.0, output=10 << 20)
TASKS = "tests.machine.tasks"


@pytest.fixture(scope="module")
def forking() -> Iterator[Children]:
    children = Children(warm=(TASKS,))
    yield children
    children.close()


@pytest.fixture(scope="module")
def recycling() -> Iterator[Children]:
    children = Children(warm=(TASKS,), forks=False)
    yield children
    children.close()


@pytest.fixture(params=["forking", "recycling"])
def children(request: pytest.FixtureRequest) -> Children:
    found: Children = request.getfixturevalue(request.param)
    return found


def start(
    children: Children,
    task: str,
    argument: Any = None,
    limits: Limits = QUICKLY,
    check: Callable[[], None] = lambda: None,
) -> RunningChild:
    return children.start(
        f"{TASKS}:{task}", argument or {}, about="a.pdf", limits=limits, check=check
    )


def answers(children: Children, task: str, argument: Any = None, limits: Limits = QUICKLY) -> Any:
    with start(children, task, argument, limits) as child:
        return list(child)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def refused(children: Children, task: str, argument: Any = None, limits: Limits = QUICKLY) -> str:
    """The sentence of the failure; and the next document is read as if nothing had been."""
    with pytest.raises(Permanent) as caught:
        answers(children, task, argument, limits)
    assert caught.value.code == "parser_failed"
    assert caught.value.advice
    assert "a.pdf" in str(caught.value)
    assert len(answers(children, "count", {"n": 3})) == 3
    return str(caught.value)


def test_answers_come_in_order_and_as_they_were_given(children: Children) -> None:
    found = answers(children, "count", {"n": 2_000, "text": "日本\U0001f600\ud800\x00"})

    assert [one["number"] for one in found] == list(range(2_000))
    assert found[-1]["text"] == "日本\U0001f600\ud800\x00"


def test_an_answer_larger_than_the_pipe_comes_whole(children: Children) -> None:
    assert answers(children, "one_big", {"size": 8 << 20}) == ["x" * (8 << 20)]


def test_an_error_of_the_task_keeps_its_class_code_and_advice(children: Children) -> None:
    with pytest.raises(Permanent, match=r"b\.pdf is scanned") as caught:
        answers(children, "refuse")
    assert (caught.value.code, caught.value.advice) == ("needs_ocr", "use OCR")

    with pytest.raises(DiskFull):
        answers(children, "disk")


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("stumble", "ValueError: odd bytes"),
        ("crash", "SIGSEGV"),
        ("abort", "SIGABRT"),
        ("leave", "exit code 7"),
        ("recurse", "RecursionError"),
        ("swallow", "MiB of memory"),
        ("flood", "bytes of answers"),
        ("shout", "cannot be read"),
        ("nothing_of_this_name", "AttributeError"),
    ],
)
def test_whatever_a_task_does_is_an_error_of_its_item_alone(
    forking: Children, task: str, sentence: str
) -> None:
    assert sentence in refused(forking, task)


@pytest.mark.parametrize("task", ["stumble", "crash", "leave", "swallow", "flood"])
def test_without_forking_the_process_is_replaced(recycling: Children, task: str) -> None:
    refused(recycling, task)


def test_a_healthy_process_reads_the_next_document_too(recycling: Children) -> None:
    first, second = answers(recycling, "where")[0], answers(recycling, "where")[0]

    assert first["pid"] == second["pid"]


def test_a_child_that_computes_too_long_is_ended(children: Children) -> None:
    said = refused(children, "spin", limits=Limits(memory=400 << 20, cpu=1, silence=20.0))

    assert "processor time" in said or "SIGXCPU" in said


def test_a_child_that_says_nothing_too_long_is_ended(children: Children) -> None:
    assert "no answer" in refused(children, "hang", limits=Limits(memory=400 << 20, silence=0.2))


def test_a_slow_reader_is_not_the_childs_fault(children: Children) -> None:
    with start(children, "count", {"n": 100, "text": "x" * 50_000}, Limits(silence=0.5)) as child:
        next(child)
        time.sleep(0.7)

        assert len(list(child)) == 99


def test_what_check_raises_ends_the_child_within_a_tenth_of_a_second(children: Children) -> None:
    told: list[float] = []

    def check() -> None:
        if told:
            told.append(time.monotonic())
            raise InterruptedError

    child = start(children, "hang", check=check)
    pid = next(child)
    told.append(time.monotonic())
    with pytest.raises(InterruptedError):
        next(child)

    assert told[1] - told[0] < 0.1
    assert not is_alive(pid)


def test_closing_ends_the_whole_group_and_what_left_it(forking: Children) -> None:
    child = start(forking, "multiply")
    started = next(child)
    assert all(is_alive(pid) for pid in started)

    child.close()

    until(lambda: not any(is_alive(pid) for pid in started))


def test_a_child_that_ends_leaves_nobody_behind(forking: Children) -> None:
    (started,) = answers(forking, "leave_others_behind")

    until(lambda: not any(is_alive(pid) for pid in started))


def test_a_child_has_none_of_our_secrets(
    monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")

    assert "OPENAI_API_KEY" not in answers(children, "where")[1]


def test_a_child_writes_no_file(children: Children, tmp_path: Any) -> None:
    place = tmp_path / "mine"

    assert answers(children, "write_a_file", {"place": str(place)}) == ["OSError", []]
    assert not place.exists() or place.stat().st_size == 0


def test_nothing_can_be_made_in_a_childs_working_folder(children: Children) -> None:
    assert answers(children, "make_a_name_here") == ["FileNotFoundError"]


def test_a_child_opens_few_handles(children: Children) -> None:
    assert answers(children, "open_many") == [24]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may leave the network for certain")
def test_a_child_reaches_no_address(children: Children) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        assert answers(children, "call_out", {"port": port}) != ["connected"]


def test_a_killed_host_blames_no_document_and_is_started_anew(forking: Children) -> None:
    child = start(forking, "hang")
    pid = next(child)
    host = answers(forking, "where")[0]["parent"]
    os.kill(host, signal.SIGKILL)

    with pytest.raises(Transient):
        next(child)
    until(lambda: not is_alive(pid))
    assert answers(forking, "where")[0]["parent"] != host


def test_the_host_has_one_thread(forking: Children) -> None:
    assert answers(forking, "where")[0]["threads"] == 1


def test_a_host_that_cannot_start_says_so() -> None:
    children = Children(warm=("no.such.module",))

    with pytest.raises(Permanent, match="could not be started"):
        start(children, "count")
    children.close()


def test_after_close_nothing_runs_and_nothing_starts() -> None:
    children = Children(warm=(TASKS,))
    child = start(children, "hang")
    pid, host = next(child), children._host
    assert host is not None

    children.close()

    assert not is_alive(pid)
    assert not is_alive(host.pid)
    with pytest.raises(Transient):
        start(children, "count")


OWNER = """
import sys
from holdfast.machine.children import Children
from tests.machine.test_children import start
children = Children(warm=("tests.machine.tasks",))
held = [start(children, "multiply") for _ in range(3)]
print(children._host.pid, *(pid for one in held for pid in next(one)), flush=True)
sys.stdin.read()
"""


def test_children_and_host_go_with_an_owner_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        started = [int(word) for word in owner.stdout.readline().split()]
        assert len(started) == 10
        owner.kill()

    until(lambda: not any(is_alive(pid) for pid in started))
