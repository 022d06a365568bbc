"""Which bases are there, and what has it taken? (`holdfast bases` and `stats`)"""

from __future__ import annotations

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE


@command("bases")
def bases(door: Door) -> int:
    """List the bases: items, passages, size, state.

    \b
    Examples:
      holdfast bases
      holdfast bases --json
    """
    from holdfast.interfaces.cli.numbers import show_bases
    from holdfast.interfaces.words import base_document

    with door.reading() as hf:
        seen = [hf.overview(one) for one in hf.bases()]
    document = {"items": [base_document(one) for one in seen], "nextCursor": None}
    door.answer(document, lambda console: show_bases(console, seen))
    return DONE


@command("stats")
def stats(door: Door) -> int:
    """Show how many texts were embedded or reused.

    \b
    Examples:
      holdfast stats
      holdfast stats --json
    """
    from holdfast.interfaces.cli.numbers import show_stats
    from holdfast.interfaces.words import plain

    with door.reading() as hf:
        numbers = hf.stats()
    door.answer(plain(numbers), lambda console: show_stats(console, numbers))
    return DONE
