"""What does indexing cost beside the model alone? CPU seconds and memory of one process.

The repository's own pages and modules are indexed with local/auto; then the same passages are
given to the same loaded models by themselves, in one process, so both see the same machine.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench._figures import caveat

PATIENCE = 3_600.0
BATCH = 128
MIB = 1024


def run(*, large: bool = False) -> None:
    caveat()
    for model in ("local/auto", "local/minilm", "local/use") if large else ("local/auto",):
        for quick in (False, True):
            found = _measured(model, quick=quick)
            share = found["bare"] / found["indexing"]
            print(
                f"{model:13} {'optimized' if quick else 'as it came'}: {found['chunks']} passages, "
                f"{found['chunks'] / found['indexing']:6.1f} per CPU s indexing, "
                f"{found['chunks'] / found['bare']:6.1f} the model alone, share {share:.2f}, "
                f"peak {found['peak'] // MIB} MiB"
            )


def _measured(model: str, *, quick: bool) -> dict[str, Any]:
    """In a process of its own, so that its peak is its own."""
    with tempfile.TemporaryDirectory() as folder:
        _texts(Path(folder) / "texts")
        if quick:  # in another process: making it takes more memory than using it
            _python(f"from bench.local_models import quicken; quicken({folder!r})")
        said = _python(f"from bench.local_models import child; child({folder!r}, {model!r})")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def _python(call: str) -> str:
    words = [sys.executable, "-c", call]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _texts(folder: Path) -> None:
    folder.mkdir()
    found = [*Path("docs").rglob("*.md"), *sorted(Path("src").rglob("*.py"))[::3]]
    for number, path in enumerate(found):
        shutil.copy(path, folder / f"{number}-{path.stem}.md")


def quicken(folder: str) -> None:
    from holdfast.config import load
    from holdfast.interfaces.models import optimize_local

    optimize_local(load(model_cache=f"{folder}/cache"))


def child(folder: str, model: str) -> None:
    from holdfast import Directory, Holdfast, Note

    cache = f"{folder}/cache"
    with Holdfast.open(Path(folder) / "kb", model_cache=cache) as hf:
        base = hf.create_base("bench", embedding_model=model)
        hf.wait(hf.add(base, Note("warm", title="warm")).created, timeout=PATIENCE)
        began = time.process_time()
        added = hf.add(base, Directory(str(Path(folder) / "texts")))
        hf.wait(added.created, timeout=PATIENCE)
        spent = time.process_time() - began
        items = hf.items(base, parent=added.created[0], limit=1_000).items
        texts = [chunk.content for item in items for chunk in hf.chunks(item, limit=1_000).items]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # the very models that were loaded
        embedder = hf._engine.kb.embedders.resolve(model, base.settings.dimensions or 0)
        began = time.process_time()
        for at in range(0, len(texts), BATCH):
            embedder.embed(texts[at : at + BATCH])
        bare = time.process_time() - began
    print(json.dumps({"chunks": len(texts), "indexing": spent, "bare": bare, "peak": peak}))
