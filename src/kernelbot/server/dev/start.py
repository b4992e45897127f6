"""Wires a session of `kernelbot dev`."""

from contextlib import closing
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, default_folder
from kernelbot.server.dev.session import Display, Session
from kernelbot.server.dev.versions import Versions
from kernelbot.server.warm_judge import warm_judge
from kernelbot.submissions.source import check_language


def watch(problem: Path, file: Path, device: str | None, display: Display) -> None:
    """Until Ctrl-C. Raises `InvalidProblem`, `InvalidSubmission` and `UserError` before anything is
    judged; a problem that is broken later is told to the display."""
    check_language(file.name, load_problem(problem).definition.spec.lang)
    if not file.absolute().parent.is_dir():
        raise UserError(f"There is no folder {file.absolute().parent}.")
    try:
        folder = PrivateFolder.open(default_folder())
    except NotOurs as error:
        raise UserError(f"No judge can be kept warm: {error}") from None
    except OSError as error:
        raise UserError(f"{default_folder()} can't be made: {error.strerror}.") from None
    with closing(folder), closing(Versions(file)) as versions:
        Session(problem, file, device, warm_judge(folder), versions, display).watch()
