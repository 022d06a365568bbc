"""Is everything true that must be? Every invariant, on a living installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.domain.chunks import Seal
from holdfast.domain.ids import BaseId
from holdfast.domain.invariants import IN_THE_INDEX, INVARIANTS
from holdfast.stores.catalog import Expected
from holdfast.stores.index import IndexMissing, Pair
from holdfast.workflow.sweep import sweep
from holdfast.workflow.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement: which rule, about what, in words."""

    invariant: str
    subject: str
    sentence: str


def doctor(kb: Workbench, *, repair: bool = False) -> list[Finding]:
    """What disagrees; after a repair, what is left."""
    if repair:
        sweep(kb)
    with kb.main.read() as snapshot:
        rows = snapshot.violations(_caps(kb))
        bases = [base.id for base in snapshot.bases()]
    found = [Finding(one.invariant, one.subject, INVARIANTS[one.invariant]) for one in rows]
    for base in bases:
        found += check_index(kb, base)
    return found


def _caps(kb: Workbench) -> dict[str, int]:
    settings = kb.settings
    return {
        "index": settings.global_concurrency,
        "control": settings.control_concurrency,
        "poll": settings.poll_concurrency,
        "urgent": settings.urgent_concurrency,
    }


def check_index(kb: Workbench, base: BaseId) -> list[Finding]:
    """What the main store recorded at each publish, against what the index holds."""
    with kb.main.read() as snapshot:
        expected = snapshot.expected_builds(base)
    try:
        seals = kb.index.seals(base, [(one.item, one.build) for one in expected])
        inside = kb.index.verify(base)
    except IndexMissing as error:
        return [_finding("i10_published_builds_are_whole", base, str(error))]
    broken = [one for one in expected if not _is_whole(one, seals)]
    return [
        *(_finding("i10_published_builds_are_whole", one.item) for one in broken),
        *(_finding("i11_index_agrees_with_itself", base, said) for said in inside),
    ]


def _is_whole(one: Expected, seals: Mapping[Pair, Seal]) -> bool:
    seal = seals.get((one.item, one.build))
    return seal is not None and (seal.count, seal.digest) == (one.count, one.digest)


def _finding(invariant: str, subject: str, said: str | None = None) -> Finding:
    return Finding(invariant, subject, said or IN_THE_INDEX[invariant])
