"""No tracked file knows the machine it was written on, or where packages come from."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.architecture import source

# Assembled, so that this file does not name what it forbids.
HOSTS = ["pypi" + ".org", "python" + "hosted", "npm" + "js.", "deb.deb" + "ian", "conda" + ".io"]
OPTIONS = ["index" + "-url", "find" + "-links", "trusted" + "-host"]
FOLDERS = ["work", "root", "opt", "home", "Users", "mnt", "old_root"]

REGISTRY = re.compile(
    "|".join(map(re.escape, HOSTS)) + rf"|(?<!no-emit-)\b(?:{'|'.join(OPTIONS)})\b", re.IGNORECASE
)
MACHINE_PATH = re.compile(rf"(?<![\w.:/~}})-])/(?:{'|'.join(FOLDERS)})/\w")
# This machine, whatever it is called; /usr is the same on all of them.
PLACES = (source.ROOT, Path.home(), Path(sys.base_prefix))
HERE = sorted({str(path) for path in PLACES if len(path.parts) > 2 and path.parts[1] != "usr"})


def test_no_tracked_file_names_a_registry_or_a_path_of_this_machine() -> None:
    files = source.tracked()
    found = [f"{source.short(p)}:{line}: {what}" for p in files for line, what in offences(p)]

    assert len(files) > 1
    assert not found, "\n".join(found)


def offences(path: Path) -> list[tuple[int, str]]:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return []  # a picture or another binary file
    return list(found_in(text))


def found_in(text: str) -> list[tuple[int, str]]:
    return [
        (number, found)
        for number, line in enumerate(text.splitlines(), start=1)
        for found in _in_line(line)
    ]


def _in_line(line: str) -> list[str]:
    by_pattern = [m.group() for rule in (REGISTRY, MACHINE_PATH) for m in rule.finditer(line)]
    return by_pattern + [here for here in HERE if here in line]


# ------------------------------------------------------- the rules themselves, on planted text


@pytest.mark.parametrize(
    "planted",
    [
        "see https://" + HOSTS[0] + "/project/x",
        "--extra-" + OPTIONS[0] + " somewhere",
        "PIP_" + "FIND" + "_LINKS= --" + OPTIONS[1],
        'path = "/' + FOLDERS[0] + '/main/src"',
        "cd /" + FOLDERS[1] + "/x",
        f"in {source.ROOT}/src",
    ],
)
def test_a_planted_address_is_seen(planted: str) -> None:
    assert found_in("first line\n" + planted)[0][0] == 2


@pytest.mark.parametrize(
    "allowed",
    ["pip-compile --no-emit-" + OPTIONS[0], "https://example.com/work/x", "./work/x", "/api/items"],
)
def test_other_addresses_are_left_alone(allowed: str) -> None:
    assert not found_in(allowed)
