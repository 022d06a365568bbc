"""What a person sees: one line of progress, extracts around what was asked, short numbers."""

from __future__ import annotations

import pytest
from rich.console import Console

from holdfast.domain.pace import Pace
from holdfast.domain.progress import Tally
from holdfast.interfaces.cli.passages import extract, words_of
from holdfast.interfaces.cli.screen import counted, duration_text, place, size_text
from holdfast.interfaces.cli.watching import progress_line

HALF = Tally(
    leaves=40, completed=18, failed=2, listing=0, chunks=90, workload=4_000, workload_done=2_000
)


def drawn(tally: Tally, pace: Pace) -> str:
    console = Console(width=140, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(progress_line("manuals", tally, pace, 140))
    return captured.get()


def test_a_line_of_progress_says_how_far_how_many_how_fast_and_how_long() -> None:
    pace = Pace()
    pace.look(0.0, 0.0)
    pace.look(10.0, 2_000.0)

    line = drawn(HALF, pace)

    for part in ("manuals", "50 %", "20 of 40 documents", "2.0/s", "10 s left", "2 failed"):
        assert part in line


def test_no_time_is_promised_while_folders_are_still_being_listed() -> None:
    listing = Tally(
        leaves=10, completed=0, failed=0, listing=1, chunks=0, workload=100, workload_done=0
    )

    assert "still listing" in drawn(listing, Pace())


def test_a_hundred_percent_is_said_by_the_end_only() -> None:
    almost = Tally(
        leaves=1, completed=0, failed=0, listing=0, chunks=0, workload=100, workload_done=100
    )

    assert "99 %" in drawn(almost, Pace())


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1_000, "1.0 KB"), (12_345_678, "12.3 MB")]
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (61, "1:01"), (3_725, "1:02:05")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_one_is_one_and_two_are_many() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(2_000, "file") == "2,000 files"


def test_an_extract_is_cut_around_the_first_word_asked_for() -> None:
    text = "filler " * 200 + "the needle is here " + "filler " * 200

    cut = extract(text, words_of("needle"))

    assert "the needle is here" in cut
    assert cut.startswith("… ")
    assert cut.endswith(" …")
    assert len(cut) < 450


def test_a_short_passage_is_shown_whole_without_the_heading_said_above_it() -> None:
    assert extract("# Reset\n\nHold the\nbutton.", ["button"]) == "Hold the button."


def test_chinese_is_marked_by_run_and_by_pairs() -> None:
    assert words_of("恢复出厂 lamp") == ["恢复出厂", "恢复", "复出", "出厂", "lamp"]


def test_a_path_below_the_working_folder_is_shown_as_it_would_be_typed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)

    assert place(str(here / "docs" / "a.md")) == "docs/a.md"
    assert place("/elsewhere/a.md") == "/elsewhere/a.md"
    assert place("A note") == "A note"


def test_the_line_of_progress_fits_a_narrow_terminal() -> None:
    console = Console(width=80, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(progress_line("⠋ manuals", HALF, Pace(), 80))

    (line,) = captured.get().splitlines()
    assert "2 failed" in line
