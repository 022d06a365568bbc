"""How does a search ask a model without waiting for minutes? While it is there, and not for long.

Nobody queues here: a question goes out beside the batches. A provider that is paused is not asked,
and one that takes too long is not waited for: the call ends by itself, its answer is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from holdfast.domain.chunks import about_tokens
from holdfast.domain.errors import ProviderDown, ProviderPaused
from holdfast.workflow.providers import row_of
from holdfast.workflow.workbench import Workbench

Answer = TypeVar("Answer")


class Asked(Generic[Answer]):
    """One question under way."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self.answer: Answer | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.answer = self._ask()
        except Exception as error:  # noqa: BLE001  (raised again by whoever waits)
            self.error = error


def soon(
    kb: Workbench, provider: str, text: str, ask: Callable[[], Answer], patience: float | None
) -> Answer:
    """The answer; ProviderDown when it is not there soon. What is computed here is waited for."""
    row = row_of(kb, provider)
    if row is not None:
        raise ProviderPaused(f"{provider} is paused: {row.reason}", provider=provider)
    kb.kitchen.count(provider, about_tokens(text))
    if patience is None:
        return ask()
    asked = Asked(ask)
    thread = kb.runtime.thread(asked.run, "question")
    thread.join(patience)
    if asked.error is not None:
        raise asked.error
    if asked.answer is None:
        raise ProviderDown(f"no answer within {patience:.0f} s", provider=provider)
    return asked.answer
