"""Which of the selected items stand on their own, and how are they named together?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from holdfast.domain.ids import ItemId


def outermost_roots(
    selected: Iterable[ItemId], ancestors: Mapping[ItemId, Iterable[ItemId]]
) -> list[ItemId]:
    """The selected items, each once, without those inside another selected one."""
    chosen = dict.fromkeys(selected)
    return [one for one in chosen if not any(up in chosen for up in ancestors.get(one, ()))]


def roots_digest(roots: Iterable[ItemId]) -> str:
    """One name for a set of roots, whatever their order."""
    return sha256("\n".join(sorted(roots)).encode()).hexdigest()


def slices(roots: Sequence[ItemId], size: int) -> list[Sequence[ItemId]]:
    """The roots in groups of at most `size`, each the work of one job."""
    return [roots[start : start + size] for start in range(0, len(roots), size)]
