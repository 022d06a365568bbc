"""What is the same for every command: the options taken everywhere, errors, exit codes.

A command is a function of a Door and its own parameters that returns an exit code. Nothing heavy
is imported here or at the top of a command's file: `holdfast --help` reads them all.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

import typer
from typer.core import TyperGroup

from holdfast.domain.errors import HoldfastError
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.exits import DONE, FAILED, INTERRUPTED, WRONG_USE

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help="Data folder; else $HOLDFAST_DATA, else ~/.local/share/holdfast.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings file; else holdfast.toml in the data folder."
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Answer with one JSON document; messages go to stderr.")
]

ORDER = (
    *("add", "search", "ls", "show", "rm", "reindex"),
    *("queue", "explain", "history", "recover", "dismiss"),
    *("bases", "models", "eval", "stats", "doctor", "selftest"),
)

Own = ParamSpec("Own")
Command = Callable[Concatenate[Door, Own], int]


@dataclass(frozen=True, slots=True)
class Common:
    """The options that may stand before or after the command."""

    data: Path | None = None
    config: Path | None = None
    as_json: bool = False


class InOrder(TyperGroup):
    """Commands in the order of a day's work, not of their files."""

    def list_commands(self, ctx: Any) -> list[str]:
        known = super().list_commands(ctx)
        return sorted(known, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    cls=InOrder,
    name="holdfast",
    add_completion=True,
    rich_markup_mode=None,  # plain help: the other kind takes a tenth of a second to import
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def command(name: str) -> Callable[[Command[Own]], Command[Own]]:
    """Register a command under this name; its docstring is its help."""

    def register(function: Command[Own]) -> Command[Own]:
        app.command(name)(_as_typer_reads_it(function))
        return function

    return register


def _as_typer_reads_it(function: Callable[..., int]) -> Callable[..., int]:
    """The function as Typer calls it: the context first, the common options last, no Door."""

    def called(
        ctx: typer.Context, data: Path | None, config: Path | None, as_json: bool, **own: Any
    ) -> int:
        before: Common = ctx.obj
        common = Common(
            data or before.data, config or before.config, as_json=as_json or before.as_json
        )
        return guarded(common, lambda door: function(door, **own))

    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shown = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own),
        *(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, kind, default in (
                ("data", DataOption, None),
                ("config", ConfigOption, None),
                ("as_json", JsonOption, False),
            )
        ),
    ]
    called.__doc__ = function.__doc__
    called.__name__ = function.__name__
    called.__annotations__ = {one.name: one.annotation for one in shown}
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return called


def guarded(common: Common, run: Callable[[Door], int]) -> int:
    """The exit code of a command; whatever it raises is said once, in the form asked for."""
    door = Door(common.data, common.config, as_json=common.as_json)
    try:
        return run(door)
    except HoldfastError as error:
        door.refuse(error)
        return WRONG_USE if error.code == "invalid_input" else FAILED
    except KeyboardInterrupt:
        door.refuse(
            HoldfastError("interrupted", code="interrupted", advice="nothing was begun; try again")
        )
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as defect:  # noqa: BLE001  (a defect is told like any error, with its trace)
        import traceback

        traceback.print_exc()
        door.refuse(HoldfastError(f"{type(defect).__name__}: {defect}"))
        return FAILED


@app.callback(invoke_without_command=True)
def everywhere(
    ctx: typer.Context,
    *,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    version: Annotated[bool, typer.Option("--version", help="Say the version and end.")] = False,
) -> None:
    """Keep documents searchable, whatever happens to the machine.

    \b
    Three lines to a first answer:
      holdfast add ~/documents
      holdfast search "how do I reset it?"
      holdfast ls

    The options below may stand before the command or after it.
    Exit codes: 0 done, 1 something failed, 2 wrong use, 130 interrupted.
    """
    ctx.obj = Common(data, config, as_json)
    if version:
        from holdfast import __version__

        sys.stdout.write(f"holdfast {__version__}\n")
        raise typer.Exit(DONE)
    if ctx.invoked_subcommand is None:
        if not as_json:
            sys.stderr.write(f"{ctx.get_help()}\n\n")
        raise typer.TyperException("Missing command.")
