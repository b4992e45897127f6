"""The REST routes, with what can go wrong with each."""

import contextlib
import email.utils
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.fakes.github.actions import FakeActions, FakeRun
from tests.fakes.github.workflow import WORKFLOWS, read_workflow
from tests.fakes.serving import Request, Response, serving
from tests.fakes.storage import FakeStorage, fake_storage

REPO = "lab/kernels"
TOKEN = "ghp_right"
MAX_INPUTS = 65_535
MOST_INPUTS = 25
DOCS = "https://docs.github.com/rest"
T = TypeVar("T")


@dataclass
class Account:
    """Whose token it is. `admin`: may see runners."""

    left: int = 5000
    limit: int = 5000
    resets_in_s: float = 3600.0
    retry_after_s: int | None = None
    secondary: bool = False
    """A secondary limit is met, and nothing says for how long."""
    revoked: bool = False
    admin: bool = False


@dataclass
class FakeGithub:
    """One repository. Whatever a test wants to go wrong is set here."""

    actions: FakeActions
    storage: FakeStorage
    url: str = ""
    accounts: dict[str, Account] = field(default_factory=lambda: {TOKEN: Account()})
    tells_numbers: bool | None = True
    """Whether a dispatch is answered by the run's number; None: the question is refused."""
    dispatches_fail: list[str] = field(default_factory=list)
    """What becomes of the next dispatches: `before` or `after` the run was made."""
    wrong: Callable[[Request], Response | None] = lambda _: None
    """Answers instead of GitHub, if it wants to."""
    clock_ahead_s: float = 0.0
    disabled: bool = False
    gone: bool = False
    """The workflow's file isn't on the branch."""
    offline: bool = False
    """All runners."""
    runners_gone: int = 0
    """Offline runners of the same label, which are listed first: machines of one job leave many."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and token of each."""
    exchanges: list[tuple[Request, Response]] = field(default_factory=list)
    """Those that came as far as a route."""
    unchanged: int = 0
    """Answers that were no more than "not modified"."""

    def answer(self, request: Request) -> Response:
        """Everything goes through here."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.requests.append((request.method, request.path, token))
        if (wrong := self.wrong(request)) is not None:
            return wrong
        account = self.accounts.get(token)
        if account is None or account.revoked:
            return _json(401, {"message": "Bad credentials"})
        if account.retry_after_s is not None:
            said = _json(403, {"message": "You have exceeded a secondary rate limit."})
            return self._limited(account, said, {"Retry-After": str(account.retry_after_s)})
        if account.secondary:
            message = "You have exceeded a secondary rate limit. Please wait a few minutes."
            return self._limited(account, _json(403, {"message": message}), {})
        if account.left <= 0:
            return self._limited(account, _json(403, {"message": "API rate limit exceeded"}), {})
        found = self._route(request, account)
        self.exchanges.append((request, found))
        return self._limited(account, self._tagged(request, account, found), {})

    def asked(self, method: str, ending: str) -> int:
        """How many requests there were of this kind."""
        return sum(m == method and path.endswith(ending) for m, path, _ in self.requests)

    def _tagged(self, request: Request, account: Account, response: Response) -> Response:
        etag = f'W/"{hashlib.sha256(response.body).hexdigest()}"'
        same = request.method == "GET" and request.headers.get("if-none-match") == etag
        if same and response.status == 200:
            self.unchanged += 1
            return Response(304, b"", {"ETag": etag})
        account.left -= 1
        headers = {**response.headers, "ETag": etag} if response.status == 200 else response.headers
        return Response(response.status, response.body, headers)

    def _limited(self, account: Account, response: Response, more: dict[str, str]) -> Response:
        now = time.time() + self.clock_ahead_s
        headers = {
            "Date": email.utils.formatdate(now, usegmt=True),
            "x-ratelimit-limit": str(account.limit),
            "x-ratelimit-remaining": str(max(account.left, 0)),
            "x-ratelimit-reset": str(int(now + account.resets_in_s)),
        }
        return Response(response.status, response.body, {**headers, **response.headers, **more})

    def _route(self, request: Request, account: Account) -> Response:
        path = request.path.removeprefix(f"/repos/{REPO}/actions")
        if path == request.path:
            return _missing()
        routes: list[tuple[str, str, Callable[..., Response]]] = [
            ("POST", r"/workflows/([^/]+)/dispatches", self._dispatch),
            ("GET", r"/workflows/([^/]+)", self._workflow),
            ("GET", r"/runs", self._runs),
            ("GET", r"/runs/(\d+)", self._run),
            ("GET", r"/runs/(\d+)/jobs", self._jobs),
            ("GET", r"/runs/(\d+)/artifacts", self._artifacts),
            ("POST", r"/runs/(\d+)/cancel", self._cancel),
            ("DELETE", r"/runs/(\d+)", self._delete),
            ("GET", r"/artifacts/(\d+)/zip", self._zip),
        ]
        for method, pattern, route in routes:
            if method == request.method and (found := re.fullmatch(pattern, path)):
                return route(request, *found.groups())
        if (request.method, path) == ("GET", "/runners"):
            return (
                self._runners(request)
                if account.admin
                else _json(403, {"message": "Must be admin"})
            )
        return _missing()

    def _dispatch(self, request: Request, file: str) -> Response:
        if not (WORKFLOWS / file).is_file() or self.gone:
            return _missing()
        if self.disabled:
            message = "Cannot trigger a 'workflow_dispatch' on a disabled workflow"
            return _json(422, {"message": message, "documentation_url": DOCS, "status": "422"})
        asked = json.loads(request.body)
        if self.tells_numbers is None and "return_run_details" in asked:
            message = 'Invalid request.\n\n"return_run_details" is not a permitted key.'
            return _json(422, {"message": message})
        if wrong := _why_not(file, asked):
            return _json(422, {"message": wrong})
        failure = self.dispatches_fail.pop(0) if self.dispatches_fail else ""
        if failure == "before":
            return Response(502, b"<html>Unicorn!</html>")
        run = self.actions.dispatch(file, asked["inputs"])
        if failure == "after":
            return Response(502, b"<html>Unicorn!</html>")
        if not (self.tells_numbers and asked.get("return_run_details")):
            return Response(204)
        url = f"{self.url}/repos/{REPO}/actions/runs/{run.number}"
        return _json(200, {"workflow_run_id": run.number, "run_url": url, "html_url": url})

    def _workflow(self, _request: Request, file: str) -> Response:
        if not (WORKFLOWS / file).is_file():
            return _missing()
        state = "disabled_manually" if self.disabled else "active"
        named = {"name": str(read_workflow(file)["name"]), "path": f".github/workflows/{file}"}
        urls = dict.fromkeys(("url", "html_url", "badge_url"), self.url)
        return _json(200, {"id": 1, "node_id": "W_1", "state": state, **named, **urls, **DATES})

    def _runs(self, request: Request) -> Response:
        with self.actions.lock:
            found = [run for run in self.actions.runs.values() if self._is_shown(run)]
            shown = [_shown(run) for run in sorted(found, key=lambda run: -run.number)]
        if status := request.query.get("status"):
            shown = [run for run in shown if run["status"] == status]
        return _json(200, {"total_count": len(shown), "workflow_runs": _part(request, shown)})

    def _run(self, _request: Request, number: str) -> Response:
        run = self._find(number)
        return _missing() if run is None else _json(200, _shown(run))

    def _jobs(self, _request: Request, number: str) -> Response:
        if (run := self._find(number)) is None:
            return _missing()
        shown = vars(run.job)["steps"] if run.job else []
        steps = [
            {**vars(step), "number": n + 1, "status": "completed" if step.conclusion else "queued"}
            for n, step in enumerate(shown)
        ]
        job = {
            **dict.fromkeys(("node_id", "head_sha", "run_url", "url", "name"), "judge"),
            **dict.fromkeys(("html_url", "check_run_url", "workflow_name", "head_branch"), "x"),
            **dict.fromkeys(("runner_id", "runner_group_id", "runner_group_name"), None),
            "id": run.number * 100,
            "run_id": run.number,
            "status": run.status,
            "created_at": "2026-11-01T10:00:00Z",
            "started_at": "2026-11-01T10:00:00Z",
            "completed_at": None,
            "labels": [run.label],
            "runner_name": run.runner or None,
            "conclusion": run.conclusion,
            "steps": steps,
        }
        return _json(200, {"total_count": 1, "jobs": [job]})

    def _artifacts(self, _request: Request, number: str) -> Response:
        if (run := self._find(number)) is None:
            return _missing()
        urls = dict.fromkeys(("url", "archive_download_url"), f"{self.url}/artifact")
        each = [
            {"id": a.number, "node_id": "A", "name": a.name, "size_in_bytes": len(a.content)}
            | {"expired": a.expired, "expires_at": None, **urls, **DATES}
            for a in run.artifacts
        ]
        return _json(200, {"total_count": len(each), "artifacts": each})

    def _zip(self, _request: Request, number: str) -> Response:
        for run in self.actions.runs.values():
            for artifact in run.artifacts:
                if str(artifact.number) == number:
                    if artifact.expired:
                        return _json(410, {"message": "Artifact has expired"})
                    return Response(302, b"", {"Location": self.storage.sign(artifact.content)})
        return _missing()

    def _cancel(self, _request: Request, number: str) -> Response:
        if (run := self._find(number)) is None:
            return _missing()
        if not self.actions.cancel(run):
            return _json(409, {"message": "Cannot cancel a workflow run that is completed."})
        return _json(202, {})

    def _delete(self, _request: Request, number: str) -> Response:
        if (run := self._find(number)) is None:
            return _missing()
        if run.status != "completed":
            return _json(403, {"message": "Could not delete the workflow run"})
        with self.actions.lock:
            del self.actions.runs[run.number]
        return Response(204)

    def _runners(self, request: Request) -> Response:
        known = [(f"gone{number}", "offline") for number in range(self.runners_gone)]
        known.append(("node0-gpu0", "offline" if self.offline else "online"))
        labels = [{"name": "self-hosted"}, {"name": self.actions.label}]
        each = [
            {"id": n + 1, "name": name, "os": "linux", "status": status, "busy": False}
            | {"labels": labels}
            for n, (name, status) in enumerate(known)
        ]
        return _json(200, {"total_count": len(each), "runners": _part(request, each)})

    def _find(self, number: str) -> FakeRun | None:
        run = self.actions.runs.get(int(number))
        return run if run is not None and self._is_shown(run) else None

    def _is_shown(self, run: FakeRun) -> bool:
        return run.shown_at <= time.monotonic()


def _part(request: Request, listed: list[T]) -> list[T]:
    """The page that is asked for."""
    size = min(int(request.query.get("per_page", "30")), 100)
    page = int(request.query.get("page", "1"))
    return listed[size * (page - 1) : size * page]


def _shown(run: FakeRun) -> dict[str, Any]:
    return run.shown(str(read_workflow(run.file)["name"]))


def _why_not(file: str, asked: dict[str, Any]) -> str:
    """Why GitHub refuses a dispatch."""
    inputs = asked["inputs"]
    declared = read_workflow(file)["on"]["workflow_dispatch"]["inputs"]
    if asked["ref"] != "main":
        return f"No ref found for: {asked['ref']}"
    if stray := sorted(inputs.keys() - declared.keys()):
        return f"Unexpected inputs provided: {stray}"
    if len(declared) > MOST_INPUTS:
        return f"you may only define up to {MOST_INPUTS} `inputs` for a `workflow_dispatch` event"
    if len(json.dumps(inputs)) > MAX_INPUTS:
        return "inputs are too large."
    return ""


DATES = {"created_at": "2026-11-01T10:00:00Z", "updated_at": "2026-11-01T10:00:00Z"}


def _json(status: int, document: object) -> Response:
    return Response(
        status, json.dumps(document).encode(), {"Content-Type": "application/json; charset=utf-8"}
    )


def _missing() -> Response:
    return _json(404, {"message": "Not Found"})


@contextmanager
def fake_github(folder: Path, **options: Any) -> Iterator[FakeGithub]:
    """Serves until the end of the block, with its runners below the folder; `options` are those of
    `FakeActions`."""
    actions = FakeActions(folder, **options)
    with contextlib.ExitStack() as stack:
        storage = stack.enter_context(fake_storage())
        github = FakeGithub(actions, storage)
        github.url = stack.enter_context(serving(github.answer, "fake github"))
        stack.callback(actions.close)
        actions.start()
        yield github
