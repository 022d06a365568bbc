"""What answers a question? (`holdfast search`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE


@command("search")
def search(
    door: Door,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or some words.")],
    base: Annotated[
        list[str] | None,
        typer.Option("--base", metavar="NAME", help="Only this base; may be given several times."),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", metavar="N", help="Most passages; else what the base says (10)."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="keyword, vector or hybrid; else what the base says."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Whole passages, not extracts.")] = False,
) -> int:
    """Show the passages that answer a question.

    Each with its title, its place and its score; all bases are searched unless one is named.

    \b
    Examples:
      holdfast search "how do I reset it?"
      holdfast search 恢复出厂设置 --base manuals --top-k 3
      holdfast search reset --json
    """
    from holdfast.interfaces.cli.passages import show_hits
    from holdfast.interfaces.words import plain

    with door.reading() as hf:
        names = {one.id: one.name for one in hf.bases()}
        answer = hf.search(query, bases=base or None, top_k=top_k, mode=mode)  # type: ignore[arg-type]  # the engine checks the word and names the accepted ones
    for warning in answer.warnings:
        door.say(warning)
    if not answer.hits:
        door.say("Nothing found.")
    door.answer(plain(answer), lambda console: show_hits(console, answer.hits, query, names, full))
    return DONE
