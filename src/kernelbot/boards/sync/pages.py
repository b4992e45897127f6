"""A sync of boards from git or from an archive: the plan first, and then that plan."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Response, UploadFile

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.uploads import file_name
from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import ArchiveOutcome, SyncAction, SyncOptions, SyncOutcome
from kernelbot.web.organisers import HOME, AdminBrowsersFirst, AdminPage, Typed, filled
from kernelbot.web.pages import Page, PageDep, PostedPage
from kernelbot.web.session import PostedSession

router = APIRouter(prefix=f"{HOME}/sync", include_in_schema=False)
uploads = APIRouter(
    prefix=f"{HOME}/sync/archive", include_in_schema=False, route_class=AdminBrowsersFirst
)
"""Those whose bodies are large."""

_Source = Annotated[str, Form(max_length=2000)]
_Flag = Annotated[bool, Form()]
_Visibility = Annotated[Visibility, Form()]
_Digest = Annotated[str, Form(pattern=r"^[0-9a-f]{64}$")]


@router.get("")
async def show_form(page: AdminPage) -> Response:
    return page("organise/sync.html", tab="sync", default=page.services.sync.default)


@router.post("/plan")
async def plan(
    page: PostedPage,
    repository: _Source = "",
    ref: _Source = "",
    problem_set: Typed = "",
    force: _Flag = False,
    visibility: _Visibility = Visibility.PUBLIC,
) -> Response:
    options = SyncOptions(force, True, filled(problem_set), visibility)
    outcome = await page.services.sync.from_repository(
        page.user, filled(repository), filled(ref), options
    )
    return _shown(page, outcome, repository.strip(), options)


@router.post("/apply")
async def apply(
    page: PostedPage,
    commit: Annotated[str, Form(max_length=100)],
    digest: _Digest,
    repository: _Source = "",
    problem_set: Typed = "",
    force: _Flag = False,
    visibility: _Visibility = Visibility.PUBLIC,
) -> Response:
    """Do what the plan said, of the commit that it was made of."""
    options = SyncOptions(force, False, filled(problem_set), visibility, plan=digest)
    outcome = await page.services.sync.from_repository(
        page.user, filled(repository), filled(commit), options
    )
    return _shown(page, outcome, repository.strip(), options)


@uploads.post("/plan")
async def plan_of_archive(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    file: Annotated[UploadFile, File()],
    problem_set: Typed = "",
    force: _Flag = False,
    visibility: _Visibility = Visibility.PUBLIC,
) -> Response:
    options = SyncOptions(force, True, filled(problem_set), visibility)
    outcome = await services.sync.from_archive(session.user, file.file, file_name(file), options)
    return _shown(page, outcome, "", options)


@uploads.post("/apply")
async def apply_archive(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    file: Annotated[UploadFile, File()],
    digest: _Digest,
    archive: _Digest,
    problem_set: Typed = "",
    force: _Flag = False,
    visibility: _Visibility = Visibility.PUBLIC,
) -> Response:
    """Do what the plan said, of the archive that it was made of: it isn't kept here meanwhile."""
    options = SyncOptions(
        force, False, filled(problem_set), visibility, plan=digest, archive=archive
    )
    outcome = await services.sync.from_archive(session.user, file.file, file_name(file), options)
    return _shown(page, outcome, "", options)


def _shown(page: Page, outcome: SyncOutcome, repository: str, options: SyncOptions) -> Response:
    changes = outcome.with_action(SyncAction.CREATE) + outcome.with_action(SyncAction.UPDATE)
    return page(
        "organise/plan.html",
        tab="sync",
        outcome=outcome,
        archive=outcome.archive if isinstance(outcome, ArchiveOutcome) else "",
        changes=len(changes),
        repository=repository,
        options=options,
    )
