"""A shell in a fresh folder for each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.doors import Shell


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path / "kb"))
    monkeypatch.chdir(tmp_path)
    interval = sys.getswitchinterval()
    opened = Shell(tmp_path, monkeypatch, capsys)
    yield opened
    opened.close()
    sys.setswitchinterval(interval)
