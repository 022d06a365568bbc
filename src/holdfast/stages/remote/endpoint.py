"""How is an endpoint asked? One JSON document there, one back, within a time, and no secret told.

Only the endpoint that was declared is asked: redirects are not followed, because the key would go
with them, and the environment's proxies and netrc are not consulted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.config import Access
from holdfast.domain.errors import ProviderDown, StageFailed, Transient
from holdfast.ports import Clock
from holdfast.stages.remote.refusals import refusal

if TYPE_CHECKING:
    import httpx

CONNECTING = 10.0
MOST_BYTES = 1 << 28
OK = 200
KEPT_OPEN = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Endpoint:
    """A declared provider."""

    def __init__(self, access: Access, clock: Clock) -> None:
        self.access, self._clock = access, clock

    def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        """The JSON that is answered; StageFailed, in our words, when it is no success."""
        import httpx

        try:
            answer = self._answer(path, body, seconds)
        except (httpx.TimeoutException, TimeoutError) as error:
            raise Transient(self._said(f"did not answer within {seconds:.0f} s")) from error
        except httpx.HTTPError as error:
            raise self._down(f"cannot be reached: {self._hidden(str(error))}") from error
        if answer.status != OK:
            raise self._refusal(answer)
        try:
            return json.loads(answer.content)
        except ValueError as error:
            raise self._down("answered something that is no JSON") from error

    def close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        return httpx.Client(
            trust_env=False, limits=httpx.Limits(max_keepalive_connections=KEPT_OPEN)
        )

    def _answer(self, path: str, body: Mapping[str, Any], seconds: float) -> Answer:
        """Read piece by piece: a server that drips must not hold a slot for ever."""
        import httpx

        until = self._clock.mono() + seconds
        headers = {"Authorization": f"Bearer {self.access.key}"} if self.access.key else {}
        waits = httpx.Timeout(seconds, connect=min(seconds, CONNECTING))
        content = bytearray()
        with self._client.stream(
            "POST", f"{self.access.base_url}/{path}", json=body, headers=headers, timeout=waits
        ) as answer:
            for piece in answer.iter_bytes():
                content += piece
                if self._clock.mono() > until:
                    raise TimeoutError
                if len(content) > MOST_BYTES:
                    raise self._down(f"answered more than {MOST_BYTES >> 20} MiB")
            return Answer(answer.status_code, answer.headers, bytes(content))

    def _refusal(self, answer: Answer) -> StageFailed:
        words = self._hidden(answer.content[:100_000].decode("utf-8", "replace"))
        now = self._clock.wall()
        return refusal(self.access.name, answer.status, answer.headers, words, now)

    def _down(self, what: str) -> ProviderDown:
        return ProviderDown(self._said(what), provider=self.access.name)

    def _said(self, what: str) -> str:
        return f"provider {self.access.name} {what}"

    def _hidden(self, words: str) -> str:
        return words.replace(self.access.key, "***") if self.access.key else words
