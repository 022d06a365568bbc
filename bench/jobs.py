"""Is everybody served, and how soon? Claims, starts, fairness, recovery, and the price of waiting.

`python -m bench jobs`, about five minutes. Nothing here is asserted: figures of a shared machine
are read as ratios; what must hold is in the tests.
"""

from __future__ import annotations

import sys

from bench._claims import claims
from bench._engine import adding, idle, recovery, refusal, start_latency
from bench._fairness import fairness, restless
from bench._figures import caveat
from holdfast.interfaces.cli.door import SWITCH_INTERVAL

NAME = "jobs"
PARTS = (claims, start_latency, adding, refusal, fairness, restless, recovery, idle)


def run(*, large: bool = False) -> None:
    caveat()
    sys.setswitchinterval(SWITCH_INTERVAL)
    for part in PARTS:
        part()
    caveat()
