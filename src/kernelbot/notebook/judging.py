"""Has a cell judged: by the library here, or by a server."""

from pathlib import Path
from typing import TYPE_CHECKING

from kernelbot.catalog.problem import load_problem
from kernelbot.cli.extras import require_extra
from kernelbot.cli.follow import follow_with, how_to_follow
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.client import Unreachable
from kernelbot.client.endpoint import url_for_others
from kernelbot.notebook.options import CellOptions
from kernelbot.notebook.progress import CellProgress
from kernelbot.notebook.report import CellReport, of_report, of_submission
from kernelbot.submissions.source import source_text

if TYPE_CHECKING:
    from kernelbot.library import Report
    from kernelbot.submissions.model import SubmissionView


def judge_here(
    problem: Path, wanted: CellOptions, source: str, progress: CellProgress
) -> "tuple[CellReport, Report]":
    """Judge by the library. Raises as `kernelbot.judge`."""
    require_extra("judge")
    from kernelbot.library import judge

    loaded = load_problem(problem)
    spec = loaded.definition.spec
    progress.now(f"judging for {spec.name}, mode {wanted.mode} ...")
    device = next(iter(wanted.devices), None)
    report = judge(loaded, source, mode=wanted.mode, device=device, baseline=wanted.baseline)
    return of_report(report, source, spec.submission_name), report


def send(
    wanted: CellOptions, source: str, progress: CellProgress
) -> "tuple[CellReport, SubmissionView]":
    """Send it to the board and follow it. An interrupt ends the waiting, not the judging. Raises
    the client's errors, and `InvalidSubmission` for what isn't worth sending."""
    content = source.encode("utf-8", "surrogatepass")
    source_text(content)
    with connect(wanted.url, Terminal(as_json=True), board=wanted.board) as client:
        name = client.problem(wanted.board).submission_name
        found = client.submit(
            name, content, board=wanted.board, devices=wanted.devices, mode=wanted.mode
        )
        progress.now(f"submission {found.id} is {found.state}")
        try:
            found = follow_with(client, found, progress)
        except KeyboardInterrupt:
            progress.say(f"Submission {found.id} is judged anyway. {how_to_follow(found.id)}")
        except Unreachable as error:
            error.hint = f"Submission {found.id} is kept there. {how_to_follow(found.id)}"
            raise
        return of_submission(
            found, source, f"{url_for_others(client.url)}/submission/{found.id}"
        ), found
