"""How does a command line become an exit code?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import typer

from holdfast.interfaces.cli import (  # noqa: F401  (each registers its command)
    add,
    bases,
    doctor,
    explain,
    judging,
    ls,
    models,
    queue,
    reindex,
    rm,
    search,
    selftest,
    show,
)
from holdfast.interfaces.cli.command import app
from holdfast.interfaces.cli.exits import DONE, FAILED, INTERRUPTED, WRONG_USE


def run(words: Sequence[str]) -> int:
    """Run one command; wrong use is told in the form asked for."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a name in no encoding must not end a listing
    try:
        code = app(args=list(words), prog_name="holdfast", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _wrong_use(error, words)
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:  # `holdfast ls | head`: whoever read has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # noqa: TID251  (not a file)
        return FAILED
    return code if isinstance(code, int) else DONE


def _wrong_use(error: typer.TyperException, words: Sequence[str]) -> int:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "holdfast"
    advice = f"see {path} --help"
    options = words[: list(words).index("--")] if "--" in words else words
    if "--json" in options:
        told = {"code": "invalid_input", "message": message, "advice": advice, "blocking": []}
        sys.stdout.write(json.dumps({"error": told}, ensure_ascii=False, indent=2) + "\n")
    sys.stderr.write(f"Error: {message}\n{advice}\n")
    return WRONG_USE
