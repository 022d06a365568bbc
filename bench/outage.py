"""What does half an hour without a provider cost, and can unusable vectors get in?

`python -m bench outage`, about two minutes of CPU. Production code on the virtual clock of the
simulator (holdfast.testing.illness): base A embeds with the ill provider, base B with another one.
Wall-clock time plays no part, so a busy machine changes no figure.
"""

from __future__ import annotations

from holdfast.config import load
from holdfast.testing.illness import HALF_AN_HOUR, OUTAGES, Course, course
from holdfast.testing.models import SPOILT

NAME = "outage"


def run(*, large: bool = False) -> None:
    interval = load(None).provider_probe_interval
    print(f"\n{HALF_AN_HOUR:.0f} s of illness, a look every {interval:.0f} s")
    for kind in OUTAGES:
        print(told(kind.value, course(kind, notes=200 if large else 40)))
    print("\na minute of unusable vectors")
    for kind in sorted(SPOILT):
        print(told(kind.value, course(kind, seconds=60.0, notes=1_000 if large else 40)))


def told(what: str, went: Course) -> str:
    return (
        f"  {what:18} calls {len(went.asked):5}  of them while paused {len(went.later):4}, "
        f"at once {went.most_at_once}  failed {went.failed or 0}  completed {went.completed:5}  "
        f"wrong vectors {went.wrong}  B's speed {went.beside:5.0%}  back after {went.back:4.1f} s"
    )
