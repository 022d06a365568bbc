"""Which benches run? All of them, or those named: `python -m bench [index …] [--large]`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy: one thread, as a worker has


def main(arguments: list[str]) -> int:
    named = [one for one in arguments if not one.startswith("-")]
    known = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))
    if unknown := set(named) - set(known):
        print(f"no bench {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        return 2
    for name in named or known:
        print(f"== {name}")
        import_module(f"bench.{name}").run(large="--large" in arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
