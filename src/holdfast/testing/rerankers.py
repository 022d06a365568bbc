"""What does a reranker answer, how slowly, and in which ways does it fail?"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.errors import InvalidInput, ProviderDown, Transient
from holdfast.testing.faults import Fault, Kind
from holdfast.testing.gate import Gate

RERANKER = "sim/longest"
SECONDS = 2.0  # long enough for a delete, a re-index and a crash beside it


class SimReranker:
    """The longer the text, the better; it takes its time."""

    name = RERANKER

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        fault = self._gate.drawn("rerank", "model.rerank")
        self._gate.kernel.sleep(SECONDS, "reranker works")
        if fault is None:
            return [float(len(text)) for text in texts]
        self._gate.before(fault)
        self._refuse(fault)
        self._gate.after(fault)
        return spoilt([float(len(text)) for text in texts], fault.kind)

    def _refuse(self, fault: Fault) -> None:
        match fault.kind:
            case Kind.TOO_MANY:
                raise Transient(f"{self.name} answered {fault.kind}")
            case Kind.SERVER_ERROR:
                raise ProviderDown(f"{self.name} answered {fault.kind}", provider="sim")
            case _:
                pass


class SimRerankers:
    """One there is; everything else is unknown."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def resolve(self, model: str) -> SimReranker:
        if model != RERANKER:
            raise InvalidInput(f"there is no reranker {model}")
        return SimReranker(self._gate)


def spoilt(scores: list[float], kind: Kind) -> list[float]:
    """The answer as a broken model would give it."""
    if kind is Kind.SHORT:
        return scores[:-1]
    return [float("nan"), *scores[1:]] if kind is Kind.NAN else scores
