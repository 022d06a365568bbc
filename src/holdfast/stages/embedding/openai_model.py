"""How are texts embedded by an endpoint that speaks as OpenAI does?

Servers differ in two ways that only asking tells, and what was learnt is remembered for the model:
how many texts they take at once, and whether they can answer in base64. Texts are sent as text,
never as tokens, and the answer is sorted by its own numbers.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.domain.errors import Permanent
from holdfast.stages.remote.endpoint import Endpoint
from holdfast.stages.remote.refusals import NotUnderstood, TooMuch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_INPUTS = 2_048
SECONDS = 120.0
FIXED_TEXT = "How wide are you?"
BASE64, FLOAT = "base64", "float"


class Unusable(Permanent):
    """An answer that holds no vectors, or other ones than were asked for."""

    default_code = "bad_vectors"


class OpenAIEmbedder:
    """One model of one endpoint; 0 dimensions: as wide as it answers."""

    max_tokens: int | None = None
    tokenizer: str | None = None
    batch_tokens: int | None = None
    steady = False  # another model may answer under this name some day

    def __init__(self, model: str, endpoint: Endpoint, dimensions: int) -> None:
        self.name = f"{endpoint.access.name}/{model}"
        self.max_batch = MOST_INPUTS
        self._model, self._endpoint = model, endpoint
        self._form, self._proved = BASE64, False
        self.width = dimensions or endpoint.access.dimensions or self._measured()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, in order, in as many calls as the endpoint makes necessary."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        most = self.max_batch
        slices = [texts[at : at + most] for at in range(0, len(texts), most)]
        return np.concatenate([self._in_halves(some) for some in slices])

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self.embed([query])

    def _in_halves(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Halved while refused for size; what was taken is remembered once all of it was."""
        import numpy as np

        try:
            return self._rows(texts)
        except TooMuch:
            if len(texts) == 1:
                raise
        half = (len(texts) + 1) // 2
        rows = [self._in_halves(texts[:half]), self._in_halves(texts[half:])]
        self.max_batch = min(self.max_batch, half)
        return np.concatenate(rows)

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The answer to one call; in plain numbers if the other form is not understood."""
        if self._form == FLOAT or self._proved:
            return self._asked(texts, self._form)
        rows = self._tried(texts)
        if rows is not None and rows.shape[1] == self.width:
            self._proved = True
            return rows
        plain = self._asked(texts, FLOAT)
        self._form = FLOAT  # only now: a text that is refused in both forms proves nothing
        return plain

    def _tried(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """The answer in base64; None when the endpoint does not speak it, or not as we do."""
        try:
            return self._asked(texts, BASE64)
        except (NotUnderstood, Unusable):
            return None

    def _measured(self) -> int:
        return int(self._asked([FIXED_TEXT], FLOAT).shape[1])

    def _asked(self, texts: Sequence[str], form: str) -> NDArray[np.float32]:
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        body: dict[str, Any] = {"model": self._model, "input": readable, "encoding_format": form}
        if self._endpoint.access.dimensions is not None:
            body["dimensions"] = self._endpoint.access.dimensions
        return rows_of(self._endpoint.post("embeddings", body, SECONDS), len(texts))


def rows_of(answer: Any, count: int) -> NDArray[np.float32]:
    """The vectors in the order of their texts; Permanent(`bad_vectors`) when that cannot be."""
    import numpy as np

    found = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        _refuse("the answer has no list of vectors")
    if len(found) != count:
        _refuse(f"{count} texts were sent, {len(found)} vectors came back")
    places = [one.get("index", place) for place, one in enumerate(found)]
    if set(map(str, places)) != set(map(str, range(count))):
        _refuse("the vectors are not numbered as the texts were")
    rows: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * count
    for place, one in zip(places, found, strict=True):
        rows[int(place)] = _row(one.get("embedding"))
    if len({len(row) for row in rows}) != 1:
        _refuse("the vectors are of unequal width")
    return np.stack(rows)


def _row(value: object) -> NDArray[np.float32]:
    """By what it is, not by what was asked for: some servers answer numbers in any case."""
    import numpy as np

    try:
        if isinstance(value, str):
            return np.frombuffer(b64decode(value, validate=True), dtype="<f4")
        if isinstance(value, list):
            return np.asarray(value, dtype=np.float32)
    except (binascii.Error, TypeError, ValueError) as error:
        raise Unusable("a vector is not made of numbers") from error
    raise Unusable("a vector is missing")


def _refuse(what: str) -> NoReturn:
    raise Unusable(what)
