"""Which processor is meant by a name? Those declared in the settings, each made once."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.config import ProcessorSettings
from holdfast.domain.errors import Permanent
from holdfast.ports import Processor
from holdfast.stages.processing.client import HttpProcessor
from holdfast.stages.processing.services import SERVICES


class Processors:
    """The processors of this installation."""

    def __init__(self, declared: Mapping[str, ProcessorSettings]) -> None:
        self._declared = dict(declared)
        self._made: dict[str, Processor] = {}

    def resolve(self, name: str) -> Processor:
        """Permanent(`processing_failed`) when it cannot be had, saying what is missing."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Processor:
        settings = self._declared.get(name)
        if settings is None:
            known = ", ".join(sorted(self._declared)) or "none"
            raise _missing(f"there is no processor {name!r} here; there are: {known}", name)
        if not settings.base_url:
            raise _missing(f"processor {name} has no base_url", name)
        return HttpProcessor(
            name, SERVICES[settings.kind], settings.base_url, settings.key(), settings.options
        )


def _missing(said: str, name: str) -> Permanent:
    return Permanent(
        said, code="processing_failed", advice=f"complete [processors.{name}] in the settings"
    )
