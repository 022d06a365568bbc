"""Which fault has been met at which port call, and how often?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from holdfast.testing.faults import POSSIBLE, Kind

ENOUGH = 50
WIDTH = 7


def expected(ports: Mapping[str, str]) -> list[tuple[str, str]]:
    """Every (port call, fault kind) that can be met."""
    return [(call, kind.value) for call in sorted(ports) for kind in POSSIBLE[ports[call]]]


def rare(hits: Counter[tuple[str, str]], ports: Mapping[str, str]) -> list[tuple[str, str]]:
    """The pairs that were met too seldom."""
    return [pair for pair in expected(ports) if hits[pair] < ENOUGH]


def matrix(hits: Counter[tuple[str, str]], ports: Mapping[str, str]) -> str:
    """A table of counts, calls down and kinds across; `-` where a kind is not possible."""
    kinds = [kind for kind in Kind if any(kind in POSSIBLE[port] for port in ports.values())]
    lines = [" " * 34 + "".join(f"{kind.value[: WIDTH - 1]:>{WIDTH}}" for kind in kinds)]
    lines += [f"{call:<34}" + _cells(call, ports[call], kinds, hits) for call in sorted(ports)]
    lines.append(_verdict(hits, ports))
    return "\n".join(lines)


def _cells(call: str, port: str, kinds: list[Kind], hits: Counter[tuple[str, str]]) -> str:
    counts = (str(hits[call, kind.value]) if kind in POSSIBLE[port] else "-" for kind in kinds)
    return "".join(f"{count:>{WIDTH}}" for count in counts)


def _verdict(hits: Counter[tuple[str, str]], ports: Mapping[str, str]) -> str:
    pairs = expected(ports)
    below = rare(hits, ports)
    least = min((hits[pair] for pair in pairs), default=0)
    named = "; ".join(f"{call} {kind}" for call, kind in below[:12])
    return (
        f"{len(pairs)} pairs (port call, fault kind), least {least} times, "
        f"{len(below)} below {ENOUGH}{': ' + named if below else ''}"
    )
