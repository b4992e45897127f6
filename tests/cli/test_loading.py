"""What commands load: each module takes time that somebody waits."""

import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType

import pytest

_LOADED = """
import contextlib, io, sys
from kernelbot.cli import main
sys.argv = ["kernelbot", *{words!r}]
said = io.TextIOWrapper(io.BytesIO())
with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
    main()
print(*(name for name, found in sys.modules.items() if found))
"""
_VARIABLES = _LOADED.rpartition("print")[0] + "import os; print(*os.environ)"
_MODELS = {"kernelbot.submissions.model", "kernelbot.runs.report", "kernelbot.boards.model"}
_HEAVY = {"typer", "pydantic", "httpx", "rich.console", "pygments", "tomllib"}
_NOT_FOR_HELP = {
    *("httpx", "pydantic", "markdown_it", "rich.markdown", "rich.traceback"),
    *("difflib", "fractions", "pickle", "platform", "subprocess", "uuid"),
}


def loaded(words: list[str]) -> set[str]:
    return _printed(_LOADED.format(words=words))


def _printed(program: str, more: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        env={"KERNELBOT_URL": "http://127.0.0.1:9", "HOME": "/nonexistent", **more},
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "needed", "spared"),
    [
        (["--version"], {"kernelbot.cli.names"}, {"typer", "pydantic", "httpx", "rich.console"}),
        (["--help"], {"rich.console"}, {*_NOT_FOR_HELP, "kernelbot.cli.submissions"}),
        (["board", "show", "--help"], {"rich.console"}, _NOT_FOR_HELP),
        (["whoami"], {"kernelbot.client.direct"}, {*_MODELS, *_HEAVY}),
        (
            ["submit", "x.py", "--board", "y"],
            {"kernelbot.catalog.sources"},
            {
                *_HEAVY,
                "yaml",
                "kernelbot.catalog.fields",
                "kernelbot.cli.submissions",
                "kernelbot.runs.files",
            },
        ),
        (["run", "--help"], {"kernelbot.cli.judging"}, {"httpx", "kernelbot.runs.files"}),
        (
            ["token", "list", "--json"],
            {"kernelbot.client.direct"},
            {*_MODELS, *_HEAVY, "kernelbot.cli.boards"},
        ),
        (["token", "create", "x"], {"kernelbot.accounts.tokens.schemas"}, {*_MODELS, *_HEAVY}),
        (["pause"], {"kernelbot.accounts.schemas"}, _HEAVY),
        (["dev", "--help"], {"rich.console"}, {"httpx", "pydantic", "subprocess"}),
        (
            ["board", "shw"],
            {"typer", "difflib"},
            {*_NOT_FOR_HELP, "kernelbot.cli.submissions"} - {"difflib"},
        ),
        (["board", "show"], {"typer"}, _NOT_FOR_HELP),
        (["board", "show", "x", "y"], {"typer"}, _NOT_FOR_HELP),
        (["submit", "x", "--mode", "tst"], {"typer"}, _NOT_FOR_HELP),
        (["submission", "show", "abc"], {"typer"}, _NOT_FOR_HELP),
    ],
    ids=[
        *("version", "help", "board-help", "whoami", "submit", "run-help", "token-list"),
        *("token-create", "pause"),
        *("dev-help", "misspelt", "missing", "too-much", "no-choice", "no-number"),
    ],
)
def test_a_command_loads_only_what_it_uses(
    words: list[str], needed: set[str], spared: set[str]
) -> None:
    found = loaded(words)
    assert (needed, set()) == (needed & found, spared & found)


@pytest.mark.parametrize(("command", "searches"), [("whoami", False), ("serve", True)])
def test_plugins_of_pydantic_are_searched_for_a_platform_alone(
    command: str, searches: bool
) -> None:
    variables = _printed(_VARIABLES.format(words=[command, "--help"]))
    assert searches == ("PYDANTIC_DISABLE_PLUGINS" not in variables)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    "typed", ["kernelbot bo", "kernelbot board show --", "kernelbot board show i"]
)
def test_a_press_of_a_key_loads_no_typer(shell: str, typed: str) -> None:
    asking = {
        "_KERNELBOT_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    found = _printed(_LOADED.format(words=[]), asking)
    assert ({"kernelbot.cli.shells"}, set()) == (
        {"kernelbot.cli.shells"} & found,
        {*_HEAVY, "rich"} & found,
    )


def test_what_help_leaves_out_is_loaded_when_it_is_asked_for() -> None:
    used = """
from typer import rich_utils
from rich.table import Table
import rich._ratio, traceback, typer.main
assert not {"rich.markdown", "fractions"} & sys.modules.keys()
text = rich_utils.Markdown("# a")
crash = rich_utils.Traceback.from_exception(KeyError, KeyError(), None)
class Longer(rich_utils.Markdown): pass
print(type(text).__module__, type(crash).__module__, Longer.__mro__[1].__module__,
    isinstance(text, rich_utils.Markdown), isinstance(Table(), rich_utils.Markdown),
    rich._ratio.Fraction(3, 6), typer.main.traceback.TracebackException.__module__,
    typer.main.FrameSummary("a", 7, "b").lineno, traceback.__spec__.name)
"""
    found = _printed(_LOADED.rpartition("print")[0].format(words=["--help"]) + used)
    assert {"rich.markdown", "rich.traceback", "True", "False", "1/2", "traceback", "7"} == found
