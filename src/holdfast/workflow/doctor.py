"""Is everything true that must be? Every invariant, on a living installation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from holdfast.domain.errors import HoldfastError
from holdfast.domain.files import FileEntry
from holdfast.domain.ids import BaseId, EntryId
from holdfast.domain.invariants import AT_REST, IN_THE_INDEX, INVARIANTS
from holdfast.stores.catalog import Expected
from holdfast.stores.index import IndexMissing, Pair
from holdfast.workflow.repair import caps_of, is_whole, repair_everything
from holdfast.workflow.sweep import leftover_builds, unknown_files, unknown_indexes
from holdfast.workflow.workbench import Workbench

OWNERS_PASSED, CLAIMS_OF_AN_OWNER = 1, 1_000_000_000
SAYS = {**INVARIANTS, **AT_REST, **IN_THE_INDEX}
IN_PASSING = frozenset({*AT_REST, "i3_one_build_per_item"})  # true for a moment in sound work
A_MOMENT = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement: which rule, about what, in words."""

    invariant: str
    subject: str
    sentence: str


def doctor(kb: Workbench, *, repair: bool = False) -> list[Finding]:
    """What disagrees; after a repair, what is left."""
    if repair:
        repair_everything(kb)
    found = look(kb)
    if not any(one.invariant in IN_PASSING for one in found):
        return found
    kb.runtime.event().wait(A_MOMENT)
    again = set(look(kb))
    return [one for one in found if one in again]


def look(kb: Workbench) -> list[Finding]:
    """What disagrees at this moment; an owner at work may be between two steps."""
    flaws = kb.main.verify()
    found = [_finding("main_store_is_whole", "holdfast.db", flaw) for flaw in flaws]
    return found + check_rows(kb) + list(check_files(kb)) + check_indexes(kb)


def check_rows(kb: Workbench) -> list[Finding]:
    with kb.main.read() as snapshot:
        rows = snapshot.violations(caps_of(kb)) + snapshot.leftovers()
    return [_finding(one.invariant, one.subject) for one in rows]


def check_files(kb: Workbench) -> Iterator[Finding]:
    """What is listed as stored against what lies there."""
    yield from (_finding("i14_files_are_referenced", name) for name in unknown_files(kb))
    with kb.main.read() as snapshot:
        entries = snapshot.stored_entries()
    for entry in entries:
        said = _wrong_with(kb, entry)
        if said and _still_listed(kb, entry.id):
            yield _finding("i14_entries_have_their_bytes", entry.path, said)


def _wrong_with(kb: Workbench, entry: FileEntry) -> str | None:
    try:
        content = kb.files.kept(entry.path, entry.size)
    except HoldfastError as error:
        return str(error)
    same = sha256(content).hexdigest() == entry.sha256
    return None if same else "the stored bytes are not those that were stored"


def _still_listed(kb: Workbench, entry: EntryId) -> bool:
    """A living owner may have let it go meanwhile."""
    with kb.main.read() as snapshot:
        return bool(snapshot.known_entries([entry]))


def check_indexes(kb: Workbench) -> list[Finding]:
    with kb.main.read() as snapshot:
        bases = [base.id for base in snapshot.bases()]
    unknown = [_finding("i14_indexes_have_their_base", base) for base in unknown_indexes(kb)]
    return unknown + [one for base in bases for one in check_index(kb, base)]


def check_index(kb: Workbench, base: BaseId) -> list[Finding]:
    """What the main store recorded at each publish, against what the index holds."""
    with kb.main.read() as snapshot:
        expected = snapshot.expected_builds(base)
    try:
        seals = kb.index.seals(base, [(one.item, one.build) for one in expected])
        inside = kb.index.verify(base)
    except IndexMissing as error:
        return [_finding("i10_published_builds_are_whole", base, str(error))]
    broken = [one for one in expected if not is_whole(one, seals) and _still_answers(kb, base, one)]
    return [
        *(_finding("i10_published_builds_are_whole", one.item) for one in broken),
        *(_finding("i11_index_agrees_with_itself", base, said) for said in inside),
        *(_finding("i3_one_build_per_item", item) for item, _ in _leftovers(kb, base)),
    ]


def _still_answers(kb: Workbench, base: BaseId, one: Expected) -> bool:
    """A living owner may have published another build since."""
    with kb.main.read() as snapshot:
        return (one.item, one.build) in snapshot.published(base, [one.item])


def _leftovers(kb: Workbench, base: BaseId) -> Iterable[Pair]:
    """What a kill left is the sweep's, until an owner has come and gone without having seen it."""
    with kb.main.read() as snapshot:
        before = (snapshot.epoch() - OWNERS_PASSED) * CLAIMS_OF_AN_OWNER
    return sorted(pair for pair in leftover_builds(kb, base) if pair[1] < before)


def _finding(invariant: str, subject: str, said: str | None = None) -> Finding:
    return Finding(invariant, subject, said or SAYS[invariant])
