"""Problems on disk: `problem new`, `problem check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernelbot.cli.errors import ACCEPTED, OURS, REFUSED
from kernelbot.cli.examples import examples
from kernelbot.cli.inprocess import load
from kernelbot.cli.options import DeviceOption, Json, SandboxOption
from kernelbot.cli.terminal import Terminal
from kernelbot.protocol import Lang, SandboxMode

if TYPE_CHECKING:
    from kernelbot.catalog.problem import LoadedProblem


def register(app: typer.Typer) -> None:
    """Add the commands."""
    problems = typer.Typer(no_args_is_help=True, help="Write and check problems on this disk.")
    problems.command(
        epilog=examples("kernelbot problem new softmax", "kernelbot problem new scan --lang cpp")
    )(new)
    problems.command(
        epilog=examples(
            "kernelbot problem check examples/sort_np",
            "kernelbot problem check examples/sort_np --no-run",
            "Exit codes: 0 all is well; 1 a solution misbehaved; 2 the problem can't be read; "
            "3 our fault.",
        )
    )(check)
    app.add_typer(problems, name="problem")


def new(
    name: Annotated[str, typer.Argument(help="The problem's name, and its folder's.")],
    lang: Annotated[Lang, typer.Option(help="What submissions are written in.")] = Lang.PY,
    folder: Annotated[
        Path | None,
        typer.Option("--in", help="Where the folder goes. Default: here.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a small, working problem with solutions, to change into one's own."""
    from kernelbot.catalog.skeleton import new_problem

    terminal = Terminal(as_json)
    target = (folder or Path()) / name
    files = new_problem(target, name, lang)
    terminal.show("\n".join(f"wrote {path}" for path in files))
    terminal.show(f"\nTry it: kernelbot problem check {target}")
    terminal.document({"folder": str(target), "files": [str(path) for path in files]})


def check(
    folder: Annotated[Path, typer.Argument(help="The problem's folder: it holds task.yml.")],
    no_run: Annotated[bool, typer.Option("--no-run", help="Only read it; judge nothing.")] = False,
    device: DeviceOption = None,
    sandbox: SandboxOption = SandboxMode.REQUIRED,
    as_json: Json = False,
) -> None:
    """Explain each mistake of a problem, then judge its solutions: the files of
    solutions/correct must pass, those of solutions/wrong must not."""
    from kernelbot.catalog.problem import load_problem

    terminal = Terminal(as_json)
    loaded = load_problem(folder)
    _introduce(loaded, terminal)
    checked = [] if no_run else _judge(loaded, device, sandbox, terminal)
    well = all(one.behaved for one in checked)
    if checked:
        behaved = sum(one.behaved is True for one in checked)
        terminal.show(f"{behaved} of {len(checked)} solutions behaved as they should.")
    elif not no_run:
        terminal.show("There are no solutions to judge: add some to solutions/correct and /wrong.")
    terminal.document(_document(loaded, checked, well))
    unknown = any(one.behaved is None for one in checked)
    raise typer.Exit(ACCEPTED if well else OURS if unknown else REFUSED)


def _introduce(loaded: "LoadedProblem", terminal: Terminal) -> None:
    spec = loaded.definition.spec
    for warning in loaded.warnings:
        terminal.show(f"Note: {warning}")
    terminal.show(
        f"{spec.name}: {spec.lang}, {len(spec.tests)} tests, {len(spec.benchmarks)} benchmarks, "
        f"judged the {spec.harness} way, because {spec.harness_reason.rstrip('.')}."
    )


def _judge(
    loaded: "LoadedProblem", device: str | None, sandbox: SandboxMode, terminal: Terminal
) -> list[Any]:
    checked = []
    for one in load("check", "check_configured")(loaded, device=device, sandbox=sandbox):
        terminal.show(_line(one))
        checked.append(one)
    return checked


def _line(checked: Any) -> str:
    from kernelbot.render.text import indent, printable

    sign = {True: "✓", False: "✗", None: "!"}[checked.behaved]
    verdict = checked.result.verdict.value if checked.result else "can't be submitted"
    line = f"  {sign} {checked.solution.label}: {verdict}"
    if checked.behaved and not checked.message:
        return line
    return f"{line}\n{indent(printable(checked.message), '      ')}" if checked.message else line


def _document(loaded: "LoadedProblem", checked: list[Any], well: bool) -> dict[str, Any]:
    spec = loaded.definition.spec
    return {
        "problem": spec.name,
        "ok": well,
        "lang": spec.lang,
        "harness": spec.harness,
        "harness_reason": spec.harness_reason,
        "tests": len(spec.tests),
        "benchmarks": len(spec.benchmarks),
        "devices": list(loaded.definition.devices),
        "warnings": [str(warning) for warning in loaded.warnings],
        "solutions": [
            {
                "file": one.solution.label,
                "expected": one.solution.expected,
                "verdict": one.result.verdict if one.result else None,
                "behaved": one.behaved,
                "message": one.message,
            }
            for one in checked
        ],
    }
