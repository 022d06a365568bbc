"""What is known of the providers of models: who waits for them, what were they sent?"""

from __future__ import annotations

from holdfast.domain.ids import BaseId, ClaimNo
from holdfast.domain.jobs import Lane
from holdfast.domain.retries import LONGEST_PROVIDER_PAUSE
from holdfast.stores.queue import ProviderRow
from holdfast.stores.sqlite.connection import Session


class SqliteProviderReads:
    """What can be asked of providers in one snapshot."""

    session: Session

    def providers(self) -> list[ProviderRow]:
        return [ProviderRow(*row) for row in self.session.rows("providers")]

    def fingerprint(self, base: BaseId, space: int) -> bytes | None:
        row = self.session.one("fingerprint", base=base, space=space)
        return row[0] if row else None

    def next_opening(self, now: int) -> int | None:
        found: int | None = self.session.value("next_opening", now=now, longest=longest_pause(now))
        return found


class SqliteProviderWrites(SqliteProviderReads):
    """What can be changed, inside one transaction."""

    now: int
    woken: set[Lane]

    def pause_provider(self, name: str, until: int, reason: str, *, failed: bool) -> None:
        self.session.run(
            "pause_provider",
            name=name,
            until=until,
            reason=reason,
            failed=int(failed),
            longest=longest_pause(self.now),
        )

    def take_probe(self, name: str, claim: ClaimNo) -> bool:
        return bool(self.session.run("take_probe", name=name, claim=claim))

    def open_provider(self, name: str) -> None:
        if self.session.run("open_provider", name=name):
            self.session.run("wake_provider", name=name, now=self.now)
            self.woken.update(Lane)

    def count_texts(
        self, provider: str, embedded: int, reused: int, calls: int, tokens: int = 0
    ) -> None:
        self.session.run(
            "count_texts",
            name=provider,
            embedded=embedded,
            reused=reused,
            calls=calls,
            tokens=tokens,
        )

    def keep_fingerprint(self, base: BaseId, space: int, vector: bytes) -> None:
        self.session.run("keep_fingerprint", base=base, space=space, vector=vector)


def longest_pause(now: int) -> int:
    """A pause that ends later was begun before the clock was set back, and is over."""
    return now + int(LONGEST_PROVIDER_PAUSE * 1_000_000)
