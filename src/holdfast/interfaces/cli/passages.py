"""How is a passage shown to a person?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from holdfast.domain.chunks import ChunkView
from holdfast.domain.ids import BaseId
from holdfast.interfaces.cli.screen import place
from holdfast.workflow.search import Hit

EXTRACT = 400
BEFORE = 120
INDENT = 3
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
HEADING = re.compile(r"\A(?:\s*#+ .*\n)+")  # said above the extract already
WORD = re.compile(r"\w+")


def show_hits(
    console: Console, hits: Sequence[Hit], query: str, bases: Mapping[BaseId, str], full: bool
) -> None:
    words = words_of(query)
    for hit in hits:
        where = [bases[hit.base_id]] if len(bases) > 1 and hit.base_id in bases else []
        where += [place(hit.source)]
        where += [f"page {hit.page}"] if hit.page is not None else []
        stale = Text("  (being read again)", style="yellow") if hit.stale else Text()
        console.print(
            Text(f"{hit.rank}. ", style="bold"),
            Text(hit.title, style="bold cyan"),
            Text(f"  {hit.score:.3f}", style="dim"),
            stale,
            sep="",
        )
        console.print(Text("   " + " · ".join(where), style="dim"), soft_wrap=True)
        if hit.headings:
            console.print(Text("   " + " > ".join(hit.headings), style="italic"), soft_wrap=True)
        text = hit.content if full else extract(hit.content, words)
        console.print(indented(console, _marked(text, words)))


def show_chunks(console: Console, chunks: Sequence[ChunkView]) -> None:
    for chunk in chunks:
        heading = " > ".join(chunk.headings)
        console.print(
            Text(f"[{chunk.ordinal}] {chunk.char_start}-{chunk.char_end}  {heading}", style="dim")
        )
        console.print(indented(console, Text(chunk.content)))


def indented(console: Console, text: Text) -> RenderableType:
    """Below its title: wrapped on a terminal, one line a paragraph in a pipe."""
    if console.is_terminal:
        return Padding(text, (0, 0, 1, INDENT))
    lines = [Text(" " * INDENT).append_text(line) for line in text.split("\n")]
    return Text("\n").join([*lines, Text()])


def words_of(query: str) -> list[str]:
    """What to mark: the words of the query; of a Chinese run, the whole run and its pairs."""
    found: list[str] = []
    for word in WORD.findall(query):
        found.append(word)
        if CJK.search(word):
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return found


def extract(content: str, words: Sequence[str]) -> str:
    """The part of a passage where most of it is said: around the first word asked for."""
    text = " ".join(HEADING.sub("", content).split())
    if len(text) <= EXTRACT:
        return text
    found = _pattern(words).search(text) if words else None
    start = max(0, found.start() - BEFORE) if found else 0
    start = 0 if start == 0 else text.find(" ", start, start + 40) + 1 or start
    end = start + EXTRACT
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def _marked(text: str, words: Sequence[str]) -> Text:
    shown = Text(text)
    if words:
        shown.highlight_regex(_pattern(words), style="bold yellow")
    return shown


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Chinese anywhere, other words whole."""
    parts = [re.escape(word) if CJK.search(word) else rf"\b{re.escape(word)}\b" for word in words]
    return re.compile("|".join(parts), re.IGNORECASE)
