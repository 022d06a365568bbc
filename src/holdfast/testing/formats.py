"""Is a document of each kind found by what stands in its middle? Added and asked by the shell.

`python -m holdfast.testing.formats` prints the table and exits 1 when a row of it is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.testing.samples import Sample, all_samples

BASE = "formats"


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one sample."""

    sample: Sample
    status: str
    found: bool
    page: int | None
    heading: str | None

    @property
    def right(self) -> bool:
        there = self.found and self.status == "completed" and self.page == self.sample.page
        return there and (self.sample.heading is None or self.heading == self.sample.heading)


def table(folder: Path) -> Iterator[Row]:
    """One row for each sample; every step is a command of its own."""
    documents = folder / "documents"
    documents.mkdir()
    samples = all_samples()
    for sample in samples:
        (documents / sample.name).write_bytes(sample.content)
    data = folder / "data"
    shell(data, "add", *(str(documents / one.name) for one in samples), "--base", BASE)
    listed = shell(data, "ls", "--base", BASE)
    status = {one["name"]: one["status"] for one in listed["items"]}
    for sample in samples:
        yield row_of(data, sample, status.get(sample.name, "missing"))


def row_of(data: Path, sample: Sample, status: str) -> Row:
    """The best hit of this document that holds the phrase."""
    hits = shell(data, "search", sample.phrase, "--base", BASE, "--top-k", "100")["hits"]
    for hit in (one for one in hits if one["source"].endswith("/" + sample.name)):
        if sample.phrase in " ".join(hit["content"].split()):
            headings = hit["headings"] or [None]
            return Row(sample, status, True, hit["page"], headings[-1])
    return Row(sample, status, False, None, None)


def shell(data: Path, *words: str) -> dict[str, Any]:
    """What the shell answers as JSON."""
    ended = subprocess.run(
        [sys.executable, "-m", "holdfast", "--data", str(data), "--json", *words],
        capture_output=True,
        check=False,
        env={**os.environ, "HOLDFAST_DATA": str(data)},
    )
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = list(table(Path(folder)))
    print(f"{'kind':<24}{'document':<16}{'status':<11}{'found':<7}{'page':<6}heading")
    for row in rows:
        mark = "" if row.right else "   WRONG"
        print(
            f"{row.sample.kind:<24}{row.sample.name:<16}{row.status:<11}"
            f"{'yes' if row.found else 'NO':<7}{row.page or '-':<6}{row.heading or '-'}{mark}"
        )
    wrong = sum(not row.right for row in rows)
    print(f"{len(rows)} kinds, {len(rows) - wrong} right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
