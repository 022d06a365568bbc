"""How does a test start a second Python with our code, and end it as a power cut would?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import holdfast

SOURCE = Path(holdfast.__file__).parents[1]
PATIENCE = 60


@contextmanager
def python(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process at work on a script; killed when the test leaves it."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    try:
        yield process
    finally:
        kill(process)


def says(process: subprocess.Popen[str]) -> str:
    """The next line it prints; empty when it has ended."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    """As nothing in the process can see or delay; its pipes are closed."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)


def answer(script: str, *arguments: object) -> str:
    """What a script prints until it ends by itself."""
    with python(script, *arguments) as process:
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    return out.strip()
