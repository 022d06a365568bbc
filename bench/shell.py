"""How long does the shell take to say anything? Targets: `--help` and an import under 0.3 s."""

from __future__ import annotations

import os
import subprocess
import sys
import time

NAME = "shell"
REPEATS, LIMIT = 10, 0.3
CALLS = {
    "holdfast --help": ["-m", "holdfast", "--help"],
    "holdfast add --help": ["-m", "holdfast", "add", "--help"],
    "import holdfast": ["-c", "import holdfast"],
}


def run(*, large: bool = False) -> None:
    for label, words in CALLS.items():
        times = [_once(words) for _ in range(REPEATS)]
        wall, cpu = min(one for one, _ in times), min(one for _, one in times)
        verdict = "met" if wall < LIMIT else "MISSED"
        print(f"   {label:22} {wall:6.3f} s, CPU {cpu:6.3f} s, best of {REPEATS}: {verdict}")


def _once(words: list[str]) -> tuple[float, float]:
    began, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system
    return time.perf_counter() - began, cpu - before.children_user - before.children_system
