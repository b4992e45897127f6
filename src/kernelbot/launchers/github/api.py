"""The routes of GitHub's REST API that we use, each with what its statuses mean."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.github.answers import (
    Artifact,
    Artifacts,
    Dispatched,
    Job,
    Jobs,
    Refusal,
    Run,
    Runner,
    Runners,
    RunPage,
    Workflow,
)
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.github.tokens import Token, Tokens
from kernelbot.launchers.http import Answer, Etags, Http, read
from kernelbot.launchers.results import MAX_RESULT_BYTES

T = TypeVar("T")
PAGE = 100
_HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "kernelbot",
}
_GITHUB = "GitHub"


class GithubApi:
    """Of one repository. Everything raises `SchedulerError` if GitHub fails or limits us, and
    `PlatformError` if it won't let us do what we ask."""

    def __init__(self, settings: GithubSettings) -> None:
        self._repo = settings.repo
        self._root = f"/repos/{settings.repo}/actions"
        self._branch = settings.branch
        self._http = Http(_GITHUB, settings.api_url, settings.timeout_s)
        self._etags = Etags()
        self.tokens = Tokens(settings.tokens)
        self._tells_numbers = True
        """Whether this GitHub knows `return_run_details`."""

    async def close(self) -> None:
        """End all connections."""
        await self._http.close()

    async def dispatch(self, workflow: str, inputs: Mapping[str, str]) -> int | None:
        """Start a run; its number, or None if GitHub doesn't tell it."""
        path = f"/workflows/{workflow}/dispatches"
        body: dict[str, object] = {"ref": self._branch, "inputs": dict(inputs)}
        asked = {"return_run_details": True} if self._tells_numbers else {}
        answer = await self._send("POST", path, body={**body, **asked})
        if asked and answer.status in (400, 422):  # as servers do that don't know the field
            answer = await self._send("POST", path, body=body)
            self._tells_numbers = answer.status != 204
        if answer.status == 204:
            return None
        if answer.status == 404:
            raise PlatformError(self._no_workflow(workflow))
        self._must(answer, 200, f"starting {workflow}")
        return read(Dispatched, answer, _GITHUB, "the number of a run").workflow_run_id

    async def runs(self, page: int) -> list[Run]:
        """The newest runs by our dispatches, `PAGE` at a time; `page` counts from 1."""
        query = {"event": "workflow_dispatch", "per_page": str(PAGE), "page": str(page)}
        return (await self._get(RunPage, "/runs", "runs", query)).workflow_runs

    async def run(self, number: str) -> Run | None:
        """One run; None: there is none of this number."""
        return await self._find(Run, f"/runs/{number}", "a run")

    async def jobs(self, number: str) -> list[Job]:
        """The jobs of a run."""
        return (await self._get(Jobs, f"/runs/{number}/jobs", "jobs")).jobs

    async def artifacts(self, number: str) -> list[Artifact]:
        """The artifacts of a run; none if there is no such run."""
        found = await self._find(Artifacts, f"/runs/{number}/artifacts", "artifacts")
        return [] if found is None else found.artifacts

    async def download(self, artifact: Artifact) -> bytes | None:
        """An artifact's zip; None if it has expired. Raises `TooLarge`."""
        answer = await self._with_token(
            lambda token: self._http.download(
                f"{self._root}/artifacts/{artifact.id}/zip",
                headers={**_HEADERS, **token.headers()},
                max_bytes=MAX_RESULT_BYTES,
            )
        )
        if answer.status in (404, 410):
            return None
        self._must(answer, 200, "downloading an artifact")
        return answer.content

    async def cancel(self, number: str) -> None:
        """Stop a run; nothing happens if it has ended, or was never there."""
        answer = await self._send("POST", f"/runs/{number}/cancel")
        if answer.status not in (404, 409):
            self._must(answer, 202, "cancelling a run")

    async def delete(self, number: str) -> bool:
        """Remove a run with all that is kept of it. False: not yet, as it hasn't ended."""
        answer = await self._send("DELETE", f"/runs/{number}")
        if answer.status in (403, 409, 422):
            return False
        if answer.status != 404:
            self._must(answer, 204, "deleting a run")
        return True

    async def why_not(self, workflow: str) -> str:
        """Why a workflow can't be started; empty if it can."""
        found = await self._find(Workflow, f"/workflows/{workflow}", "a workflow")
        if found is None:
            return self._no_workflow(workflow)
        return "" if found.state == "active" else f"GitHub says that {workflow} is {found.state}"

    async def runners(self) -> list[Runner] | None:
        """The repository's runners, the first hundred; None if our token may not see them."""
        path = "/runners"
        answer = await self._send("GET", path, params={"per_page": str(PAGE)})
        if answer.status in (403, 404):
            return None
        self._must(answer, 200, "listing runners")
        return read(Runners, answer, _GITHUB, "runners").runners

    async def waiting(self) -> int:
        """How many runs wait for a runner."""
        query = {"status": "queued", "per_page": "1"}
        return (await self._get(RunPage, "/runs", "runs", query)).total_count

    async def _get(
        self, kind: type[T], path: str, what: str, params: Mapping[str, str] | None = None
    ) -> T:
        found = await self._find(kind, path, what, params)
        if found is None:
            raise PlatformError(
                f"GitHub shows our token no {self._repo}: is it the right repository?"
            )
        return found

    async def _find(
        self, kind: type[T], path: str, what: str, params: Mapping[str, str] | None = None
    ) -> T | None:
        """None: not found. What hasn't changed since it was read isn't sent again."""
        keys = []

        async def ask(token: Token) -> Answer:
            keys.append(f"{id(token)} {path} {params}")  # each token has ETags of its own
            headers = {**_HEADERS, **token.headers(), **self._etags.headers(keys[-1])}
            return await self._http.request(
                "GET", self._root + path, headers=headers, params=params
            )

        answer = await self._with_token(ask)
        if answer.status == 304 and (known := self._etags.find(keys[-1], kind)) is not None:
            return known
        if answer.status == 404:
            return None
        self._must(answer, 200, f"reading {what}")
        value = read(kind, answer, _GITHUB, what)
        self._etags.keep(keys[-1], answer, value)
        return value

    async def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
    ) -> Answer:
        return await self._with_token(
            lambda token: self._http.request(
                method,
                self._root + path,
                headers={**_HEADERS, **token.headers()},
                params=params,
                body=body,
            )
        )

    async def _with_token(self, ask: Callable[[Token], Awaitable[Answer]]) -> Answer:
        """The answer, of whichever token it can be had with."""
        for _ in range(len(self.tokens)):
            token = self.tokens.best()
            answer = await ask(token)
            self.tokens.learn(token, answer)
            if not self._in_vain(token, answer):
                return answer
        self.tokens.best()  # says why, if none is left
        raise SchedulerError("GitHub refused every token that we have.")

    def _in_vain(self, token: Token, answer: Answer) -> bool:
        """Whether it was the token that failed, so that another may do better."""
        if answer.status == 401:
            self.tokens.refused(token)
            return True
        return self.tokens.limited(token, answer)

    def _no_workflow(self, workflow: str) -> str:
        return f"{self._repo} has no workflow {workflow} that GitHub shows our token"

    def _must(self, answer: Answer, status: int, doing: str) -> None:
        """Raises unless the answer has the status."""
        if answer.status == status:
            return
        try:
            said = TypeAdapter(Refusal).validate_json(answer.content).message
        except ValidationError:
            said = answer.excerpt
        sentence = f"GitHub answered {answer.status} to {doing}: {said[:300]}"
        if answer.status in (400, 403, 404, 410, 422):
            raise PlatformError(sentence)
        raise SchedulerError(sentence)
