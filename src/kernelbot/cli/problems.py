"""Problems on disk: `problem new`, `problem check`, `problem import`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import ACCEPTED, OURS, REFUSED
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.importing import import_suite
from kernelbot.cli.options import DeviceOption, Json, SandboxOption
from kernelbot.cli.terminal import Terminal
from kernelbot.protocol import Lang, SandboxMode

if TYPE_CHECKING:
    from kernelbot.catalog.problem import LoadedProblem
    from kernelbot.server.check import CheckedSolution, ProblemTrouble


def register(app: Commands) -> None:
    """Add the commands."""
    problems = Commands("Write and check problems on this disk.")
    problems.command(
        epilog=examples("kernelbot problem new softmax", "kernelbot problem new scan --lang cpp")
    )(new)
    problems.command(
        epilog=examples(
            "kernelbot problem check examples/sort_np",
            "kernelbot problem check examples/sort_np --no-run",
            "Exit codes: 0 all is well; 1 the problem's code fails or a solution misbehaved; "
            "2 the problem can't be read; 3 our fault.",
        )
    )(check)
    problems.command(
        "import",
        epilog=examples(
            "kernelbot problem import kernelbench KernelBench/level1 --into boards",
            "kernelbot problem import flashinfer-bench flashinfer_trace --device H100",
            "kernelbot problem import tensara problems/relu --largest 64",
            "Exit codes: 0 all was imported; 1 some files couldn't be; 2 nothing can be.",
        ),
    )(import_suite)
    app.add(problems, "problem")


def new(
    name: Annotated[str, Argument(help="The problem's name, and its folder's.")],
    lang: Annotated[Lang, Option(help="What submissions are written in.")] = Lang.PY,
    folder: Annotated[
        Path | None,
        Option("--in", help="Where the folder goes. Default: here.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a small, working problem with solutions, for you to change."""
    from kernelbot.catalog.skeleton import new_problem

    terminal = Terminal(as_json)
    target = (folder or Path()) / name
    files = new_problem(target, name, lang)
    terminal.show("\n".join(f"wrote {path}" for path in files))
    terminal.show(f"\nTry it: kernelbot problem check {target}")
    terminal.document({"folder": str(target), "files": [str(path) for path in files]})


def check(
    folder: Annotated[Path, Argument(help="The problem's folder: it holds task.yml.")],
    no_run: Annotated[bool, Option("--no-run", help="Only read it; judge nothing.")] = False,
    device: DeviceOption = None,
    sandbox: SandboxOption = SandboxMode.REQUIRED,
    as_json: Json = False,
) -> None:
    """Report each mistake of a problem, try its generator, reference and checker, then judge its
    solutions: the files of solutions/correct must pass and are timed, those of solutions/wrong
    must not pass."""
    from kernelbot.catalog.problem import load_problem

    terminal = Terminal(as_json)
    loaded = load_problem(folder)
    _introduce(loaded, terminal)
    troubles = () if no_run else _try(loaded, device)
    for trouble in troubles:
        terminal.show(_trouble(trouble))
    is_broken = any(trouble.is_fatal for trouble in troubles)
    checked = [] if no_run or is_broken else _judge(loaded, device, sandbox, terminal)
    well = not is_broken and all(one.behaved for one in checked)
    if checked:
        behaved = sum(one.behaved is True for one in checked)
        terminal.show(f"{behaved} of {len(checked)} solutions behaved as they should.")
    elif is_broken:
        terminal.show("No solution was judged: correct the problem itself first.")
    elif not no_run:
        terminal.show("There are no solutions to judge: add some to solutions/correct and /wrong.")
    terminal.document(_document(loaded, troubles, checked, well))
    raise Exit(_exit_code(well, checked))


def _exit_code(well: bool, checked: list[CheckedSolution]) -> int:
    """If a solution can't be judged, that is our fault, unless the problem's own code failed."""
    if well:
        return ACCEPTED
    unknown = [one for one in checked if one.behaved is None]
    return OURS if unknown and not all(one.blames_problem for one in unknown) else REFUSED


def _trouble(trouble: ProblemTrouble) -> str:
    from kernelbot.render.text import indent, printable

    where = f"\n{indent(printable(trouble.evidence), '      ')}" if trouble.evidence else ""
    if not trouble.is_fatal:
        return f"Note: {printable(trouble.message)}{where}"
    return f"  ✗ the problem: {printable(trouble.message)}{where}"


def _introduce(loaded: LoadedProblem, terminal: Terminal) -> None:
    spec = loaded.definition.spec
    for warning in loaded.warnings:
        terminal.show(f"Note: {warning}")
    terminal.show(
        f"{spec.name}: {spec.lang}, {len(spec.tests)} tests, {len(spec.benchmarks)} benchmarks, "
        f"{spec.harness} judging, because {spec.harness_reason.rstrip('.')}."
    )


def _try(loaded: LoadedProblem, device: str | None) -> tuple[ProblemTrouble, ...]:
    require_extra("judge")
    from kernelbot.server.check import try_configured

    return try_configured(loaded, device=device)


def _judge(
    loaded: LoadedProblem, device: str | None, sandbox: SandboxMode, terminal: Terminal
) -> list[CheckedSolution]:
    require_extra("judge")
    from kernelbot.server.check import check_configured

    checked = []
    for one in check_configured(loaded, device=device, sandbox=sandbox):
        terminal.show(_line(one))
        checked.append(one)
    return checked


def _line(checked: CheckedSolution) -> str:
    from kernelbot.render.text import indent, printable

    sign = {True: "✓", False: "✗", None: "!"}[checked.behaved]
    verdict = checked.result.verdict.words if checked.result else "can't be submitted"
    parts = [f"  {sign} {checked.solution.label}: {verdict}"]
    if checked.message:
        parts.append(indent(printable(checked.message), "      "))
    parts += [indent(line, "      ") for line in _times(checked)]
    return "\n".join(parts)


def _times(checked: CheckedSolution) -> list[str]:
    """One line per workload of a correct solution: its time with the interval, and warnings. If it
    was only tested, why."""
    from kernelbot.catalog.oracle import Expectation
    from kernelbot.render.text import one_line
    from kernelbot.render.units import interval_text, time_text

    if checked.solution.expected is not Expectation.CORRECT:
        return []
    if checked.behaved and checked.result and not checked.workloads:
        return [f"Note: {one_line(note)}" for note in checked.result.system.notes]
    lines = []
    for workload in checked.workloads:
        time, interval = time_text(workload.median_ns), interval_text(*workload.ci95_ns)
        name = one_line(workload.spec)
        lines.append(f"{name}: {time} (95 % interval of this judging {interval})")
        lines += [f"  Note: {note}." for note in checked.time_notes(workload)]
    return lines


def _document(
    loaded: LoadedProblem,
    troubles: Sequence[ProblemTrouble],
    checked: list[CheckedSolution],
    well: bool,
) -> dict[str, Any]:
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
        "troubles": [
            {"message": trouble.message, "evidence": trouble.evidence, "fatal": trouble.is_fatal}
            for trouble in troubles
        ],
        "solutions": [
            {
                "file": one.solution.label,
                "expected": one.solution.expected,
                "verdict": one.result.verdict if one.result else None,
                "behaved": one.behaved,
                "message": one.message,
                "workloads": [
                    {
                        "workload": workload.spec,
                        "median_ns": workload.median_ns,
                        "ci95_ns": list(workload.ci95_ns),
                        "notes": list(one.time_notes(workload)),
                    }
                    for workload in one.workloads
                ],
            }
            for one in checked
        ],
    }
