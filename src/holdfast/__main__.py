"""What does `holdfast` do when it is started from a shell?"""

from __future__ import annotations

import sys


def main() -> int:
    """The exit code of the command line this process was started with."""
    from holdfast.interfaces.cli.shell import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
