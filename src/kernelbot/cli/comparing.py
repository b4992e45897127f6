"""Two files judged against each other without a server: `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import exit_code_of
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import ColdOption, DeviceOption, Json, SandboxOption
from kernelbot.cli.terminal import Terminal, columns
from kernelbot.protocol import ProgressEvent, SandboxMode

if TYPE_CHECKING:
    from kernelbot.duels.comparison import ComparisonReport
    from kernelbot.server.compare import ComparisonResult, LocalDuel


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot compare mine.py best.py --problem examples/sort_np",
            "cd examples/sort_np && kernelbot compare mine.py submission.py",
            "kernelbot compare mine.py best.py --json | jq .ratio_ci95",
            "Exit codes: 0 they were compared; 1 a file was refused; 2 bad usage, problem or file; "
            "3 our fault.",
        )
    )(compare)


def compare(
    first: Annotated[Path, Argument(metavar="A", help="A file.")],
    second: Annotated[Path, Argument(metavar="B", help="The file to compare it with.")],
    problem: Annotated[
        Path | None,
        Option(
            help="The problem's folder. Default: the nearest with a task.yml, beside A or above "
            "it, else this one.",
            show_default=False,
        ),
    ] = None,
    device: DeviceOption = None,
    sandbox: SandboxOption = SandboxMode.REQUIRED,
    cold: ColdOption = False,
    as_json: Json = False,
) -> None:
    """Judge two files against each other, without a server: which one is faster?

    Each is tested first. Then both are called in turn on the same data,
    in random order, until the ratio of their times is known within 0.5 %,
    or time is up. That tells more than two scores: what slows the machine
    down slows both of a pair. An interval below 1 says that A is faster,
    one above 1 that B is; if it contains 1, it can't be told.
    """
    require_extra("judge")
    from kernelbot.server.compare import LocalDuel

    terminal = Terminal(as_json)
    wanted = LocalDuel(first, second, problem, device, sandbox, cold)
    compared = _judge(terminal, wanted)
    result = compared.result
    terminal.answer(_text(compared, str(first), str(second)), _document(compared, wanted))
    fault = result.failure.fault if result.failure else None
    raise Exit(exit_code_of(result.verdict, fault))


def _judge(terminal: Terminal, wanted: LocalDuel) -> ComparisonResult:
    from kernelbot.cli.moving import Moving
    from kernelbot.render.progress import RunActivity, progress_line
    from kernelbot.render.text import one_line
    from kernelbot.server.compare import compare as judge

    activity = RunActivity()
    with Moving(terminal) as moving:

        def on_event(what: str, event: ProgressEvent) -> None:
            now, line = activity.after(event), progress_line(event)
            moving.now(None if now is None else f"{one_line(what)}: {now}")
            moving.log(None if line is None else f"{one_line(what)}: {line}")

        return judge(wanted, on_event, moving.log)


def _text(compared: ComparisonResult, first: str, second: str) -> str:
    from kernelbot.render.duel import duel_text
    from kernelbot.render.report import details
    from kernelbot.render.text import one_line
    from kernelbot.render.verdicts import mark

    result = compared.result
    if result.duel is not None:
        return duel_text(result.duel, first, second, columns())
    who = "" if compared.failed is None else f": {one_line(str(compared.failed))}"
    ending = f"{mark(result.verdict)} {result.verdict.words}{who}"
    return f"{details(result, passed_cases=False, columns=columns())}\n\n{ending}"


def _document(compared: ComparisonResult, wanted: LocalDuel) -> ComparisonReport:
    from kernelbot.duels.comparison import ComparedWorkload, ComparisonReport, Which
    from kernelbot.render.duel import faster

    result, duel = compared.result, compared.result.duel
    which = {wanted.second: Which.SECOND, wanted.first: Which.FIRST}
    return ComparisonReport(
        first=str(wanted.first),
        second=str(wanted.second),
        problem=result.problem,
        device=result.system.device,
        verdict=result.verdict,
        faster=faster(duel.ratio_ci95, Which.FIRST, Which.SECOND) if duel else None,
        ratio=duel.ratio if duel else None,
        ratio_ci95=duel.ratio_ci95 if duel else None,
        workloads=[ComparedWorkload.from_duel(one) for one in duel.workloads] if duel else [],
        failed=which[compared.failed] if compared.failed else None,
        error=result.failure,
    )
