"""How does the parser host work? It is started, imports the readers, and forks for each document.

It has one thread and never calls a reader: a fork of a process with threads inherits locks that
nobody will ever give back. Its owner holds one end of a control socket and sends over it, for each
document, a request with two handles:

- `answers`, a pipe the child writes its frames to, and the owner reads;
- `line`, a socket between owner and host. The owner shuts it to have the child ended; the host
  tells over it how the child ended, when neither it nor anything it started is alive any more.

When the control socket ends, the owner is gone, and the host ends all children and itself. Where
forking is not safe (`forks` is false) the same program does one document after the other itself.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from holdfast.domain.errors import Permanent, StageFailed
from holdfast.machine.confinement import (
    adopting_orphans,
    confined,
    in_an_empty_folder,
    limited,
    room_to_say_so,
    without_network,
)
from holdfast.machine.frames import Kind, frame, told

LENGTH = struct.Struct("!I")
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Request:
    """One document: what to call with what, and the two handles it is answered over."""

    task: str
    argument: Any
    about: str
    memory: int
    cpu: int
    output: int
    answers: int
    line: socket.socket


def main() -> None:
    """The whole life of a host; its arguments are the handle of its socket and a JSON object."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    given = json.loads(sys.argv[2])
    in_an_empty_folder()
    for name in given["warm"]:
        import_module(name)
    if threads() > 1:  # said by not being ready: the owner raises it
        sys.exit(f"a parser host with {threads()} threads may not fork")
    without_network()
    control.sendall(b"r")
    if given["forks"]:
        Host(control).run()
    else:
        serve_alone(control)


def threads() -> int:
    """The threads of this process, where the system tells."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


class Host:
    """Forks, watches and ends the children of one owner."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, Request] = {}
        self._since: dict[int, float] = {}
        self._watch = selectors.DefaultSelector()

    def run(self) -> None:
        adopting_orphans()
        gc.collect()
        gc.freeze()  # else each child's first collection copies every page of ours
        with self._woken_by_endings() as woken:
            self._watch.register(self._control, selectors.EVENT_READ, self._fork_next)
            self._watch.register(woken, selectors.EVENT_READ, lambda: self._collect(woken))
            with suppress(EOFError):
                while True:
                    for key, _ in self._watch.select():
                        key.data()
        self._end_all()

    def _woken_by_endings(self) -> socket.socket:
        woken, wake = socket.socketpair()
        woken.setblocking(False)
        wake.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._wake = wake
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        return woken

    def _fork_next(self) -> None:
        request = received(self._control)
        pid = os.fork()
        if pid == 0:
            self._become_child(request)
        os.close(request.answers)
        self._children[pid] = request
        self._since[pid] = time.monotonic()
        self._watch.register(request.line, selectors.EVENT_READ, lambda: self._end(pid))

    def _end(self, pid: int) -> None:
        """The owner shut the line; how the child ended is still told over it."""
        self._watch.unregister(self._children[pid].line)
        end_group(pid)

    def _become_child(self, request: Request) -> None:
        """In the child; nothing of the host's or of other children's stays open. Never returns."""
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (self._control, self._wake, *(r.line for r in self._children.values())):
                one.close()
            request.line.close()
            confined(request.memory, request.cpu)
            work(request)
        finally:
            os._exit(0)

    def _collect(self, woken: socket.socket) -> None:
        """Ended children are reported when nothing of their group is left."""
        with suppress(BlockingIOError):
            woken.recv(4_096)
        while (pid := ended()) is not None:
            request = self._children.pop(pid, None)
            if request is not None:
                end_group(pid)  # before it is waited for: until then the number is taken
            _, status, used = os.wait4(pid, 0)
            if request is not None:
                self._end_strays()
                with suppress(KeyError):
                    self._watch.unregister(request.line)
                report(request.line, status, used, time.monotonic() - self._since.pop(pid))

    def _end_all(self) -> None:
        """Until nobody is left: what a child started becomes ours when the child is dead."""
        for pid in self._children:
            end_group(pid)
            os.waitpid(pid, 0)
        self._children.clear()
        with suppress(ChildProcessError):
            while self._end_strays():
                os.wait()

    def _end_strays(self) -> bool:
        """What left its group and lost its parent became our child; it has no business here.

        False when the system does not tell who our children are.
        """
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
                found = [int(word) for word in file.read().split()]
        except OSError:
            return False
        for pid in found:
            if pid not in self._children:
                os.kill(pid, signal.SIGKILL)
        return True


