"""May the children that a finished listing did not meet be deleted?

A folder whose disk is not mounted looks like a folder that somebody emptied. What nobody asked for
is therefore never deleted on such evidence, and what a user asked for only when the folder shows
that it is there. docs/decisions/010 says why.
"""

from __future__ import annotations

from dataclasses import dataclass

FEW = 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a finished listing found, beside what was known before it."""

    met: int  # entries that are children now
    known: int  # of these, children that were there before
    missing: int  # children that were there before and were not met
    is_bare: bool  # the folder has no entry at all, not even a hidden one
    is_added: bool  # the folder a user added, not one inside it


def may_delete_missing(evidence: Evidence, *, asked: bool, pruned: bool) -> bool:
    """`asked`: a user's re-index. `pruned`: the user has confirmed that what is missing is gone."""
    if pruned:
        return True
    if asked:
        return not (evidence.is_bare and evidence.is_added)
    before = evidence.known + evidence.missing
    lost_most = before >= FEW and evidence.missing * 2 > before
    return evidence.met > 0 and not evidence.is_bare and not lost_most
