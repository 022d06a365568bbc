"""What does a first answer look like? Indexes the example handbook and asks it two questions."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory  # noqa: TID251  (a tour leaves nothing behind)

from holdfast import Directory, Holdfast
from holdfast.workflow.search import SearchAnswer

HANDBOOK = Path("examples/handbook")
QUESTIONS = ("How do I do a factory reset?", "如何恢复出厂设置？")
PATIENCE = 60
SHOWN = 240


def main() -> int:
    """Say each step; the folder it works in is a temporary one."""
    if not HANDBOOK.is_dir():
        return _say(f"{HANDBOOK} is not here: run this from the top of the repository", 1)
    with TemporaryDirectory(prefix="holdfast-") as folder, Holdfast.open(folder) as hf:
        base = hf.create_base("handbook", embedding_model="local/auto")
        added = hf.add(base, Directory(str(HANDBOOK)))
        hf.wait(added.created, timeout=PATIENCE)
        leaves = [item for item in hf.items(base, parent="*").items if not item.is_container]
        _say(f"Indexed {len(leaves)} files, {sum(item.chunk_count for item in leaves)} chunks.")
        for question in QUESTIONS:
            _say(f"\n{question}\n{_answered(hf.search(question, bases=base, top_k=1))}")
    return 0


def _answered(answer: SearchAnswer) -> str:
    if not answer.hits:
        return "  (nothing found)"
    best = answer.hits[0]
    text = " ".join(best.content.split())[:SHOWN]
    return f"  {text}\n  -- {best.title}, {' > '.join(best.headings)} ({best.source})"


def _say(text: str, code: int = 0) -> int:
    sys.stdout.write(f"{text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
