"""Is a model's answer usable? Looked at before anything of it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from holdfast.domain.errors import Permanent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def checked(vectors: NDArray[np.float32], texts_count: int, width: int) -> NDArray[np.float32]:
    """The answer as float32 rows, one per text; Permanent(`bad_vectors`) says what is wrong."""
    import numpy as np

    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise Permanent("the model's vectors are of unequal width", code="bad_vectors") from error
    if len(rows.shape) == 0 or len(rows) != texts_count:
        _refuse(f"{texts_count} texts were sent, vectors of shape {rows.shape} came back")
    if texts_count and rows.shape[1:] != (width,):
        got = "x".join(map(str, rows.shape[1:])) or "no"
        _refuse(f"the vectors are {got} wide, the base keeps {width} dimensions")
    if not np.isfinite(rows).all():
        _refuse(f"vector {_first(~np.isfinite(rows))} holds NaN or infinity")
    if not rows.any(axis=1).all():
        _refuse(f"vector {_first(rows.any(axis=1, keepdims=True) == 0)} has no length")
    return rows


def _first(wrong: NDArray[np.bool_]) -> str:
    return f"{wrong.nonzero()[0][0] + 1} of {len(wrong)}"


def _refuse(what: str) -> NoReturn:
    raise Permanent(what, code="bad_vectors")
