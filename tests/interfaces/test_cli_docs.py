"""docs/cli.md has every command and every option of the shell."""

from __future__ import annotations

import re

from tests.architecture import source
from tests.interfaces.doors import Shell

PAGE = source.DOCS / "cli.md"


def test_every_command_and_option_is_in_the_docs(shell: Shell) -> None:
    page = PAGE.read_text("utf-8")
    listed = shell.run("--help").out.partition("Commands:\n")[2]
    commands = re.findall(r"^  (\w+) ", listed, re.MULTILINE)

    assert [name for name in commands if f"### `holdfast {name}" not in page] == []
    for name in commands:
        options = re.findall(r"^  (--[\w-]+)", shell.run(name, "--help").out, re.MULTILINE)
        section = page.partition(f"### `holdfast {name}")[2].partition("\n### ")[0]
        known = section + page.partition("## Adding and finding")[0]
        assert [option for option in options if option not in known] == [], name
