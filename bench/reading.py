"""What does it cost to read a document apart, and does a large one stay out of memory?

A document of each kind is read in a child of the host, and in a fresh interpreter as one would
without it; medians of wall time, so compare the two. A large text is read to its end, and the most
memory that child and owner had is told. `--large` makes that text a gigabyte.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

from bench._figures import caveat, folder, told
from holdfast.domain.chunks import Cutting
from holdfast.machine.threads import Threads
from holdfast.ports import Limits, Source
from holdfast.stages.reading.apart import WARM, ReaderApart
from holdfast.stages.reading.ocr import Ocr
from holdfast.testing.samples import Sample, all_samples

CUTTING = Cutting(512, 64)
TIMES, ALONE = 10, 3
SMALL, LARGE = 8 << 20, 1 << 30
FRESH = (
    "import sys; from holdfast.ports import Source; from holdfast.domain.chunks import Cutting;"
    "from holdfast.stages.reading.cutting import cut; c = sys.stdin.buffer.read();"
    "list(cut(Source(sys.argv[1], '', len(c), c), Cutting(512, 64)))"
)


def run(*, large: bool = False) -> None:
    caveat()
    runtime = Threads(WARM)
    try:
        one_document(runtime)
        one_large_text(runtime, LARGE if large else SMALL)
    finally:
        runtime.close()


def one_document(runtime: Threads) -> None:
    samples = [one for one in all_samples() if not one.name.endswith(".txt")]
    apart(runtime, samples[0])  # starts the host
    children = [apart(runtime, one) for one in samples for _ in range(TIMES)]
    fresh = [interpreter(one) for one in samples[::4] for _ in range(ALONE)]
    print(f"  in a child of the host   {told(children)}")
    print(f"  in a fresh interpreter   {told(fresh)}")


def apart(runtime: Threads, sample: Sample) -> float:
    source = Source(sample.name, "", len(sample.content), sample.content)
    began = time.perf_counter()
    assert list(ReaderApart(runtime, Limits(), 0, Ocr()).read(source, CUTTING, runtime.event()))
    return time.perf_counter() - began


def interpreter(sample: Sample) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", FRESH, sample.name], input=sample.content, check=True)
    return time.perf_counter() - began


def one_large_text(runtime: Threads, size: int) -> None:
    with folder() as place:
        path = place / "large.txt"
        written(path, size)
        source = Source("large.txt", "", size, place=str(path))
        began, chunks = time.perf_counter(), 0
        reader = ReaderApart(runtime, Limits(), 0, Ocr())
        for page in reader.read(source, CUTTING, runtime.event()):
            chunks += len(page.chunks)
        seconds = time.perf_counter() - began
    owner = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"  {size >> 20} MiB of text: {chunks} chunks in {seconds:.0f} s, "
        f"child {runtime.taken.memory >> 10} MiB, owner {owner} MiB at most"
    )


def written(path: Path, size: int) -> None:
    line = "The {} valve of the boiler is opened by turning the brass wheel twice.\n\n"
    with path.open("w") as file:
        written_so_far = number = 0
        while written_so_far < size:
            text = "".join(line.format(number + n) for n in range(10_000))
            written_so_far += file.write(text)
            number += 10_000
        file.truncate(size)
