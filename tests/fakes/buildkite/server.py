"""The REST routes, with what can go wrong with each."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from tests.fakes.buildkite.agents import FakeAgents, FakeBuild
from tests.fakes.buildkite.limits import FakeLimits
from tests.fakes.serving import Request, Response, serving
from tests.fakes.storage import FakeStorage, fake_storage

ORGANIZATION = "lab"
PIPELINE = "kernels"
TOKEN = "bkua_right"
_ROOT = f"/v2/organizations/{ORGANIZATION}"
MAX_VARIABLE_BYTES = 131_071
PAGE = 30
LARGEST_PAGE = 100
T = TypeVar("T")


@dataclass
class FakeBuildkite:
    """One organization. Whatever a test wants to go wrong is set here."""

    agents: FakeAgents
    storage: FakeStorage
    url: str = ""
    token: str = TOKEN
    limits: FakeLimits = field(default_factory=FakeLimits)
    creations_fail: list[str] = field(default_factory=list)
    """What becomes of the next creations: `before` or `after` the build was made."""
    wrong: Callable[[Request], Response | None] = lambda _: None
    """Answers instead of Buildkite, if it wants to."""
    shows_agents: bool = True
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each."""
    refused: int = 0
    """Requests beyond a limit."""

    @property
    def builds(self) -> list[FakeBuild]:
        """The oldest first."""
        return list(self.agents.builds.values())

    def answer(self, request: Request) -> Response:
        """Everything goes through here."""
        self.requests.append((request.method, request.path))
        if (wrong := self.wrong(request)) is not None:
            return wrong
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _json(401, {"message": "Authentication required."})
        if scope := self.limits.refusing():
            self.refused += 1
            said = {"message": "You have exceeded your API rate limit.", "scope": scope}
            response = _json(429, said)
        else:
            response = self._route(request)
        headers = {**response.headers, **self.limits.headers()}
        return Response(response.status, response.body, headers)

    def asked(self, method: str, ending: str) -> int:
        """How many requests there were of this kind."""
        return sum(m == method and path.endswith(ending) for m, path in self.requests)

    def _route(self, request: Request) -> Response:
        if (request.method, request.path) == ("GET", f"{_ROOT}/agents"):
            return self._agents(request)
        root = f"{_ROOT}/pipelines/{PIPELINE}"
        if not request.path.startswith(root):
            return _missing()
        artifact = r"/builds/(\d+)/jobs/([^/]+)/artifacts/([^/]+)"
        routes: list[tuple[str, str, Callable[..., Response]]] = [
            ("GET", "", lambda _: _json(200, {"slug": PIPELINE})),
            ("POST", "/builds", self._create),
            ("GET", "/builds", self._list),
            ("GET", r"/builds/(\d+)", self._build),
            ("PUT", r"/builds/(\d+)/cancel", self._cancel),
            ("GET", r"/builds/(\d+)/artifacts", self._artifacts),
            ("GET", f"{artifact}/download", self._download),
            ("DELETE", artifact, self._delete),
        ]
        for method, pattern, route in routes:
            found = re.fullmatch(pattern, request.path.removeprefix(root))
            if method == request.method and found:
                return route(request, *found.groups())
        return _missing()

    def _create(self, request: Request) -> Response:
        asked = json.loads(request.body)
        if missing := {"commit", "branch", "message"} - asked.keys():
            return _json(422, {"message": f"Validation failed: {missing}"})
        if any(len(f"{name}={text}") > MAX_VARIABLE_BYTES for name, text in asked["env"].items()):
            return _json(422, {"message": "Argument list too long"})
        failure = self.creations_fail.pop(0) if self.creations_fail else ""
        if failure == "before":
            return Response(502, b"<html>bad gateway</html>")
        build = self.agents.create(asked["message"], asked["env"])
        if failure == "after":
            return Response(502, b"<html>bad gateway</html>")
        return _json(201, build.shown(jobs=True))

    def _list(self, request: Request) -> Response:
        found = sorted(self.builds, key=lambda build: -build.number)
        jobs = request.query.get("exclude_jobs") != "true"
        return self._page(request, found, lambda build: build.shown(jobs=jobs))

    def _page(
        self, request: Request, found: Sequence[T], shown: Callable[[T], dict[str, Any]]
    ) -> Response:
        """The part of a list that is asked for, with a link to the next one."""
        size = min(int(request.query.get("per_page", PAGE)), LARGEST_PAGE)
        page = int(request.query.get("page", "1"))
        part = [shown(each) for each in found[size * (page - 1) : size * page]]
        if len(found) <= size * page:
            return _json(200, part)
        query = urlencode({**request.query, "page": page + 1, "per_page": size})
        link = f'<https://api.evil.example{request.path}?{query}>; rel="next"'
        answer = _json(200, part)
        return Response(200, answer.body, {**answer.headers, "Link": link})

    def _build(self, _request: Request, number: str) -> Response:
        build = self.agents.builds.get(int(number))
        return _missing() if build is None else _json(200, build.shown(jobs=True))

    def _cancel(self, _request: Request, number: str) -> Response:
        if (build := self.agents.builds.get(int(number))) is None:
            return _missing()
        if not self.agents.cancel(build):
            return _json(422, {"message": "Build can't be canceled because it's finished."})
        return _json(200, build.shown(jobs=True))

    def _artifacts(self, request: Request, number: str) -> Response:
        if (build := self.agents.builds.get(int(number))) is None:
            return _missing()
        root = f"https://api.evil.example/v2/builds/{number}"  # a client must not send it a token
        return self._page(
            request,
            build.artifacts,
            lambda file: {
                "id": file.id,
                "job_id": build.judging.id,
                "path": file.path,
                "filename": Path(file.path).name,
                "state": "finished",
                "download_url": f"{root}/artifacts/{file.id}/download",
            },
        )

    def _download(self, _request: Request, number: str, job: str, artifact: str) -> Response:
        for file in self.agents.builds[int(number)].artifacts:
            if file.id == artifact and job == self.agents.builds[int(number)].judging.id:
                return Response(302, b"{}", {"Location": self.storage.sign(file.content)})
        return _missing()

    def _delete(self, _request: Request, number: str, _job: str, artifact: str) -> Response:
        build = self.agents.builds[int(number)]
        build.artifacts = [file for file in build.artifacts if file.id != artifact]
        return Response(204)

    def _agents(self, request: Request) -> Response:
        """Those that are connected: others aren't listed."""
        if not self.shows_agents:
            return _json(403, {"message": "Forbidden"})
        connected = [agent for agent in self.agents.agents if agent.connected]
        return self._page(
            request,
            connected,
            lambda agent: {
                "id": agent.queue,
                "name": agent.name,
                "connection_state": "connected",
                "job": {"id": agent.build.jobs[-1].id} if agent.build else None,
                "meta_data": [f"queue={agent.queue}", "gpu-index=0"],
            },
        )


def _json(status: int, document: object) -> Response:
    return Response(status, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _missing() -> Response:
    return _json(404, {"message": "No resource found"})


@contextmanager
def fake_buildkite(folder: Path, harness: Path, **options: Any) -> Iterator[FakeBuildkite]:
    """Serves until the end of the block, with its agents below the folder; `options` are those of
    `FakeAgents`."""
    folder.mkdir(exist_ok=True)
    agents = FakeAgents(folder, harness, **options)
    with contextlib.ExitStack() as stack:
        buildkite = FakeBuildkite(agents, stack.enter_context(fake_storage()))
        buildkite.url = stack.enter_context(serving(buildkite.answer, "fake buildkite"))
        stack.callback(agents.close)
        agents.start()
        yield buildkite
