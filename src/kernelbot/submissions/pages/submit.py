"""Submitting in the browser: a file, or text typed into the page."""

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Response, UploadFile

from kernelbot.api.dependencies import BoardName, ServicesDep
from kernelbot.api.errors import status_of
from kernelbot.api.uploads import file_name
from kernelbot.boards.model import BoardProblem
from kernelbot.boards.pages.board import starter_name
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Lang, Mode
from kernelbot.schemas.common import NAME_MAX
from kernelbot.submissions.model import NewSubmission
from kernelbot.web.errors import Advice, advice_of
from kernelbot.web.pages import PageDep, go
from kernelbot.web.session import NeededSession, PostedSession, new_secret

router = APIRouter(prefix="/board", include_in_schema=False)

Devices = Annotated[list[Annotated[str, Form(max_length=NAME_MAX)]] | None, Form()]
MODES = {
    Mode.TEST: "checks it, times nothing",
    Mode.BENCHMARK: "checks and times it, ranks nothing",
    Mode.PROFILE: "shows where the time goes",
    Mode.LEADERBOARD: "checks, times and ranks it",
}


@router.get("/{board}/submit")
async def show_form(
    services: ServicesDep, session: NeededSession, page: PageDep, board: BoardName
) -> Response:
    """The form, with the board's starter in the editor."""
    problem = await services.boards.problem(session.user, board)
    tries = services.boards.tried_on(problem.leaderboard)
    return page("submit.html", **_blank(problem), tries=tries)


@router.post("/{board}/submit")
async def submit(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    board: BoardName,
    mode: Annotated[Mode, Form()] = Mode.LEADERBOARD,
    device: Devices = None,
    name: Annotated[str, Form(max_length=1000)] = "",
    code: Annotated[str, Form()] = "",
    form: Annotated[str, Form(max_length=100)] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Submit, once however often the form is sent. A refusal shows the form again as it was
    sent."""
    problem = await services.boards.problem(session.user, board)
    uploaded = file is not None and file.filename
    if file is not None and uploaded:
        name, content = file_name(file), await file.read()
    else:
        content = code.replace("\r\n", "\n").encode("utf-8", "surrogatepass")  # as browsers send it
    new = NewSubmission(problem.board, tuple(device or ()), mode, name.strip(), content)
    try:
        number = await services.forms.submit(session.user, new, form)
    except KernelbotError as error:
        sent = _blank(problem) | {
            "name": name,
            "code": content.decode("utf-8", "replace"),
            "mode": mode,
            "chosen": device or [],
            "form": form,
            "tries": services.boards.tried_on(problem.leaderboard),
            "error": str(error),
            "advice": advice_of(error),
        }
        return page("submit.html", status=status_of(error), **sent)
    return go(f"/submission/{number}")


def _blank(problem: BoardProblem) -> dict[str, Any]:
    """What the form's template needs, before anything is typed."""
    language = next(iter(problem.templates), "")
    return {
        "tab": "submit",
        "board": problem.leaderboard,
        "modes": MODES,
        "name": starter_name(problem, language),
        "code": problem.templates.get(language, ""),
        "mode": Mode.LEADERBOARD,
        "chosen": list(problem.leaderboard.devices[:1]),
        "suffixes": Lang.all_suffixes(),
        "form": new_secret(),
        "error": "",
        "advice": Advice(""),
    }
