"""The routes of GitHub's REST API that we use, each with what its statuses mean."""

from collections.abc import Mapping

from kernelbot.domain.errors import DeviceRefused, PlatformError
from kernelbot.launchers.github.answers import (
    Dispatched,
    GithubArtifact,
    GithubArtifactList,
    GithubJob,
    GithubJobList,
    GithubRun,
    GithubRunner,
    Runners,
    RunPage,
    Workflow,
)
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.rest.api import RestApi
from kernelbot.launchers.rest.client import read
from kernelbot.launchers.rest.tokens import Dialect, LimitHeaders

PAGE = 100
MOST_RUNNERS = 500
"""That are looked at: each hundred is a request within the check of a device."""
_HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "kernelbot",
}
_GITHUB = "GitHub"
_DISABLED = b"disabled workflow"
_DIALECT = Dialect(
    _GITHUB,
    "GITHUB_TOKEN",
    limits=(LimitHeaders("x-ratelimit-remaining", "x-ratelimit-limit", "x-ratelimit-reset"),),
    reset_is_a_date=True,
    longest_s=3700.0,
    reserve=100,
)


class GithubApi(RestApi):
    """The requests to one repository. Everything raises `SchedulerError` if GitHub fails or limits
    us, and `PlatformError` if it won't let us do what we ask."""

    def __init__(self, settings: GithubSettings) -> None:
        self._repo = settings.repo
        self._root = f"/repos/{settings.repo}/actions"
        self._branch = settings.branch
        super().__init__(_DIALECT, settings.api_url, _HEADERS, settings.tokens, settings.timeout_s)
        self._tells_numbers = True
        """Whether this GitHub knows `return_run_details`."""

    async def dispatch(self, workflow: str, inputs: Mapping[str, str]) -> int | None:
        """Start a run; its number, or None if GitHub doesn't tell it. Raises `DeviceRefused`."""
        path = f"{self._root}/workflows/{workflow}/dispatches"
        body: dict[str, object] = {"ref": self._branch, "inputs": dict(inputs)}
        asked = {"return_run_details": True} if self._tells_numbers else {}
        answer = await self.send("POST", path, body={**body, **asked})
        if answer.status == 422 and _DISABLED in answer.content.lower():
            raise DeviceRefused(
                f"{workflow} is disabled in {self._repo}: enable it on GitHub's Actions page."
            )
        if asked and answer.status in (400, 422):  # as servers do that don't know the field
            answer = await self.send("POST", path, body=body)
            self._tells_numbers = answer.status != 204
        if answer.status == 204:
            return None
        if answer.status == 404:
            raise DeviceRefused(self._no_workflow(workflow))
        self.must_create(answer, 200, f"starting {workflow}")
        return read(Dispatched, answer, _GITHUB, "the number of a run").workflow_run_id

    async def runs(self, page: int) -> list[GithubRun]:
        """The newest runs by our dispatches, `PAGE` at a time; `page` counts from 1."""
        query = {"event": "workflow_dispatch", "per_page": str(PAGE), "page": str(page)}
        return (await self._list(query)).workflow_runs

    async def run(self, number: str) -> GithubRun | None:
        """One run; None: there is none of this number."""
        return await self.find(GithubRun, f"{self._root}/runs/{number}", "a run")

    async def jobs(self, number: str) -> list[GithubJob]:
        """The jobs of a run; none if there is no such run."""
        found = await self.find(GithubJobList, f"{self._root}/runs/{number}/jobs", "jobs")
        return [] if found is None else found.jobs

    async def artifacts(self, number: str) -> list[GithubArtifact]:
        """The artifacts of a run; none if there is no such run."""
        found = await self.find(
            GithubArtifactList, f"{self._root}/runs/{number}/artifacts", "artifacts"
        )
        return [] if found is None else found.artifacts

    async def download(self, artifact: GithubArtifact, max_bytes: int) -> bytes | None:
        """An artifact's zip; None if it has expired. Raises `TooLarge`."""
        path = f"{self._root}/artifacts/{artifact.id}/zip"
        answer = await self.fetch(path, max_bytes)
        if answer.status in (404, 410):
            return None
        self.must(answer, 200, "downloading an artifact")
        return answer.content

    async def cancel(self, number: str) -> None:
        """Stop a run; nothing happens if it has ended, or was never there."""
        answer = await self.send("POST", f"{self._root}/runs/{number}/cancel")
        if answer.status not in (404, 409):
            self.must(answer, 202, "cancelling a run")

    async def delete(self, number: str) -> bool:
        """Remove a run with all that is kept of it. False: not yet, as it hasn't ended."""
        answer = await self.send("DELETE", f"{self._root}/runs/{number}")
        if answer.status in (403, 409, 422):
            return False
        if answer.status != 404:
            self.must(answer, 204, "deleting a run")
        return True

    async def why_not(self, workflow: str) -> str:
        """Why a workflow can't be started; empty if it can."""
        path = f"{self._root}/workflows/{workflow}"
        found = await self.find(Workflow, path, "a workflow", again=True)
        if found is None:
            return self._no_workflow(workflow)
        return "" if found.state == "active" else f"GitHub says that {workflow} is {found.state}"

    async def runners(self) -> list[GithubRunner] | None:
        """The repository's runners, `MOST_RUNNERS` at most; None if our token may not see them."""
        found: list[GithubRunner] = []
        for page in range(1, MOST_RUNNERS // PAGE + 1):
            query = {"per_page": str(PAGE), "page": str(page)}
            answer = await self.send("GET", f"{self._root}/runners", params=query)
            if answer.status in (403, 404):
                return None
            self.must(answer, 200, "listing runners")
            shown = read(Runners, answer, _GITHUB, "runners").runners
            found += shown
            if len(shown) < PAGE:
                break
        return found

    async def waiting(self) -> int:
        """How many runs wait for a runner."""
        query = {"status": "queued", "per_page": "1"}
        return (await self._list(query)).total_count

    async def _list(self, query: Mapping[str, str]) -> RunPage:
        path = f"{self._root}/runs"
        found = await self.find(RunPage, path, "runs", query, again=True)
        if found is None:
            raise PlatformError(
                f"GitHub shows our token no {self._repo}: is it the right repository?"
            )
        return found

    def _no_workflow(self, workflow: str) -> str:
        return f"{self._repo} has no workflow {workflow} that GitHub shows our token"
