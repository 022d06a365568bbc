"""What a child is asked to do in the tests of the parser host: good, bad and hostile tasks."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.domain.errors import DiskFull, Permanent


def count(argument: Any) -> Iterator[Any]:
    for number in range(argument["n"]):
        yield {"number": number, "text": argument.get("text", "é中")}


def where(_: Any) -> Iterator[Any]:
    yield {"pid": os.getpid(), "parent": os.getppid(), "threads": threading.active_count()}
    yield sorted(os.environ)


def refuse(_: Any) -> Iterator[Any]:
    yield 1
    raise Permanent("b.pdf is scanned", code="needs_ocr", advice="use OCR")


def disk(_: Any) -> Iterator[Any]:
    raise DiskFull("no room")
    yield


def stumble(_: Any) -> Iterator[Any]:
    yield 1
    raise ValueError("odd bytes")


def crash(_: Any) -> Iterator[Any]:
    yield 1
    ctypes.string_at(0)


def leave(_: Any) -> Iterator[Any]:
    yield 1
    os._exit(7)


def recurse(argument: Any) -> Iterator[Any]:
    yield from recurse(argument)


def hang(argument: Any) -> Iterator[Any]:
    yield os.getpid()
    while True:
        time.sleep(argument.get("nap", 60))


def spin(_: Any) -> Iterator[Any]:
    yield os.getpid()
    while True:
        pass


def swallow(_: Any) -> Iterator[Any]:
    held = []
    while True:
        held.append(bytes(50 << 20))
        yield resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def flood(_: Any) -> Iterator[Any]:
    while True:
        yield "x" * 100_000


def one_big(argument: Any) -> Iterator[Any]:
    yield "x" * argument["size"]


def shout(_: Any) -> Iterator[Any]:
    """Bytes that are no frame, around the writer; and the name of the pipe is found by trying."""
    for handle in range(3, 64):
        try:
            os.write(handle, b"\xff" * 64)
        except OSError:
            continue
    yield 1


def multiply(_: Any) -> Iterator[Any]:
    """Children of its own: one in the group, one that leaves it and loses its parent."""
    command = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
    near = subprocess.Popen(command, stdout=subprocess.PIPE)
    far = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    for one in (near, far):
        assert one.stdout is not None
        one.stdout.readline()
    yield [os.getpid(), near.pid, far.pid]
    time.sleep(600)


def leave_others_behind(_: Any) -> Iterator[Any]:
    tasks = multiply(None)
    yield next(tasks)


def write_a_file(argument: Any) -> Iterator[Any]:
    try:
        Path(argument["place"]).write_bytes(b"mine" * 1_000)
    except OSError as error:
        yield type(error).__name__
    try:
        yield [str(found) for found in Path().iterdir()]
    except OSError:
        yield []


def make_a_name_here(_: Any) -> Iterator[Any]:
    try:
        os.close(os.open("here", os.O_CREAT | os.O_WRONLY))
    except OSError as error:
        yield type(error).__name__


def call_out(argument: Any) -> Iterator[Any]:
    try:
        socket.create_connection(("127.0.0.1", argument["port"]), timeout=2).close()
    except OSError as error:
        yield f"{type(error).__name__}"
    else:
        yield "connected"


def open_many(_: Any) -> Iterator[Any]:
    try:
        held = [os.pipe() for _ in range(10_000)]
    except OSError as error:
        yield error.errno
    else:
        yield len(held)


def abort(_: Any) -> Iterator[Any]:
    os.kill(os.getpid(), signal.SIGABRT)
    yield