def serve_alone(control: socket.socket) -> None:
    """One document after the other in this process; the owner kills it when one must end."""
    with suppress(EOFError):
        while True:
            request = received(control)
            limited(request.memory, used_so_far() + request.cpu)
            began = time.monotonic()
            work(request)
            os.close(request.answers)
            used = resource.getrusage(resource.RUSAGE_SELF)
            report(request.line, 0, used, time.monotonic() - began)


def used_so_far() -> int:
    """Seconds of processor time of this process; the documents before count in its limit."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int(used.ru_utime + used.ru_stime)


def work(request: Request) -> None:
    """Call the task and send what it yields; every error becomes a frame that says what it is."""
    answers = Answers(request)
    try:
        for answer in function_of(request.task)(request.argument):
            answers.send(Kind.ANSWER, answer)
        answers.send(Kind.END)
    except BrokenPipeError:
        return
    except StageFailed as error:
        answers.fail(error)
    except MemoryError:
        room_to_say_so()
        answers.fail(failed(request.about, f"more than {request.memory >> 20} MiB of memory"))
    except Exception as error:  # noqa: BLE001  (a parser may fail with anything; the item says so)
        answers.fail(failed(request.about, f"{type(error).__name__}: {error}"[:LONGEST_REASON]))


def failed(about: str, why: str) -> Permanent:
    return Permanent(f"the parser failed on {about}: {why}", code="parser_failed")


class Answers:
    """The child's end of the pipe; it takes so many bytes and no more."""

    def __init__(self, request: Request) -> None:
        self._request, self._left = request, request.output

    def send(self, kind: Kind, value: Any = None) -> None:
        content = frame(kind, value)
        self._left -= len(content)
        if self._left < 0:
            raise failed(self._request.about, f"more than {self._request.output} bytes of answers")
        self._write(content)

    def fail(self, error: StageFailed) -> None:
        with suppress(BrokenPipeError):
            self._write(frame(Kind.ERROR, told(error)))

    def _write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._request.answers, rest) :]


def received(control: socket.socket) -> Request:
    """The next request with its handles; EOFError when the owner is gone."""
    head, handles, _, _ = socket.recv_fds(control, LENGTH.size, 2)
    if len(head) < LENGTH.size:
        raise EOFError
    for handle in handles:
        os.set_inheritable(handle, False)
    body = json.loads(exactly(control, LENGTH.unpack(head)[0]))
    return Request(**body, answers=handles[0], line=socket.socket(fileno=handles[1]))


def exactly(control: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = control.recv(min(1 << 20, size - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def function_of(task: str) -> Callable[[Any], Iterable[Any]]:
    module, _, name = task.partition(":")
    found: Callable[[Any], Iterable[Any]] = getattr(import_module(module), name)
    return found


def ended() -> int | None:
    """A child that has ended and was not waited for."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


def end_group(pid: int) -> None:
    """The child and everything of its group; before its `setsid` it has none, so it itself too."""
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def report(line: socket.socket, status: int, used: resource.struct_rusage, seconds: float) -> None:
    """How it ended, to an owner who may have stopped listening."""
    ending = os.waitstatus_to_exitcode(status)  # a signal as its negative number
    said = {"status": ending, "memory": used.ru_maxrss, "seconds": seconds}
    with line, suppress(OSError):
        line.sendall(json.dumps(said).encode())


def request_bytes(body: dict[str, Any]) -> Sequence[bytes]:
    """What the owner sends: the length, which carries the handles, and the body."""
    content = json.dumps(body).encode()
    return LENGTH.pack(len(content)), content
