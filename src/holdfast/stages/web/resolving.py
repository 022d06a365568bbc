"""Which machines stand behind a name? Asked once, all answers checked before any is used."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from holdfast.domain.addresses import PORTS, Address
from holdfast.domain.errors import Permanent, Transient
from holdfast.ports import Runtime
from holdfast.stages.web.deadline import Deadline
from holdfast.stages.web.networks import Allowed, why_refused

Resolve = Callable[[str, int], Sequence[str]]
MOST_ANSWERS = 8


def system_resolve(host: str, port: int) -> Sequence[str]:
    """What the system says, each address once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def checked_answers(
    address: Address, allowed: Allowed, resolve: Resolve, runtime: Runtime, deadline: Deadline
) -> list[str]:
    """Addresses that may all be connected to; one that may not refuses the whole host."""
    if address.port not in (*PORTS.values(), *allowed.ports):
        raise _refused(address, f"port {address.port} is not asked (setting fetch_ports)")
    answers = _resolved(address, resolve, runtime, deadline)
    for answer in answers:
        why = why_refused(answer, address.host, allowed)
        if why is not None:
            raise _refused(address, f"{address.host} is {answer}, {why} (setting fetch_allow)")
    return answers[:MOST_ANSWERS]


def _resolved(
    address: Address, resolve: Resolve, runtime: Runtime, deadline: Deadline
) -> list[str]:
    """The system's resolver knows no time limit: it is waited for, not joined."""
    done, found, failed = runtime.event(), list[str](), list[Exception]()

    def ask() -> None:
        try:
            found.extend(resolve(address.host, address.port))
        except (OSError, UnicodeError) as error:
            failed.append(error)
        finally:
            done.set()

    runtime.thread(ask, "resolver")
    while not done.wait(deadline.slice()):
        pass
    if not found:
        why = f": {failed[0]}" if failed else ""
        raise Transient(f"the host {address.host} is not known{why}", code="fetch_failed")
    return list(found)


def _refused(address: Address, why: str) -> Permanent:
    return Permanent(f"{address.shown} is not fetched: {why}", code="fetch_refused")
