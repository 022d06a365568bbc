"""docling-serve and MinerU as their contracts say, on loopback: routes, words, codes, shapes.

Written from the contracts in INTERFACES B.7. What a test wants to happen to a document is told by
the words its office goes through.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

Answer = tuple[int, Any]
NAMED = re.compile(r'\b(name|filename)="([^"]*)"')
UNAUTHORIZED, NOT_FOUND, CONFLICT, ACCEPTED = 401, 404, 409, 202


@dataclass
class Paper:
    """A document in an office."""

    name: str
    content: bytes
    fields: dict[str, str]
    polls: int = 0


@dataclass
class Office:
    """What both services have: papers under ids, words they go through, one server."""

    words: Sequence[str] = ()
    papers: dict[str, Paper] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    key: str | None = None
    troubles: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    single_use: bool = True
    said: str = "page 3 is upside down"

    upload: ClassVar[str]

    def __post_init__(self) -> None:
        office = self

        class Desk(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                office.serve(self, b"")

            def do_POST(self) -> None:
                office.serve(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, desk: BaseHTTPRequestHandler, body: bytes) -> None:
        self.asked.append(f"{desk.command} {desk.path}")
        self.headers.append(dict(desk.headers))
        if self.troubles:
            status, text, headers = self.troubles.pop(0)
            _send(desk, status, text.encode(), headers)
        elif self.key is not None and desk.headers.get("X-Api-Key") != self.key:
            _send(desk, UNAUTHORIZED, b'{"detail": "Api key is required"}', {})
        else:
            status, answer = self.answer(desk, body)
            _send(desk, status, json.dumps(answer).encode(), {})

    def answer(self, desk: BaseHTTPRequestHandler, body: bytes) -> Answer:
        path = urlsplit(desk.path).path
        if desk.command == "POST" and path == self.upload:
            return self.take(_paper(desk, body))
        return self.look(path, parse_qs(urlsplit(desk.path).query))

    def take(self, paper: Paper) -> Answer:
        raise NotImplementedError

    def look(self, path: str, query: dict[str, list[str]]) -> Answer:
        raise NotImplementedError

    def kept(self, paper: Paper) -> str:
        """The id of a new paper."""
        task = f"task/{len(self.papers) + 1} ä"  # ids are the service's affair
        self.papers[task] = paper
        return task

    def word(self, paper: Paper) -> str:
        """The words one after another; the last one stays."""
        at = min(paper.polls, len(self.words) - 1)
        paper.polls += 1
        return self.words[at]

    def task_of(self, path: str, before: str, after: str = "") -> str | None:
        if not (path.startswith(before) and path.endswith(after)):
            return None
        return unquote(path[len(before) : len(path) - len(after)])


@dataclass
class Docling(Office):
    """docling-serve: forgets a result once it was given."""

    words: Sequence[str] = ("pending", "started", "success")
    partial: bool = False
    upload: ClassVar[str] = "/v1/convert/file/async"

    def take(self, paper: Paper) -> Answer:
        return 200, self._status(self.kept(paper), "pending", 1)

    def look(self, path: str, query: dict[str, list[str]]) -> Answer:
        task = self.task_of(path, "/v1/status/poll/")
        if task in self.papers:
            word = self.word(self.papers[task])
            return 200, self._status(task, word, 2 if word == "pending" else None)
        task = self.task_of(path, "/v1/result/")
        if task in self.papers:
            paper = self.papers.pop(task) if self.single_use else self.papers[task]
            return 200, self._result(paper)
        return NOT_FOUND, {"detail": "Task not found."}

    def _status(self, task: str, word: str, position: int | None) -> dict[str, Any]:
        return {
            "task_id": task,
            "task_type": "convert",
            "task_status": word,
            "task_position": position,
            "task_meta": None,
            "error_message": self.said if word == "failure" else None,
        }

    def _result(self, paper: Paper) -> dict[str, Any]:
        status = "partial_success" if self.partial else "success"
        errors = [{"component_type": "model", "error_message": self.said}] if self.partial else []
        return {
            "document": {"filename": paper.name, "md_content": f"# {paper.name}\n\nThe text."},
            "status": status,
            "errors": errors,
            "processing_time": 0.1,
            "timings": {},
        }


@dataclass
class Mineru(Office):
    """mineru-api: a result may be had again and again, and is refused before it is ready."""

    words: Sequence[str] = ("pending", "processing", "completed")
    single_use: bool = False
    upload: ClassVar[str] = "/tasks"

    def take(self, paper: Paper) -> Answer:
        return ACCEPTED, self._status(self.kept(paper), "pending", 3)

    def look(self, path: str, query: dict[str, list[str]]) -> Answer:
        task = self.task_of(path, "/tasks/", "/result")
        if task in self.papers:
            return self._result(task, self.papers[task])
        task = self.task_of(path, "/tasks/")
        if task in self.papers:
            word = self.word(self.papers[task])
            return 200, self._status(task, word, 3 if word == "pending" else None)
        return NOT_FOUND, {"detail": "Task not found"}

    def _status(self, task: str, word: str, ahead: int | None) -> dict[str, Any]:
        return {
            "task_id": task,
            "status": word,
            "backend": "pipeline",
            "file_names": ["scan"],
            "error": self.said if word == "failed" else None,
            "queued_ahead": ahead,
        }

    def _result(self, task: str, paper: Paper) -> Answer:
        word = self.words[min(max(0, paper.polls - 1), len(self.words) - 1)]
        if word == "failed":
            return CONFLICT, {"task_id": task, "status": word, "error": self.said}
        if word != "completed":
            return ACCEPTED, {"task_id": task, "status": word}
        text = f"# {paper.name}\n\nThe text."
        return 200, {
            "backend": "pipeline",
            "version": "3",
            "results": {"scan": {"md_content": text}},
        }


def _paper(desk: BaseHTTPRequestHandler, body: bytes) -> Paper:
    """The document and the fields of a multipart form, as a browser would send them."""
    edge = b"--" + desk.headers["Content-Type"].partition("boundary=")[2].encode()
    paper, fields = Paper("", b"", {}), dict[str, str]()
    for part in body.split(edge)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n")
        named = dict(NAMED.findall(head.decode()))
        if "filename" in named:
            paper = Paper(named["filename"], content, fields)
        else:
            fields[named["name"]] = content.decode()
    return paper


def _send(desk: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
    desk.send_response(status)
    for name, value in headers.items():
        desk.send_header(name, value)
    desk.send_header("Content-Type", "application/json")
    desk.send_header("Content-Length", str(len(body)))
    desk.end_headers()
    desk.wfile.write(body)
