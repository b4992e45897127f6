"""Submitting in the browser: a file, or text typed into the page."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName
from kernelbot.api.errors import status_of
from kernelbot.api.uploads import file_name
from kernelbot.boards.model import Board, BoardProblem
from kernelbot.boards.pages.board import starter_name, written_problem
from kernelbot.domain.errors import KernelbotError, NotAllowed, NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.protocol import Lang, Mode
from kernelbot.schemas.common import NAME_MAX
from kernelbot.services import Services
from kernelbot.submissions.creation.service import FormSent
from kernelbot.submissions.model import NewSubmission
from kernelbot.web.errors import Advice, advice_of
from kernelbot.web.pages import PersonPage, PostedPage, go
from kernelbot.web.session import new_secret

router = APIRouter(prefix="/board", include_in_schema=False)

Devices = Annotated[list[Annotated[str, Form(max_length=NAME_MAX)]] | None, Form()]
MODES = {
    Mode.TEST: "checks it, times nothing",
    Mode.BENCHMARK: "checks and times it, ranks nothing",
    Mode.PROFILE: "shows where the time goes",
    Mode.LEADERBOARD: "checks, times and ranks it",
}
_EARLIER = 20
"""Own submissions that are offered to begin with."""


@dataclass(frozen=True)
class Beginning:
    """What the editor begins with: the name of the file and its text. `submission_id`: whose code
    it is; None: a starter's. `chosen`: whether the author asked for it, so that it goes before
    their draft."""

    name: str
    code: str
    submission_id: int | None = None
    mode: Mode = Mode.LEADERBOARD
    devices: tuple[str, ...] = ()
    chosen: bool = False


@router.get("/{board}/submit")
async def show_form(
    request: Request,
    page: PersonPage,
    board: BoardName,
    begin: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
    starter: Annotated[str | None, Query(max_length=NAME_MAX)] = None,
) -> Response:
    """Statement, editor and result side by side. The editor has the board's starter, the one in
    the language `starter`, or the code of submission `begin`."""
    bench = await _bench(request, page.services, page.user, board)
    beginning = await _beginning(page.services, page.user, bench["problem"], begin, starter)
    return page("submit.html", **_form(bench, beginning))


async def _beginning(
    services: Services, user: User, problem: BoardProblem, begin: int | None, starter: str | None
) -> Beginning:
    """Raises `NotFound`, and `NotAllowed` for code that isn't for this person."""
    if begin is not None:
        found = await services.submissions.get(user, begin)
        if found.code is None:
            raise NotAllowed(f"The code of submission {begin} isn't for you.")
        devices = tuple(dict.fromkeys(run.device for run in found.runs))
        return Beginning(found.file_name, found.code, begin, found.mode, devices, chosen=True)
    language = next(iter(problem.templates), "") if starter is None else starter
    if starter is not None and starter not in problem.templates:
        raise NotFound(f"There is no starter file in {starter!r}.")
    text = problem.templates.get(language, "")
    return Beginning(starter_name(problem, language), text, chosen=starter is not None)


async def _bench(request: Request, services: Services, user: User, board: str) -> dict[str, Any]:
    """What is around the form: the statement, and what may be begun with."""
    found = await services.boards.get(user, board)
    written = await written_problem(request, services, user, found)
    return {
        "tab": "submit",
        "board": found,
        "problem": written.problem,
        "statement": written.statement,
        "earlier": await services.submission_lists.own(user, board=board, limit=_EARLIER),
        "tries": services.boards.tried_on(found),
        "modes": MODES,
        "suffixes": Lang.all_suffixes(),
        "error": "",
        "advice": Advice(""),
    }


def _form(bench: dict[str, Any], beginning: Beginning) -> dict[str, Any]:
    """The form before anything is typed. A device that the board no longer offers isn't chosen."""
    board: Board = bench["board"]
    offered = [one for one in (*board.devices, *bench["tries"]) if one in beginning.devices]
    return bench | {
        "beginning": beginning,
        "name": beginning.name,
        "code": beginning.code,
        "mode": beginning.mode,
        "chosen": offered or list(board.devices[:1]),
        "form": new_secret(),
    }


@router.post("/{board}/submit")
async def submit(
    request: Request,
    page: PostedPage,
    board: BoardName,
    mode: Annotated[Mode, Form()] = Mode.LEADERBOARD,
    device: Devices = None,
    name: Annotated[str, Form(max_length=1000)] = "",
    code: Annotated[str, Form()] = "",
    form: Annotated[str, Form(max_length=100)] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Submit, once however often the form is sent. A refusal shows the form again as it was
    sent; as another form, if this one has its submission."""
    found = await page.services.boards.get(page.user, board)
    uploaded = file is not None and file.filename
    if file is not None and uploaded:
        name, content = file_name(file), await file.read()
    else:
        content = code.replace("\r\n", "\n").encode("utf-8", "surrogatepass")  # as browsers send it
    new = NewSubmission(found.name, tuple(device or ()), mode, name.strip(), content)
    try:
        number = await page.services.forms.submit(page.user, new, form)
    except KernelbotError as error:
        bench = await _bench(request, page.services, page.user, board)
        text = content.decode("utf-8", "replace")
        sent = _form(bench, Beginning(name, text, mode=mode, chosen=True)) | {
            "chosen": device or [],
            "form": new_secret() if isinstance(error, FormSent) else form,
            "error": str(error),
            "advice": advice_of(error),
        }
        return page("submit.html", status=status_of(error), **sent)
    return go(f"/submission/{number}")
