"""How is tesseract run? As a program fed by a pipe: it needs no file and leaves none."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from holdfast.domain.errors import Permanent

PROGRAM = "tesseract"
SECONDS = 120


def is_installed() -> bool:
    return shutil.which(PROGRAM) is not None


def missing_language(wanted: str) -> str:
    """The first of `eng+deu` that is not there; empty when all are."""
    return next((one for one in wanted.split("+") if one not in _languages()), "")


def recognised(picture: bytes, languages: str) -> str:
    """The text of a picture; Permanent when tesseract cannot make sense of it."""
    command = [PROGRAM, "stdin", "stdout", "-l", languages]
    try:
        ended = subprocess.run(
            command, input=picture, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Permanent(f"tesseract failed: {error}", code="parser_failed") from error
    if ended.returncode:
        said = " ".join(ended.stderr.decode("utf-8", "replace").split())[:200]
        raise Permanent(f"tesseract failed: {said}", code="parser_failed")
    return ended.stdout.decode("utf-8", "replace")


@cache
def _languages() -> frozenset[str]:
    try:
        ended = subprocess.run(
            [PROGRAM, "--list-langs"], capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(ended.stdout.decode("utf-8", "replace").split())
