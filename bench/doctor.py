"""What does the doctor find, and what does it mend? Every planted damage, one row each."""

from __future__ import annotations

import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from holdfast.interfaces.cli.shell import run as shell
from tests.workflow.damages import DAMAGES, Damage, Visit, planted, sound_folder, visit

NAME = "doctor"


def run(*, large: bool = False) -> None:
    seen: list[tuple[Damage, Visit]] = []
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as name:
        sound = sound_folder(Path(name) / "sound")
        for number, damage in enumerate(DAMAGES, start=1):
            folder = planted(sound, Path(name) / str(number), damage)
            seen.append((damage, visit(folder, damage, answer)))
            _told(number, *seen[-1])
    can = sum(damage.repairable for damage in DAMAGES)
    found, mended = sum(one.found for _, one in seen), sum(one.repaired for _, one in seen)
    wrong = sum(not one.is_right_for(damage) for damage, one in seen)
    print(
        f"{len(DAMAGES)} kinds planted, {found} found; {can} can be repaired, {mended} are; "
        f"{wrong} exit codes or states are not as they should be"
    )


def answer(words: list[str]) -> tuple[int, Any]:
    """A command in this process, its document caught."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        code = shell(words)
    return code, json.loads(out.getvalue())


def _told(number: int, damage: Damage, seen: Visit) -> None:
    mended = "repaired" if seen.repaired else "left"
    print(
        f"{number:3} {damage.what:62}{'found' if seen.found else 'NOT FOUND':11}{mended:10}"
        f"exit {seen.codes[0]}, {seen.codes[1]}  {'' if seen.is_right_for(damage) else 'WRONG'}"
    )
    for one in seen.left if not seen.is_right_for(damage) else ():
        print(f"      {one}")
