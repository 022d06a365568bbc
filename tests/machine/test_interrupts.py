"""The first Ctrl-C asks, the second one ends the process at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from holdfast.machine.interrupts import Interrupts

STUBBORN = """
import time
from holdfast.machine.interrupts import Interrupts
with Interrupts() as stop:
    print("ready", flush=True)
    while True:
        stop.pause(0.01)
        if stop.asked:
            print("asked", flush=True)
            time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_only_asks(number: signal.Signals) -> None:
    with Interrupts() as stop:
        os.kill(os.getpid(), number)
        stop.pause(0.01)

        assert stop.asked


def test_afterwards_signals_mean_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGINT)

    with Interrupts():
        pass

    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_signal_ends_the_process_whatever_it_is_doing() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGINT)

        assert child.wait(5) == 130
