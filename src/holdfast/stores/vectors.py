"""What may be kept as a vector, and how alike are two of them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.domain.errors import Permanent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_rows(vectors: NDArray[np.float32], count: int, width: int | None) -> NDArray[np.float32]:
    """The rows at length one; Permanent(`bad_vectors`) unless there are as many, as wide, finite.

    `width` is what the space already holds, None when it is empty.
    """
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    if rows.shape != (count, rows.shape[-1]):
        raise Permanent(f"{count} texts, but vectors of shape {rows.shape}", code="bad_vectors")
    if width is not None and rows.shape[1] != width:
        raise Permanent(f"vectors are {rows.shape[1]} wide, not {width}", code="bad_vectors")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise Permanent("a vector is not finite or has no length", code="bad_vectors")
    unit: NDArray[np.float32] = rows / lengths
    return unit


def unit_query(query: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """The query at length one, as wide as the space."""
    import numpy as np

    flat = np.asarray(query, dtype=np.float32).reshape(1, -1)
    row: NDArray[np.float32] = unit_rows(flat, 1, width)[0]
    return row


def best_first(scores: Sequence[float] | NDArray[np.float32], k: int) -> list[int]:
    """The places of the k highest scores, best first, equal ones in order of place."""
    import numpy as np

    values = np.asarray(scores)
    if k <= 0 or not len(values):
        return []
    if k < len(values):
        kth = np.partition(values, len(values) - k)[len(values) - k]
        chosen = np.flatnonzero(values >= kth)
    else:
        chosen = np.arange(len(values))
    order = np.argsort(-values[chosen], kind="stable")[:k]
    return [int(place) for place in chosen[order]]
