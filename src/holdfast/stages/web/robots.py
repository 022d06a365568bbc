"""Does a site want its pages read by programs? Its robots.txt says so, asked for once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.domain.addresses import address_of
from holdfast.domain.errors import Permanent
from holdfast.ports import Fetched

FORBIDDEN = "robots.txt forbids it"
LARGEST = 512 << 10  # what search engines read of one
ROBOT = "Holdfast"


@dataclass(slots=True)
class Robots:
    """What the sites of one sitemap allow; a file that is not there allows everything.

    One that cannot be had just now forbids the whole: the Transient error of the fetch rises.
    """

    fetch: Callable[[str], Fetched]
    rules: dict[str, Any] = field(default_factory=dict[str, Any])

    def allow(self, url: str) -> bool:
        origin = address_of(url).origin
        if origin not in self.rules:
            self.rules[origin] = self._rules(origin)
        rules = self.rules[origin]
        return rules is None or bool(rules.can_fetch(url, ROBOT))

    def _rules(self, origin: str) -> Any:
        from protego import Protego

        try:
            found = self.fetch(f"{origin}/robots.txt")
        except Permanent as error:
            if error.code == "fetch_refused":
                raise
            return None
        return Protego.parse((found.content or b"")[:LARGEST].decode("utf-8", "replace"))
