"""Does the fetcher reach what it may not, and does it ask whom it has checked? Counts, no times.

`python -m bench web`, about ten seconds. Arrivals are counted by the server that stands wherever
the fetcher may not go; the last line shows that it would be reached without the guard.
"""

from __future__ import annotations

from holdfast.stages.web.networks import allowed_of
from tests.stages.web import hostile

NAME = "web"


def run(*, large: bool = False) -> None:
    urls, forms = hostile.redirects(hostile.URLS), hostile.forms()
    changing = hostile.rebinding(100)
    odd = hostile.agreement(100_000 if large else 10_000)
    open_door = hostile.redirects(hostile.URLS, allowed_of([], hostile.EVERYWHERE))
    print(
        f"{len(hostile.URLS)} hostile URLs, directly and behind {len(hostile.REDIRECTS)} kinds of "
        f"redirect: {urls.tried} fetches, {urls.got_in} connections to a refused address"
    )
    print(f"{forms.tried} forms of inner addresses: {forms.got_in} connections")
    print(f"a name that rebinds, {changing.tried} times: {changing.got_in} connections")
    print(
        f"{odd.tried} odd URLs: {odd.refused} refused, {odd.asked} asked, "
        f"{odd.disagreed} of them at another host than the checked one"
    )
    print(f"the same hostile URLs with everything allowed: {open_door.got_in} connections")
