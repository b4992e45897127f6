"""Wires a session of `kernelbot dev`."""

from contextlib import ExitStack, closing
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, default_folder
from kernelbot.preflight.gpus import PreflightGpu
from kernelbot.saves.model import Save
from kernelbot.server.dev.session import DevSession, Display
from kernelbot.server.dev.versions import Versions
from kernelbot.server.preflight import Preflights
from kernelbot.server.warm_judge import warm_judge
from kernelbot.submissions.source import check_language


def watch(
    problem: Path,
    file: Path,
    device: str | None,
    display: Display,
    gpus: tuple[PreflightGpu, ...] = (),
    *,
    once: bool = False,
) -> Save | None:
    """Until Ctrl-C, or `once`; the file is compiled for `gpus` as well. Returns the latest save.
    Raises `InvalidProblem`, `InvalidSubmission` and `UserError` before anything is judged; a
    problem that is broken later is told to the display."""
    check_language(file.name, load_problem(problem).definition.spec.lang)
    if not file.absolute().parent.is_dir():
        raise UserError(f"There is no folder {file.absolute().parent}.")
    try:
        folder = PrivateFolder.open(default_folder())
    except NotOurs as error:
        raise UserError(f"No judge can be kept warm: {error}") from None
    with closing(folder), closing(Versions(file)) as versions, ExitStack() as afterwards:
        preflights = Preflights(file, gpus) if gpus else None
        if preflights is not None:
            afterwards.enter_context(closing(preflights))
        judge = warm_judge(folder)
        session = DevSession(problem, file, device, judge, versions, display, preflights, once=once)
        return session.watch()
