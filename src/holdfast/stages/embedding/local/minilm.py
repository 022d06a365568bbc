"""How does MiniLM embed? all-MiniLM-L6-v2 in onnxruntime: the mean of what it says of each piece.

Texts are sorted by length and sent some thousand padded tokens at a time: padding costs as much as
text does, and larger calls only cost memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.stages.embedding.local.wordpieces import word_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

WIDTH = 384
LONGEST = 256  # with both marks: the length it was trained on
PADDED = 1_024
WORST = 3  # onnxruntime tells errors only


class MiniLM:
    """The model, loaded."""

    def __init__(self, content: bytes) -> None:
        self._pieces = word_pieces()
        self._pieces.enable_truncation(LONGEST)
        self._session = _session(content)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length one per text, in order."""
        import numpy as np

        read = [one.ids for one in self._pieces.encode_batch_fast(list(texts))]
        rows = np.empty((len(read), WIDTH), dtype=np.float32)
        for places in _batches([len(ids) for ids in read]):
            rows[places] = self._rows([read[place] for place in places])
        return rows

    def _rows(self, read: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import numpy as np

        ids = np.zeros((len(read), max(map(len, read))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(read):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        said: NDArray[np.float32] = self._session.run(None, given)[0]
        mean = np.einsum("nld,nl->nd", said, mask.astype(np.float32))  # its length does not matter
        unit: NDArray[np.float32] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def _session(content: bytes) -> InferenceSession:
    """One thread: every worker that embeds brings its own, and none waits by spinning."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # it keeps the largest call's memory for ever
    options.log_severity_level = WORST
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts of similar length, as many as fit into one call when padded."""
    held: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if held and (len(held) + 1) * lengths[place] > PADDED:
            yield held
            held = []
        held.append(place)
    if held:
        yield held
