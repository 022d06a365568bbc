"""Where is kept what can be made again? Whole files, in a folder that may vanish at any time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

from holdfast.domain.errors import DiskFull, Permanent


@contextmanager
def scratch() -> Iterator[str]:
    """An empty folder, gone afterwards."""
    with TemporaryDirectory(prefix="holdfast-") as folder:
        yield folder


def keep_with_sum(place: str, made: str) -> None:
    """The made file under this name, and beside it its SHA-256; a half one is never seen."""
    content = Path(made).read_bytes()
    try:
        Path(place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _keep_whole(Path(place), content)
        _keep_whole(Path(f"{place}.sha256"), f"{sha256(content).hexdigest()}\n".encode())
    except OSError as error:
        kind = DiskFull if error.errno in {28, 122} else Permanent  # ENOSPC EDQUOT
        raise kind(f"{place} cannot be written: {error.strerror}", code="disk_full") from error


def _keep_whole(place: Path, content: bytes) -> None:
    with NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise
