"""`kernelbot preflight`: what compilers say of a file for GPUs that needn't be here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import ACCEPTED, OURS, REFUSED
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import ColdOption, Json
from kernelbot.cli.terminal import Terminal, columns
from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.preflight.gpus import PreflightGpu
    from kernelbot.preflight.model import Preflight

_GPU = "H100, B200, A100, L4, T4, MI300X or MI355X; may be given several times."
_THREADS = "Of a block of CUDA C++ or HIP, to say how many blocks have room."


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot preflight examples/vectoradd_cu mine.cu --gpu H100",
            "kernelbot preflight examples/vectoradd_triton mine.py --all",
            "kernelbot preflight examples/vectoradd_cu mine.cu --gpu H100 --json | jq .gpus",
            "Exit codes: 0 compiled; 1 doesn't compile; 2 bad usage, problem or file; "
            "3 couldn't be compiled here. GPUs that the file is never compiled for, as AMD's "
            "for CUDA C++, count only if no other is named.",
        )
    )(preflight)


def preflight(
    problem: Annotated[Path, Argument(help="A problem's folder: it holds task.yml.")],
    file: Annotated[Path, Argument(help="The file to compile.")],
    gpu: Annotated[list[str] | None, Option(help=_GPU, show_default=False)] = None,
    every: Annotated[bool, Option("--all", help="For all GPUs that are known.")] = False,
    threads: Annotated[int, Option(min=1, max=1024, help=_THREADS)] = 256,
    cold: ColdOption = False,
    as_json: Json = False,
) -> None:
    """Compile a file for a GPU, without one: registers, spills, occupancy, errors and their lines.

    The real compilers, in the sandbox; no kernel runs. Figures in brackets are those of
    the file's previous version.
    """
    require_extra("judge")
    from kernelbot.preflight.rendering import preflight_text
    from kernelbot.protocol import to_wire
    from kernelbot.server.preflight import WantedPreflight
    from kernelbot.server.preflight import preflight as start

    terminal = Terminal(as_json)
    wanted = WantedPreflight(problem, file, _gpus(gpu or [], every=every), threads, cold)
    found = start(wanted, lambda _event: None, terminal.progress)
    for one in found:
        terminal.show(preflight_text(one, columns()))
    terminal.document({"gpus": [to_wire(one) for one in found]})
    raise Exit(_exit_code(found))


def _gpus(names: list[str], *, every: bool) -> tuple[PreflightGpu, ...]:
    from kernelbot.preflight.gpus import NAMES, find_gpu

    if not names and not every:
        raise UserError("No GPU is named.", hint=f"Use --gpu or --all. Known: {', '.join(NAMES)}.")
    return tuple(dict.fromkeys(find_gpu(name) for name in (NAMES if every else names)))


def _exit_code(found: list[Preflight]) -> int:
    from kernelbot.preflight.model import PreflightOutcome

    outcomes = {one.report.outcome for one in found} - {PreflightOutcome.NEVER}
    if PreflightOutcome.REFUSED in outcomes:
        return REFUSED
    return ACCEPTED if outcomes == {PreflightOutcome.COMPILED} else OURS
