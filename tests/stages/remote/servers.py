"""Real servers on the loopback that speak as OpenAI, LM Studio, TEI and Cohere do.

`Models.say` is what a test wants it to say next instead of an answer: (status, headers, body).
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 8
Said = tuple[int, dict[str, str], Any]


def vector_of(text: str, width: int = WIDTH) -> NDArray[np.float32]:
    digest = np.frombuffer(sha256(text.encode()).digest()[:width], dtype=np.uint8)
    return digest.astype(np.float32) - np.float32(127.3)


def base64_of(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


@dataclass
class Models:
    """What the server does and what it was asked."""

    base_url: str = ""
    only_floats: bool = False  # LM Studio: whatever form is asked for
    refuses_base64: bool = False  # older vLLM
    most: int = 2_048  # TEI: 32
    key: str | None = None
    say: list[Said] = field(default_factory=list[Said])
    spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda data: data
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def answer(self, path: str, headers: Any, body: dict[str, Any]) -> Said:
        self.asked.append(body)
        if self.say:
            return self.say.pop(0)
        if self.key is not None and headers.get("Authorization") != f"Bearer {self.key}":
            sent = headers.get("Authorization")
            return 401, {}, {"error": {"message": f"Incorrect API key provided: {sent}"}}
        return self._reranked(body) if path.endswith("/rerank") else self._embedded(body)

    def _embedded(self, body: dict[str, Any]) -> Said:
        texts, form = body["input"], body.get("encoding_format", "float")
        if len(texts) > self.most:
            return self._too_many(len(texts))
        if form == "base64" and self.refuses_base64:
            return 400, {}, {"object": "error", "message": "encoding_format is not supported"}
        rows = [vector_of(text, body.get("dimensions", WIDTH)) for text in texts]
        plain = form != "base64" or self.only_floats
        data = [
            {"index": place, "embedding": row.tolist() if plain else base64_of(row)}
            for place, row in enumerate(rows)
        ]
        return 200, {}, {"object": "list", "data": self.spoil(data), "usage": {"total_tokens": 1}}

    def _reranked(self, body: dict[str, Any]) -> Said:
        texts = body["documents"] if "documents" in body else body["texts"]
        if len(texts) > self.most:
            return self._too_many(len(texts))
        words = set(body["query"].split())
        scores = [float(len(words & set(text.split()))) for text in texts]
        places = sorted(range(len(texts)), key=lambda place: -scores[place])
        if "texts" in body:  # TEI
            return 200, {}, self.spoil([{"index": p, "score": scores[p]} for p in places])
        results = [{"index": p, "relevance_score": scores[p]} for p in places]
        return 200, {}, {"results": self.spoil(results)}

    def _too_many(self, count: int) -> Said:
        said = f"batch size {count} > maximum allowed batch size {self.most}"
        return 422, {}, {"message": said, "code": 422, "type": "validation"}


@contextmanager
def serving(**what: Any) -> Iterator[Models]:
    models = Models(**what)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, said = models.answer(self.path, self.headers, body)
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    models.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield models
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
