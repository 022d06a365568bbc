"""How do documents come in? (`holdfast add`)"""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door


@command("add")
def add(
    door: Door,
    *,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|URL|-...",
            help="Files, folders, pages, sitemaps; - reads a note from stdin.",
        ),
    ],
    base: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Into this base; made when missing."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the note read from stdin.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/MODEL", help="Embedding model of a base made now; none: words only."
        ),
    ] = None,
    sitemap: Annotated[
        bool, typer.Option("--sitemap", help="The given addresses are sitemaps.")
    ] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Accept only; the next command does the work.")
    ] = False,
) -> int:
    """Add files, folders, web pages, sitemaps and notes.

    Waits until they can be found. What was added before is read again instead; unchanged text is
    not embedded again. Folders are followed into their depth, hidden names are left out. An address
    that ends like …/sitemap.xml is a sitemap, and all its pages are added; --sitemap says so of
    others. Without --base all goes into the only base there is, or into "default".

    \b
    Examples:
      holdfast add ~/documents
      holdfast add report.md notes/ --base work
      holdfast add https://example.org/guide https://example.org/sitemap.xml
      date | holdfast add - --title "When it was"
    """
    from holdfast.interfaces.cli.adding import asked, begin, told
    from holdfast.interfaces.cli.outcome import outcome_of, waited

    wanted = asked(paths, title, sitemap=sitemap)
    with door.owning(run=not no_wait) as (hf, stop):
        adding = begin(hf, stop, base, model, door).take(wanted)
        ending = None if no_wait else waited(hf, stop, door, adding.ids, adding.base.name)
    with door.reading() as hf:
        return told(door, adding, hf, outcome_of(hf, adding.ids, ending))
