"""Judging without a server: `run`; and what a machine can do: `doctor`, `vendor check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.artifacts import make_folder, save_all
from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.errors import ACCEPTED, OURS, REFUSED, exit_code_of
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import ColdOption, DeviceOption, Json, ModeOption, SandboxOption
from kernelbot.cli.terminal import Terminal, columns
from kernelbot.protocol import Mode, ProgressEvent, SandboxMode, Vendor

if TYPE_CHECKING:
    from kernelbot.server.doctor import DoctorPart


def register(app: Commands) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "kernelbot run examples/sort_np examples/sort_np/submission.py",
            "kernelbot run examples/sort_np mine.py --mode leaderboard",
            "kernelbot run examples/sort_np mine.py --mode profile --artifacts profile",
            "kernelbot run examples/sort_np mine.py --json | jq .verdict",
            "kernelbot run examples/vectoradd_cu mine.cu --check",
            "Exit codes: 0 accepted; 1 refused; 2 bad usage, problem or file; 3 our fault.",
        )
    )(run)
    app.command(
        epilog=examples("kernelbot doctor", "kernelbot doctor --json", "kernelbot doctor --discord")
    )(doctor)
    vendor = Commands("Lend a machine to a platform.")
    vendor.command(
        "check",
        epilog=examples(
            "sudo kernelbot vendor check",
            "sudo CUDA_VISIBLE_DEVICES=3 kernelbot vendor check --gpu nvidia",
            "sudo kernelbot vendor check --count 8 --report node7",
            "kernelbot vendor check --json | jq .ok",
            "Exit codes: 0 fit; 1 something that is needed is missing; 2 bad usage; 3 our fault.",
        ),
    )(vendor_check)
    app.add(vendor, "vendor")


def run(
    problem: Annotated[Path, Argument(help="A problem's folder: it holds task.yml.")],
    submission: Annotated[Path, Argument(help="The file to judge.")],
    mode: ModeOption = Mode.TEST,
    device: DeviceOption = None,
    sandbox: SandboxOption = SandboxMode.REQUIRED,
    artifacts: Annotated[
        Path | None,
        Option(
            help="Write the run's files, such as a profile's, into this folder.", show_default=False
        ),
    ] = None,
    check: Annotated[
        bool,
        Option(
            "--check",
            help="Look at each access of memory of CUDA or HIP kernels that the processor runs.",
        ),
    ] = False,
    cold: ColdOption = False,
    as_json: Json = False,
) -> None:
    """Judge a file against a problem's folder, without a server.

    The same harness as on a server. Progress goes to stderr, the report to stdout.

    A judge stays for the next files, and ends after ten minutes without one.
    """
    require_extra("judge")
    from kernelbot.cli.moving import Moving
    from kernelbot.render.progress import RunActivity, progress_line
    from kernelbot.render.report import report
    from kernelbot.server import run as local

    terminal = Terminal(as_json)
    activity = RunActivity()
    if artifacts is not None:  # before anything is judged for nothing
        make_folder(artifacts)
    wanted = local.LocalRun(
        problem=problem,
        submission=submission,
        mode=mode,
        device=device,
        sandbox=sandbox,
        cold=cold,
        checked=check,
    )
    with Moving(terminal) as moving:

        def on_event(event: ProgressEvent) -> None:
            moving.now(activity.after(event))
            moving.log(progress_line(event))

        def on_step(text: str) -> None:
            moving.now(text)
            moving.log(text)

        result = local.run(wanted, on_event, on_step)
    terminal.show(report(result, columns=columns()))
    if artifacts is not None:
        for path in save_all(result.artifacts, artifacts):
            terminal.show(f"Written: {path}")
    if as_json:
        from kernelbot.runs.report import ResultView

        terminal.document(ResultView.from_result(result))
    fault = result.failure.fault if result.failure else None
    raise Exit(exit_code_of(result.verdict, fault))


def doctor(
    discord: Annotated[
        bool,
        Option("--discord", help="Check the Discord bot instead: token, permissions, channels."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check each part that judging uses: is it there, does it work, and what to do if not.

    This judges a small program for real. Exit code 3: nothing can be judged here (with --discord:
    the bot can't work).
    """
    require_extra("discord" if discord else "judge")
    from kernelbot.render.table import table
    from kernelbot.server.doctor import examine, to_document

    terminal = Terminal(as_json)
    terminal.progress("Asking Discord ..." if discord else "Checking this machine ...")
    parts = _examine_discord() if discord else examine()
    rows = [(part.sign, part.name, part.version or "", part.note) for part in parts]
    terminal.show(table(("", "part", "version", "what is there, what to do"), rows))
    document = to_document(parts)
    terminal.document(document)
    raise Exit(ACCEPTED if document["ok"] else OURS)


def _examine_discord() -> list[DoctorPart]:
    from kernelbot.server.doctor_discord import examine_discord

    return examine_discord()


def vendor_check(
    gpu: Annotated[
        Vendor | None,
        Option(help="Whose must be here; cpu: none. Default: whichever is.", show_default=False),
    ] = None,
    count: Annotated[int, Option(min=1, max=64, help="How many GPUs one job gets.")] = 1,
    leave_clocks: Annotated[
        bool,
        Option("--leave-clocks", help="Don't try to lock the GPU's clocks and release them."),
    ] = False,
    report: Annotated[
        Path | None,
        Option(
            help="Write REPORT.json and REPORT.txt, to send to the organisers.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Examine a node before its first job, there, as whoever will run jobs.

    Driver, container runtime, limits, the GPUs that a job is given, clocks; then
    the sandbox with the GPU in it, and a small example, judged. Clocks are locked
    and released once: --leave-clocks if they are locked already. Nothing else
    is changed. Without a GPU it says so, and examines the rest.
    """
    require_extra("judge")
    from kernelbot.render.table import table
    from kernelbot.server.vendor_check import examine, write_report

    terminal = Terminal(as_json)
    terminal.progress("Examining this node ...")
    found = examine(gpu, count, leave_clocks=leave_clocks)
    rows = [(finding.sign, finding.name, finding.note) for finding in found.findings]
    text = table(("", "part", "what is there, what to do"), rows)
    terminal.show(text)
    terminal.show(found.conclusion)
    if report is not None:
        for path in write_report(found, report, text):
            terminal.show(f"Written: {path}")
    terminal.document(found.document)
    raise Exit(ACCEPTED if found.ok else REFUSED)
