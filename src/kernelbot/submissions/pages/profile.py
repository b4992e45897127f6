"""The profile of one workload: where its time goes, as flame graphs and as tables."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import SubmissionId
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Phase
from kernelbot.runs.files import RunFile
from kernelbot.services import Services
from kernelbot.submissions.model import Submission
from kernelbot.submissions.profiles.model import FlameGraph, FlameRectangle
from kernelbot.submissions.profiles.reader import ProfileReader
from kernelbot.web.pages import PersonPage

router = APIRouter(prefix="/submission", include_in_schema=False)

_NAME = re.compile(r"profile\.(0|[1-9]\d{0,5})\.(.+)")
_REPORT, _TRACE = "txt", "trace.json.gz"
_FOR_PERFETTO = (_TRACE, "results.pftrace")
_ROW = 20
"""The height of a row of a flame graph, in pixels."""
_CHARACTERS = 160
"""So many of them fit side by side into a flame graph on a wide screen."""
_LEAST_CHARACTERS = 3


@dataclass(frozen=True)
class WorkloadProfile:
    """The files of one workload. `spec` is empty if the result doesn't say which one it was."""

    run_id: int
    device: str
    index: int
    spec: str
    files: tuple[RunFile, ...]

    def file(self, suffix: str) -> RunFile | None:
        """The file that ends so; None: the run left none."""
        name = f"profile.{self.index}.{suffix}"
        return next((file for file in self.files if file.name == name), None)

    @property
    def for_perfetto(self) -> tuple[RunFile, ...]:
        found = (self.file(suffix) for suffix in _FOR_PERFETTO)
        return tuple(file for file in found if file is not None)


@dataclass(frozen=True)
class ShownCell:
    """A cell of a flame graph, with `x` and `width` in percent, `y` in pixels. `label` is what fits
    into it; empty: nothing does."""

    cell: FlameRectangle
    x: str
    width: str
    y: int
    label: str


@dataclass(frozen=True)
class ShownGraph:
    """A flame graph; `height` in pixels."""

    graph: FlameGraph
    height: int
    cells: tuple[ShownCell, ...]


def profiles_of(submission: Submission, files: Iterable[RunFile]) -> list[WorkloadProfile]:
    """A profile for each run and workload that has files of a profile, in their order."""
    found: dict[tuple[int, int], list[RunFile]] = {}
    for file in files:
        if name := _NAME.fullmatch(file.name):
            found.setdefault((file.run_id, int(name[1])), []).append(file)
    profiles = []
    for run_id in dict.fromkeys(run_id for run_id, _ in found):
        indices = sorted(index for run, index in found if run == run_id)
        for index, spec in zip(indices, _specs(submission, run_id, len(indices)), strict=True):
            those = found[run_id, index]
            profiles.append(WorkloadProfile(run_id, those[0].device, index, spec, tuple(those)))
    return profiles


def _specs(submission: Submission, run_id: int, count: int) -> Sequence[str]:
    run = next((run for run in submission.runs if run.id == run_id), None)
    phases = run.result.phases if run is not None and run.result is not None else ()
    for phase in phases:
        if phase.phase is Phase.PROFILE and len(phase.cases) == count:
            return [case.spec for case in phase.cases]
    return [""] * count


def shown_graph(graph: FlameGraph) -> ShownGraph:
    """A flame graph in the units of its picture, the outermost calls on top."""
    cells = (
        ShownCell(
            cell,
            x=f"{100 * cell.left:.2f}",
            width=f"{100 * cell.share:.2f}",
            y=_ROW * cell.depth,
            label=_label(cell),
        )
        for cell in graph.cells
    )
    return ShownGraph(graph, _ROW * graph.rows, tuple(cells))


def _label(cell: FlameRectangle) -> str:
    room = int(cell.share * _CHARACTERS)
    return cell.name[:room] if room >= _LEAST_CHARACTERS else ""


def profile_reader(request: Request) -> ProfileReader:
    found = request.app.state.profiles
    assert isinstance(found, ProfileReader)
    return found


ReaderDep = Annotated[ProfileReader, Depends(profile_reader)]


@router.get("/{submission_id}/profile/{run_id}/{index}")
async def show_profile(
    page: PersonPage,
    reader: ReaderDep,
    submission_id: SubmissionId,
    run_id: Annotated[int, Path(ge=1, le=BIGINT_MAX)],
    index: Annotated[int, Path(ge=0, le=999_999)],
) -> Response:
    """What profilers found out about one workload. It is read apart from the server, and the page
    says so if that takes long."""
    user = page.user
    submission = await page.services.submissions.get(user, submission_id)
    files = await page.services.artifacts.list_artifacts(user, submission_id)
    profiles = profiles_of(submission, files)
    chosen = next((one for one in profiles if (one.run_id, one.index) == (run_id, index)), None)
    if chosen is None:
        raise NotFound(
            f"Submission {submission_id} has no such profile.", next_step=Next.LIST_ARTIFACTS
        )
    key = run_id, index

    async def fetch() -> tuple[str, bytes]:
        report, trace = [
            await _content(page.services, user, submission_id, chosen.file(suffix))
            for suffix in (_REPORT, _TRACE)
        ]
        return report.decode("utf-8", "replace"), trace

    found = await reader.read(key, fetch, asker=user.id)
    return page(
        "profile.html",
        opens_windows=True,
        submission=submission,
        profiles=profiles,
        chosen=chosen,
        profile=found,
        graphs=[shown_graph(graph) for graph in found.graphs] if found else (),
        waiting=found is None and reader.is_waiting(key),
    )


async def _content(
    services: Services, user: User, submission_id: int, file: RunFile | None
) -> bytes:
    if file is None:
        return b""
    _, content = await services.artifacts.get(user, submission_id, file.run_id, file.name)
    return content
