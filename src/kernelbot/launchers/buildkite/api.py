"""The routes of Buildkite's REST API that we use, each with what its statuses mean."""

from collections.abc import Mapping

from kernelbot.domain.errors import DeviceRefused, PlatformError
from kernelbot.launchers.buildkite.answers import (
    Agent,
    BuildkiteArtifact,
    BuildkiteBuild,
    BuildkiteJob,
    BuildWithJobs,
    Pipeline,
)
from kernelbot.launchers.buildkite.settings import BuildkiteSettings
from kernelbot.launchers.rest.api import RestApi
from kernelbot.launchers.rest.client import read
from kernelbot.launchers.rest.tokens import Dialect, LimitHeaders

PAGE = 100
_MOST_PAGES = 20
_BUILDKITE = "Buildkite"
_HEADERS = {"Accept": "application/json", "User-Agent": "kernelbot"}
_WITHOUT_JOBS = {"exclude_jobs": "true", "exclude_pipeline": "true"}
_DIALECT = Dialect(
    _BUILDKITE,
    "BUILDKITE_API_TOKEN",
    limits=(  # of the organization, and of the user whose token it is
        LimitHeaders("ratelimit-remaining", "ratelimit-limit", "ratelimit-reset"),
        LimitHeaders("ratelimit-user-remaining", "ratelimit-user-limit", "ratelimit-user-reset"),
    ),
    reset_is_a_date=False,
    longest_s=120.0,
    reserve=0,
    share=1 / 3,
    spreads=True,
)


class BuildkiteApi(RestApi):
    """The API of one pipeline. Everything raises `SchedulerError` if Buildkite fails or limits us,
    and `PlatformError` if it won't let us do what we ask; `create` raises `DeviceRefused` then."""

    def __init__(self, settings: BuildkiteSettings) -> None:
        self._organization = f"/v2/organizations/{settings.organization}"
        self._root = f"{self._organization}/pipelines/{settings.pipeline}"
        self._pipeline = f"{settings.organization}/{settings.pipeline}"
        self._branch = settings.branch
        super().__init__(
            _DIALECT, settings.api_url, _HEADERS, (settings.token,), settings.timeout_s
        )

    async def create(self, name: str, environment: Mapping[str, str]) -> BuildkiteBuild:
        """Start a build; as it is now."""
        body = {
            "commit": "HEAD",
            "branch": self._branch,
            "message": name,
            "env": dict(environment),
            "meta_data": {"kernelbot": name},
        }
        answer = await self.send("POST", f"{self._root}/builds", body=body)
        if answer.status == 404:
            raise DeviceRefused(self._no_pipeline())
        self.must_create(answer, 201, "starting a build")
        return read(BuildkiteBuild, answer, _BUILDKITE, "a new build")

    async def builds(self, page: int) -> list[BuildkiteBuild]:
        """The newest builds, `PAGE` at a time; `page` counts from 1."""
        query = {"per_page": str(PAGE), "page": str(page), **_WITHOUT_JOBS}
        path = f"{self._root}/builds"
        found = await self.find(list[BuildkiteBuild], path, "builds", query, again=True)
        if found is None:
            raise PlatformError(self._no_pipeline())
        return found

    async def build(self, number: str) -> BuildkiteBuild | None:
        """One build; None: there is none of this number."""
        return await self.find(BuildkiteBuild, f"{self._root}/builds/{number}", "a build")

    async def jobs(self, number: str) -> tuple[BuildkiteJob, ...]:
        """The jobs of a build; none if there is no such build."""
        path = f"{self._root}/builds/{number}"
        found = await self.find(BuildWithJobs, path, "a build with its jobs")
        return () if found is None else found.jobs

    async def artifacts(self, number: str) -> list[BuildkiteArtifact]:
        """The artifacts of a build; none if there is no such build."""
        path = f"{self._root}/builds/{number}/artifacts"
        return await self.pages(BuildkiteArtifact, path, "artifacts", PAGE, _MOST_PAGES) or []

    async def download(
        self, number: str, artifact: BuildkiteArtifact, max_bytes: int
    ) -> bytes | None:
        """An artifact's content; None if it is gone. Raises `TooLarge`."""
        path = f"{self._path(number, artifact)}/download"
        answer = await self.fetch(path, max_bytes)
        if answer.status in (404, 410):
            return None
        self.must(answer, 200, "downloading an artifact")
        return answer.content

    async def delete(self, number: str, artifact: BuildkiteArtifact) -> None:
        """Remove an artifact; nothing happens if it is gone."""
        answer = await self.send("DELETE", self._path(number, artifact))
        if answer.status not in (404, 410):
            self.must(answer, 204, "deleting an artifact")

    async def cancel(self, number: str) -> None:
        """Stop a build; nothing happens if it has ended, or was never there."""
        answer = await self.send("PUT", f"{self._root}/builds/{number}/cancel")
        if answer.status not in (400, 404, 409, 422):
            self.must(answer, 200, "cancelling a build")

    async def agents(self) -> list[Agent] | None:
        """The organization's agents that are connected; None if our token may not see them."""
        path = f"{self._organization}/agents"
        return await self.pages(Agent, path, "agents", PAGE, _MOST_PAGES, may_be_hidden=True)

    async def why_not(self) -> str:
        """Why there can't be builds; empty if there can."""
        found = await self.find(Pipeline, self._root, "a pipeline", again=True)
        return self._no_pipeline() if found is None else ""

    def _path(self, number: str, artifact: BuildkiteArtifact) -> str:
        return f"{self._root}/builds/{number}/jobs/{artifact.job_id}/artifacts/{artifact.id}"

    def _no_pipeline(self) -> str:
        return f"there is no pipeline {self._pipeline} that Buildkite shows our token"
