"""How good are the answers? (`holdfast eval`)"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.interfaces.evaluation import Evaluation


@command("eval")
def evaluate(
    door: Door,
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="corpus.jsonl, queries.jsonl, qrels.tsv.")
    ],
    queries: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="Ask the questions of this folder instead."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER/MODEL", help="Embedding model; none: words.")
    ] = None,
) -> int:
    """Measure search on a collection whose answers are known.

    Indexes it in a folder of its own and asks every question in every mode: nDCG@10, recall@10,
    MRR@10. With --queries the questions of a parallel collection, in another language say.

    \b
    Examples:
      holdfast eval xquad-en
      holdfast eval xquad-en --queries xquad-zh --json
    """
    from holdfast.interfaces.cli.adding import NO_MODEL
    from holdfast.interfaces.collection import collection
    from holdfast.interfaces.evaluation import evaluate as evaluated
    from holdfast.interfaces.words import plain

    base = {} if model is None else {"embedding_model": None if model == NO_MODEL else model}
    seen = evaluated(collection(folder, queries), base, door.say, config=door.settings_file)
    door.answer(plain(seen), lambda console: _show(console, seen))
    return DONE


def _show(console: Console, seen: Evaluation) -> None:
    from holdfast.interfaces.cli.screen import table

    numbers = ("nDCG@10", "Recall@10", "MRR@10")
    shown = table("Mode", *numbers, right=numbers)
    for one in seen.verdicts:
        found = (one.quality.ndcg, one.quality.recall, one.quality.mrr)
        shown.add_row(one.mode, *(f"{number:.4f}" for number in found))
    console.print(
        f"{seen.model or 'no model'}: {seen.documents:,} documents, {seen.passages:,} passages, "
        f"{seen.questions:,} questions"
    )
    console.print(shown)
