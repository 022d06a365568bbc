"""Fault decisions: numbered as they are drawn, replayed with some left out."""

from __future__ import annotations

from holdfast.testing.faults import POSSIBLE, Faults, Kind

CALLS = [("queue.claim", "main"), ("index.seal", "index"), ("model.embed", "model")] * 300


def drawn(faults: Faults) -> list[str]:
    for call, port in CALLS:
        faults.draw(call, port)
    return [str(fault) for fault in faults.hits]


def test_a_seed_draws_the_same_faults_again() -> None:
    assert drawn(Faults("7")) == drawn(Faults("7"))


def test_a_plan_replays_the_chosen_faults_only() -> None:
    first = next(faults for seed in range(99) if drawn(faults := Faults(str(seed))))
    plan = first.hits[::2]

    replay = Faults("another seed", plan)
    drawn(replay)

    assert replay.hits == plan


def test_every_kind_possible_somewhere_is_drawn_by_some_seed() -> None:
    seen: set[tuple[str, Kind]] = set()
    for seed in range(300):
        faults = Faults(str(seed))
        for port in POSSIBLE:
            for _ in range(150):
                if (fault := faults.draw("call", port)) is not None:
                    seen.add((port, fault.kind))

    assert seen == {(port, kind) for port, kinds in POSSIBLE.items() for kind in kinds}


def test_faults_that_are_off_do_not_happen() -> None:
    faults = Faults("7")
    faults.off()

    assert drawn(faults) == []
