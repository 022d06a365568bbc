"""What the tests of the shell share: a fresh folder, and words typed into it.

`Shell.run` runs a command in this process, which is quick; `Shell.start` the real executable, for
what only a process can show: signals, exit codes of the system, two at once.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.interfaces.cli.shell import run

PATIENCE = 30.0


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout; anything beside it fails here."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def error(self) -> dict[str, Any]:
        assert set(self.document) == {"error"}
        told: dict[str, Any] = self.document["error"]
        assert set(told) == {"code", "message", "advice", "blocking"}
        return told


@dataclass
class Shell:
    """A user in a fresh folder."""

    home: Path
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    _running: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])

    @property
    def data(self) -> Path:
        return self.home / "kb"

    def run(self, *words: str, stdin: str | bytes = b"") -> Said:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        typed = SimpleNamespace(buffer=io.BytesIO(given), isatty=lambda: False)
        self.patch.setattr(sys, "stdin", typed)
        self.capture.readouterr()
        code = run(list(words))
        said = self.capture.readouterr()
        return Said(code, said.out, said.err)

    def json(self, *words: str, stdin: str | bytes = b"", code: int = 0) -> dict[str, Any]:
        said = self.run(*words, "--json", stdin=stdin)
        assert said.code == code, said.err
        return said.document

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            cwd=self.home,
            env={**os.environ, "HOLDFAST_DATA": str(self.data), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append(child)
        return child

    def real(self, *words: str, stdin: str = "", **environment: str) -> Said:
        child = self.start(*words, **environment)
        return self.ended(child, stdin)

    def ended(self, child: subprocess.Popen[str], stdin: str = "") -> Said:
        out, err = child.communicate(stdin, timeout=PATIENCE)
        return Said(child.returncode, out, err)

    def close(self) -> None:
        for child in self._running:
            child.kill()
            child.communicate()  # closes its pipes

    def write(self, files: Mapping[str, str | bytes], folder: str = "docs") -> Path:
        root = self.home / folder
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    def read(self) -> Holdfast:
        return Holdfast.open(self.data, read_only=True)

    def eventually(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"not in {PATIENCE} s: {what}"
            time.sleep(0.02)
