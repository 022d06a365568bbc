"""Who reads what strangers wrote? Children, started by a host that is started by us.

We have threads, so we may not fork; the host has none and may (`child_host.py` tells its story).
It is started for the first document and again whenever it is found dead. Every handle of ours is
close-on-exec, and the host lives only as long as its control socket: when this process is gone,
whatever ended it, host and children go too.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Self

from holdfast.domain.errors import HoldfastError, Permanent, Transient
from holdfast.machine.child_host import failed, request_bytes
from holdfast.machine.frames import Kind, unframed, untold
from holdfast.ports import Limits

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2])['path'];"
    "from holdfast.machine.child_host import main; main()"
)
# a host keeps no secrets of ours: it gets these names of our environment and no others
KEPT_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # each arena reserves address space, which is what we limit
}
SECONDS_TO_START = 60.0
SECONDS_TO_END = 5.0
LOOK_AGAIN = 0.04
PIPE = 1 << 20
SET_PIPE_SIZE = 1031  # fcntl(2); absent from the module before 3.10


@dataclass(slots=True)
class Taken:
    """What children took at most: KiB resident, seconds alive; and how often a host was started."""

    memory: int = 0
    seconds: float = 0.0
    hosts: int = 0

    def note(self, told: Mapping[str, Any]) -> None:
        self.memory = max(self.memory, int(told.get("memory", 0)))
        self.seconds = max(self.seconds, float(told.get("seconds", 0.0)))


class Children:
    """The children of this process; their host is started when the first one is asked for."""

    def __init__(self, warm: Sequence[str] = (), *, forks: bool = sys.platform == "linux") -> None:
        self._warm, self._forks = warm, forks
        self._lock = threading.Lock()
        self._host: HostProcess | None = None
        self._alone: list[HostProcess] = []
        self._living: set[RunningChild] = set()
        self._closed = False
        self.taken = Taken()

    def start(
        self, task: str, argument: Any, *, about: str, limits: Limits, check: Callable[[], None]
    ) -> RunningChild:
        wanted = {"task": task, "argument": argument, "about": about, **_kernel_limits(limits)}
        head, body = request_bytes(wanted)
        with self._lock:
            host = self._free_host()
            answers, line = host.send(head, body)
            child = RunningChild(
                self, host, (answers, line), about=about, limits=limits, check=check
            )
            self._living.add(child)
        return child

    def close(self) -> None:
        with self._lock:
            self._closed = True
            living, self._living = self._living, set()
            hosts, self._alone = self._alone, []
            if self._host is not None:
                hosts.append(self._host)
        for child in living:
            child.close()
        for host in hosts:
            host.end()

    def gone(self, child: RunningChild, host: HostProcess, *, clean: bool) -> None:
        """The child is no more; a host that works alone may do the next one if it is healthy."""
        with self._lock:
            self._living.discard(child)
            self.taken.note(child.told)
            if not self._forks and clean and not self._closed:
                self._alone.append(host)
                return
        if not self._forks:
            host.end()

    def _free_host(self) -> HostProcess:
        if self._closed:
            raise Transient("the engine is closing", code="parser_failed")
        if not self._forks:
            return self._alone.pop() if self._alone else HostProcess(self._warm, forks=False)
        if self._host is None or not self._host.is_alive():
            if self._host is not None:
                self._host.end()
            self._host = HostProcess(self._warm, forks=True)
            self.taken.hosts += 1
        return self._host


class HostProcess:
    """A started parser host and our end of its control socket."""

    def __init__(self, warm: Sequence[str], *, forks: bool) -> None:
        ours, theirs = socket.socketpair()
        given = {"warm": list(warm), "forks": forks, "path": _import_path()}
        self._control, self.forks = ours, forks
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(theirs.fileno()), json.dumps(given)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(),
                start_new_session=True,  # Ctrl-C in our terminal is for us
            )
        self._await_ready()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, head: bytes, body: bytes) -> tuple[int, socket.socket]:
        """The two handles a document is answered over, their other ends sent to the host."""
        answers, theirs = os.pipe()
        line, their_line = socket.socketpair()
        try:
            _widened(theirs)
            socket.send_fds(self._control, [head], [theirs, their_line.fileno()])
            self._control.sendall(body)
        except OSError as error:
            os.close(answers)
            line.close()
            raise host_died(error) from error
        finally:
            os.close(theirs)
            their_line.close()
        return answers, line

    def status(self) -> int:
        """How the process ended, when it is about to."""
        try:
            return self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return 0

    def end(self) -> None:
        """Shut the socket: the host ends its children and itself; killed when it does not."""
        self._control.close()
        if not self.forks:
            self._kill()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _await_ready(self) -> None:
        self._control.settimeout(SECONDS_TO_START)
        try:
            ready = self._control.recv(1)
        except OSError:
            ready = b""
        self._control.settimeout(None)
        if ready:
            return
        self.end()
        raise Permanent(
            "the parser host could not be started",
            code="parser_failed",
            advice="look at `holdfast doctor`; re-index the item when the host can be started",
        )


class RunningChild:
    """One document being read elsewhere, seen from here."""

    def __init__(
        self,
        children: Children,
        host: HostProcess,
        handles: tuple[int, socket.socket],
        *,
        about: str,
        limits: Limits,
        check: Callable[[], None],
    ) -> None:
        self._children, self._host = children, host
        self._answers, self._line = handles
        self._about, self._limits, self._check = about, limits, check
        self._buffer = bytearray()
        self._taken = 0
        self._closing = threading.Lock()
        self._ended: dict[str, Any] | None = None
        self._over = False

    @property
    def told(self) -> Mapping[str, Any]:
        """What the host said of its end; nothing while nobody knows."""
        return self._ended or {}

    def __iter__(self) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        try:
            return self._next()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self._closing:
            if self._over:
                return
            self._over = True
        clean = self._ended is not None and self._host.is_alive()
        if not clean:
            self._end()
        self._line.close()
        os.close(self._answers)
        self._children.gone(self, self._host, clean=clean)

    def _next(self) -> Any:
        deadline = time.monotonic() + self._limits.silence
        while True:
            found = self._unframed()
            if found is not None:
                return self._answered(*found)
            if time.monotonic() > deadline:
                raise self._failed(f"no answer in {self._limits.silence:g} seconds")
            self._check()
            self._read_more()

    def _answered(self, kind: Kind, value: Any) -> Any:
        if kind is Kind.ANSWER:
            return value
        self._await_ending()  # so that `close` has nothing left to kill
        if kind is Kind.END:
            raise StopIteration
        raise untold(value)

    def _read_more(self) -> None:
        line = self._line.fileno()
        ready: list[int] = select.select([self._answers, line], [], [], LOOK_AGAIN)[0]
        if self._answers in ready:
            part = os.read(self._answers, PIPE)
            self._taken += len(part)
            self._buffer += part
            if self._taken > self._limits.output + PIPE:
                raise self._failed(f"more than {self._limits.output} bytes of answers")
            if part:
                return
            self._await_ending()
            raise self._blame()
        if line in ready:  # all are gone, and there is nothing left to read
            self._await_ending()
            raise self._blame()

    def _await_ending(self) -> None:
        """How the child ended; nothing at all when it was the host that died."""
        if self._ended is not None:
            return
        self._line.settimeout(SECONDS_TO_END)
        with suppress(OSError, ValueError):
            if said := _all_of(self._line):
                self._ended = json.loads(said)
            elif not self._host.forks:
                self._ended = {"status": self._host.status()}

    def _blame(self) -> HoldfastError:
        if self._ended is None:
            return host_died(None)
        status = int(self._ended["status"])
        if status >= 0:
            return self._failed(f"ended with exit code {status}")
        number = -status
        if number == signal.SIGXCPU:
            return self._failed(f"more than {self._limits.cpu} seconds of processor time")
        return self._failed(f"crashed ({signal.Signals(number).name})")

    def _unframed(self) -> tuple[Kind, Any] | None:
        try:
            return unframed(self._buffer)
        except ValueError as error:
            raise self._failed(f"an answer that cannot be read ({error})") from error

    def _failed(self, why: str) -> Permanent:
        return failed(self._about, why)

    def _end(self) -> None:
        if not self._host.forks:
            self._host.end()
            return
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._await_ending()


def host_died(why: OSError | None) -> Transient:
    return Transient(f"the parser host was ended from outside ({why})", code="parser_failed")


def _kernel_limits(limits: Limits) -> dict[str, Any]:
    return {name: value for name, value in asdict(limits).items() if name != "silence"}


def _all_of(line: socket.socket) -> bytes:
    parts = bytearray()
    while part := line.recv(4_096):
        parts += part
    return bytes(parts)


def _widened(pipe: int) -> None:
    """So that a child can work ahead while its last answers are embedded."""
    import fcntl

    with suppress(OSError, ValueError):
        fcntl.fcntl(pipe, SET_PIPE_SIZE, PIPE)


def _import_path() -> list[str]:
    return [os.path.abspath(place) if place else os.getcwd() for place in sys.path]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_NAMES if name in os.environ}
    return {**kept, **ONE_THREAD}
