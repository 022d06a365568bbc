"""How is a processing service spoken to? Four verbs over HTTP, guided by a `Service` of data.

Errors are translated here, once: nobody answered, too many requests or a fault of the service is
Transient; a request it will never take is Permanent and repeats its words; an id it does not know
is `lost`, which is no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from holdfast.domain.errors import Permanent, Transient
from holdfast.domain.processing import Converted, Report, Word
from holdfast.ports import Source
from holdfast.stages.processing.services import Service, Where

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx

PATIENCE = 60.0  # seconds for one answer
LONG_POLL = 3  # seconds the service may keep a question, when it knows how
MAX_WORDS = 500
BUSY = frozenset({408, 425, 429})
KEY_REFUSED = frozenset({401, 403})
UNKNOWN = frozenset({404, 410})
ANY_NAME = "*"


class HttpProcessor:
    """One declared service; its connections are kept and shared by threads."""

    def __init__(
        self,
        name: str,
        service: Service,
        base_url: str,
        key: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self._service, self._options = name, service, dict(options or {})
        self._base = base_url.rstrip("/")
        self._headers = {service.key_header: key} if service.key_header and key else {}
        self._client: httpx.Client | None = None

    def submit(self, source: Source) -> str:
        service = self._service
        fields = {**self._options, **service.fields}  # how the answer comes is not for choosing
        with _opened(source) as content:
            files = {service.upload: (source.name, content, "application/octet-stream")}
            answer = self._accepted(self._send("POST", service.submit, data=fields, files=files))
        task = first(answer, service.task)
        if not task:
            raise Permanent(
                f"{self.name} answered without a {'.'.join(service.task)}", code="processing_failed"
            )
        return str(task)

    def status(self, remote_id: str) -> Report:
        service = self._service
        wait = {service.wait: LONG_POLL} if service.wait else {}
        response = self._send("GET", self._at(service.status, remote_id), params=wait)
        if response.status_code in UNKNOWN:
            return Report(Word.LOST, said=self._words(response))
        answer = self._accepted(response)
        said = str(first(answer, service.word) or "")
        word = service.words.get(said)
        if word is None:
            raise Transient(f"{self.name} says {said!r}, which is no word of its contract")
        ahead = first(answer, service.ahead) if word is Word.PENDING else None
        return Report(word, said=self._told(answer), ahead=self._before(ahead))

    def result(self, remote_id: str) -> Converted | None:
        service = self._service
        response = self._send("GET", self._at(service.result, remote_id))
        if response.status_code in UNKNOWN:
            return None
        if response.status_code in service.not_ready:
            raise Transient(f"{self.name} calls it done and its result is still to come")
        answer = self._accepted(response)
        text = first(answer, service.text)
        if not isinstance(text, str):
            said = self._told(answer) or "without saying why"
            raise Permanent(f"{self.name} gave no text, {said}", code="processing_failed")
        return Converted(text.encode("utf-8", "replace"), self._warning(answer))

    def cancel(self, remote_id: str) -> None:
        """Neither service can: what it is at is forgotten here, and let go there by itself."""

    def _warning(self, answer: object) -> str | None:
        service = self._service
        if first(answer, service.partial) not in service.partial_words:
            return None
        told = self._told(answer)
        return "partial_result" + (f": {told}" if told else "")

    def _told(self, answer: object) -> str | None:
        """What the service says for people, wherever it says it."""
        for path in self._service.said:
            if said := first(answer, path):
                return str(said)[:MAX_WORDS]
        return None

    def _before(self, ahead: object) -> int | None:
        if not isinstance(ahead, int):
            return None
        return max(0, ahead - self._service.ahead_counts_itself)

    def _at(self, path: str, remote_id: str) -> str:
        from urllib.parse import quote

        return path.replace("{id}", quote(remote_id, safe=""))

    def _send(self, method: str, path: str, **given: Any) -> httpx.Response:
        import httpx

        try:
            return self._open().request(method, f"{self._base}{path}", **given)
        except httpx.InvalidURL as error:
            raise Permanent(
                f"the base_url of {self.name} is no address: {error}", code="processing_failed"
            ) from error
        except httpx.HTTPError as error:
            said = str(error) or type(error).__name__
            raise Transient(f"{self.name} does not answer: {said}", code=FAILED) from error

    def _open(self) -> httpx.Client:
        if self._client is None:
            import httpx

            self._client = httpx.Client(
                headers=self._headers, timeout=PATIENCE, trust_env=False, verify=_trusted()
            )
        return self._client

    def _accepted(self, response: httpx.Response) -> object:
        """The answer's JSON, when the service meant it as an answer."""
        status = response.status_code
        if status in BUSY or response.is_server_error:
            raise Transient(
                f"{self.name} answered {status}: {self._words(response)}",
                code=FAILED,
                retry_after=_seconds(response.headers.get("retry-after")),
            )
        if status in KEY_REFUSED:
            raise Permanent(
                f"{self.name} answered {status}: {self._words(response)}",
                code=FAILED,
                advice=f"set api_key or api_key_env of [processors.{self.name}], then re-index",
            )
        if not response.is_success:
            raise Permanent(f"{self.name} answered {status}: {self._words(response)}", code=FAILED)
        try:
            answer: object = response.json()
        except ValueError as error:
            raise Transient(f"{self.name} answered no JSON", code=FAILED) from error
        return answer

    def _words(self, response: httpx.Response) -> str:
        """The reason in an answer that is a refusal, cut to what can be read."""
        try:
            answer = response.json()
        except ValueError:
            return response.text[:MAX_WORDS].strip() or "without a word"
        said = self._told(answer) or first(answer, ("detail",)) or response.text
        return str(said)[:MAX_WORDS]


FAILED = "processing_failed"


@cache
def _trusted() -> SSLContext:
    """Whom to believe who they are; dear to read, so once for all processors."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)


def _opened(source: Source) -> BinaryIO:
    """The bytes as a file: a large document is sent from its place, not from memory."""
    if source.content is not None:
        return BytesIO(source.content)
    try:
        return Path(str(source.place)).open("rb")
    except OSError as error:
        raise Permanent(f"{source.name} is gone: {error}", code="unreadable") from error


def first(answer: object, path: Where) -> object:
    """The first value on this path, None when there is none; `*` goes through every name."""
    return next(_on(answer, path), None) if path else None


def _on(answer: object, path: Where) -> Iterator[object]:
    if not path:
        if answer is not None:
            yield answer
        return
    name, rest = path[0], path[1:]
    if isinstance(answer, list):
        inside = answer if name == ANY_NAME else []
    elif isinstance(answer, dict):
        inside = list(answer.values()) if name == ANY_NAME else [answer.get(name)]
    else:
        return
    for one in inside:
        yield from _on(one, rest)


def _seconds(header: str | None) -> float | None:
    """Retry-After as seconds; a date is read as nothing, and our own pause holds."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
