"""How is a vector looked at in a millionth of a second? As a code of 8 bits, or 1, per dimension.

A page of vectors is packed as its rows of int8, each row scaled so that its largest number is 127,
followed by the rows' scales. `Block` holds 65,536 rows; a row is written once and never moved, so
a search reads while others write: it takes what it needs under a lock and looks at it without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8] | NDArray[np.uint8]
    Floats = NDArray[np.float32]

BLOCK_ROWS = 65_536
LARGEST = 127
SAMPLE = 4_096


def packed(vectors: Floats) -> bytes:
    """A page of codes and scales."""
    import numpy as np

    largest = np.abs(vectors).max(axis=1, keepdims=True) if len(vectors) else vectors[:, :1]
    scales = (largest / LARGEST).astype(np.float32)
    codes = np.rint(vectors / scales).astype(np.int8)
    return codes.tobytes() + scales.tobytes()


def unpacked(page: bytes | memoryview, rows: int, width: int) -> tuple[NDArray[np.int8], Floats]:
    """Codes and scales of a page; ValueError when it is not of that size."""
    import numpy as np

    whole = np.frombuffer(page, dtype=np.uint8)
    if len(whole) != packed_size(rows, width):
        raise ValueError(f"{len(whole)} bytes of codes for {rows} rows of {width}")
    codes = whole[: rows * width].view(np.int8).reshape(rows, width)
    scales = np.frombuffer(whole[rows * width :].tobytes(), dtype=np.float32)
    return codes, scales


def packed_size(rows: int, width: int) -> int:
    return rows * (width + 4)


def bits(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """One bit per dimension: is it positive?"""
    import numpy as np

    return np.packbits(codes > 0, axis=-1)


def scores_of_codes(query: Floats, codes: NDArray[np.int8], scales: Floats) -> Floats:
    """Inner products of the query with each row, good enough to choose whom to look at closely."""
    import numpy as np

    scale = max(float(np.abs(query).max()) / LARGEST, 1e-30)
    wanted = np.rint(query / scale).astype(np.int8)
    scores: Floats = _inner(wanted, codes) * scales
    scores *= np.float32(scale)
    return scores


def scores_of_bits(query: Floats, codes: NDArray[np.uint8]) -> Floats:
    """The fewer bits differ, the nearer."""
    return -_differing(bits(query), codes)


def _inner(wanted: NDArray[np.int8], codes: NDArray[np.int8]) -> Floats:
    import numpy as np

    try:
        import simsimd
    except ImportError:
        return _slowly(wanted, codes)
    found = simsimd.cdist(wanted[np.newaxis], codes, "inner", out_dtype="f32")
    return np.asarray(found, dtype=np.float32).reshape(-1)


def _slowly(wanted: NDArray[np.int8], codes: NDArray[np.int8]) -> Floats:
    """Without the library: in parts, as a float copy of all of it would be four times as large."""
    import numpy as np

    parts = [codes[at : at + SAMPLE] for at in range(0, len(codes), SAMPLE)]
    flat = wanted.astype(np.float32)
    found = [part.astype(np.float32) @ flat for part in parts]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.float32)


def _differing(wanted: NDArray[np.uint8], codes: NDArray[np.uint8]) -> Floats:
    import numpy as np

    try:
        import simsimd
    except ImportError:
        different: Floats = np.bitwise_count(codes ^ wanted).sum(axis=1).astype(np.float32)
        return different
    row = wanted[np.newaxis]
    found = simsimd.cdist(row, codes, "hamming", dtype="bin8", out_dtype="f32")
    return np.asarray(found, dtype=np.float32).reshape(-1)


def highest(scores: Floats, k: int) -> NDArray[np.intp]:
    """The places of the k highest finite scores, in no order; a sample spares most the sorting."""
    import numpy as np

    places: NDArray[np.intp] | None = None
    if k < SAMPLE < len(scores):
        bar = np.partition(scores[:SAMPLE], SAMPLE - k)[SAMPLE - k]
        places = np.flatnonzero(scores >= bar) if np.isfinite(bar) else None
    if places is None:
        places = np.flatnonzero(scores > -np.inf)
    if len(places) > k:
        chosen = scores[places]
        places = places[np.argpartition(chosen, len(chosen) - k)[len(chosen) - k :]]
    return places
