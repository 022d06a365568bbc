"""What does a model answer, what does it cost, and in which ways does it fail?

Vectors are small, cheap and a function of the text alone. Every text that was embedded is counted,
also when the answer was lost: somebody paid for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from holdfast.domain.chunks import text_hash
from holdfast.domain.errors import Permanent, ProviderDown, Transient
from holdfast.domain.ids import TextHash
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.gate import Gate
from holdfast.workflow.providers import FIXED_TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "sim/8"
BATCH, WIDTH = 8, 8
WIDEST = 32


@dataclass(slots=True)
class Asked:
    """A call of a provider that was ill: when, for how long, and was it the fixed text?"""

    began: float
    ended: float
    fixed: bool


class Bill:
    """What the provider's invoice says; outlives the processes."""

    def __init__(self) -> None:
        self.texts: Counter[TextHash] = Counter()
        self.calls = 0
        self.latency = 0.0
        self.wasted = 0  # texts whose answer was lost or spoilt by an injected fault
        self.ill: dict[str, Kind] = {}  # providers that answer every call like this
        self.asked: list[Asked] = []  # every call of a provider while it was ill

    def charge(self, texts: Sequence[str]) -> None:
        self.calls += 1
        self.texts.update(text_hash(text) for text in texts if text != FIXED_TEXT)

    def embedded(self) -> int:
        return sum(self.texts.values())


class SimEmbedder:
    """A model of this installation."""

    def __init__(self, name: str, width: int, bill: Bill, gate: Gate) -> None:
        self.name, self.width, self.max_batch = name, width, BATCH
        self.max_tokens: int | None = None
        self.tokenizer: str | None = None
        self.batch_tokens: int | None = None
        self.steady = False
        self._bill, self._gate = bill, gate

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        fault = self._gate.drawn("model", "model.embed")
        if (kind := self._bill.ill.get(self.provider)) is not None:
            return self._ill(texts, Fault(0, "model.embed", kind, RETRY_AFTER))
        if fault is None:
            return self._answer(texts)
        self._gate.before(fault)
        self._refuse(fault)
        answer = self._answer(texts)
        if fault.kind in SPOILT or fault.kind in LOST:
            self._bill.wasted += len(texts)
        self._gate.after(fault)
        return spoilt(answer, fault.kind)

    @property
    def provider(self) -> str:
        return self.name.partition("/")[0]

    def _ill(self, texts: Sequence[str], fault: Fault) -> NDArray[np.float32]:
        now = self._gate.kernel.now
        asked = Asked(now, now, texts[0] == FIXED_TEXT)
        self._bill.asked.append(asked)
        try:
            self._refuse(fault)
            return spoilt(self._answer(texts), fault.kind)
        finally:
            asked.ended = self._gate.kernel.now

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self.embed([query])

    def _answer(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._bill.latency:
            self._gate.kernel.sleep(self._bill.latency, "model works")
        self._bill.charge(texts)
        return np.stack([vector_of(text, self.width) for text in texts])

    def _refuse(self, fault: Fault) -> None:
        what = f"{self.name} answered {fault.kind}"
        match fault.kind:
            case Kind.TOO_MANY:
                raise Transient(what)
            case Kind.TOO_MANY_LATER:
                raise Transient(what, retry_after=fault.amount)
            case Kind.SERVER_ERROR:
                raise ProviderDown(what, provider=self.provider)
            case Kind.TIMEOUT:
                self._gate.kernel.sleep(120.0, "model timeout")
                raise Transient(what)
            case _:
                pass


RETRY_AFTER = 30.0
PROVIDERS = frozenset({"sim", "far"})
SPOILT = frozenset({Kind.SHORT, Kind.NAN, Kind.ZERO, Kind.WIDE})
LOST = frozenset({Kind.ERROR_AFTER, Kind.CRASH_AFTER, Kind.POWER_CUT})


class SimEmbedders:
    """`sim/WIDTH` and `far/WIDTH` up to 32; everything else is missing."""

    def __init__(self, bill: Bill, gate: Gate) -> None:
        self._bill, self._gate = bill, gate
        self.missing = False

    def resolve(self, model: str, dimensions: int) -> SimEmbedder:
        if self.width(model) != dimensions:
            raise Permanent(f"{model} is not {dimensions} wide", code=MISSING)
        return SimEmbedder(model, dimensions, self._bill, self._gate)

    def width(self, model: str) -> int:
        provider, _, width = model.partition("/")
        known = provider in PROVIDERS and width.isdecimal() and 0 < int(width) <= WIDEST
        if self.missing or not known:
            raise Permanent(f"there is no model {model}", code=MISSING)
        return int(width)


MISSING = "missing_embedding_model"


def vector_of(text: str, width: int) -> NDArray[np.float32]:
    """A unit vector that the text alone decides."""
    digest = np.frombuffer(sha256(text.encode()).digest()[:width], dtype=np.uint8)
    vector = digest.astype(np.float32) - np.float32(127.3)
    return vector / np.float32(np.sqrt(np.dot(vector, vector)))


def spoilt(answer: NDArray[np.float32], kind: Kind) -> NDArray[np.float32]:
    """The answer as a broken model would give it."""
    match kind:
        case Kind.SHORT:
            return answer[:-1]
        case Kind.NAN:
            return np.where(np.arange(len(answer))[:, None] == 0, np.float32("nan"), answer)
        case Kind.ZERO:
            return np.zeros_like(answer)
        case Kind.WIDE:
            return np.concatenate([answer, answer], axis=1)
        case _:
            return answer
