"""What does a fresh main store look like? Made once by the migrations, then copied."""

from __future__ import annotations

from functools import lru_cache

from holdfast.domain.jobs import Fence
from holdfast.stores.sqlite import migrations
from holdfast.stores.sqlite.main import FILE, SqliteMain
from holdfast.testing.clock import SimClock
from holdfast.testing.disks import MemoryDisk
from holdfast.testing.gate import Outage
from holdfast.testing.runtime import SimRuntime
from holdfast.testing.schedule import Kernel
from holdfast.testing.tasks import Process


def template() -> dict[str, bytes]:
    """The images of an installation nobody has used yet."""
    return {FILE: _image(migrations.migrations())}


@lru_cache(maxsize=8)
def _image(_schema: object) -> bytes:
    kernel, process, disk = Kernel("template"), Process("maker"), MemoryDisk()
    runtime, clock = SimRuntime(kernel, process), SimClock(kernel, Outage(kernel))
    kernel.run(lambda: SqliteMain(disk, clock, runtime, Deaf()).close())
    return disk.files[FILE].image()


class Deaf:
    """Wakeups that nobody hears."""

    def ready(self, lanes: object) -> None: ...
    def cancelled(self, jobs: object) -> None: ...

    def stuck(self, seconds: float) -> list[Fence]:
        return []

    def ended(self) -> None: ...
