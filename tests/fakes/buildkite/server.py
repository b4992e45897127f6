"""The REST routes, with what can go wrong with each."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.buildkite.agents import FakeAgents, FakeBuild
from tests.fakes.serving import Request, Response, serving
from tests.fakes.storage import FakeStorage, fake_storage

ORGANIZATION = "lab"
PIPELINE = "kernels"
TOKEN = "bkua_right"
_ROOT = f"/v2/organizations/{ORGANIZATION}"
MAX_VARIABLE_BYTES = 131_071


@dataclass
class FakeBuildkite:
    """One organization. Whatever a test wants to go wrong is set here."""

    agents: FakeAgents
    storage: FakeStorage
    url: str = ""
    token: str = TOKEN
    left: int = 100_000
    limit: int = 100_000
    resets_in_s: int = 60
    creations_fail: list[str] = field(default_factory=list)
    """What becomes of the next creations: `before` or `after` the build was made."""
    wrong: Callable[[Request], Response | None] = lambda _: None
    """Answers instead of Buildkite, if it wants to."""
    shows_agents: bool = True
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each."""

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
        self.left -= 1
        if self.left < 0:
            response = _json(429, {"message": "You have exceeded your API rate limit."})
        else:
            response = self._route(request)
        limits = {
            "RateLimit-Remaining": str(max(self.left, 0)),
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Reset": str(self.resets_in_s),
        }
        return Response(response.status, response.body, {**response.headers, **limits})

    def asked(self, method: str, ending: str) -> int:
        """How many requests there were of this kind."""
        return sum(m == method and path.endswith(ending) for m, path in self.requests)

    def _route(self, request: Request) -> Response:
        if (request.method, request.path) == ("GET", f"{_ROOT}/agents"):
            return self._agents()
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
        size, page = int(request.query["per_page"]), int(request.query["page"])
        found = sorted(self.builds, key=lambda build: -build.number)
        jobs = request.query.get("exclude_jobs") != "true"
        part = found[size * (page - 1) : size * page]
        return _json(200, [build.shown(jobs=jobs) for build in part])

    def _build(self, _request: Request, number: str) -> Response:
        build = self.agents.builds.get(int(number))
        return _missing() if build is None else _json(200, build.shown(jobs=True))

    def _cancel(self, _request: Request, number: str) -> Response:
        if (build := self.agents.builds.get(int(number))) is None:
            return _missing()
        if not self.agents.cancel(build):
            return _json(422, {"message": "Build can't be canceled because it's finished."})
        return _json(200, build.shown(jobs=True))

    def _artifacts(self, _request: Request, number: str) -> Response:
        if (build := self.agents.builds.get(int(number))) is None:
            return _missing()
        root = f"https://api.evil.example/v2/builds/{number}"  # a client must not send it a token
        each = [
            {
                "id": file.id,
                "job_id": build.job_id,
                "path": file.path,
                "filename": Path(file.path).name,
                "state": "finished",
                "download_url": f"{root}/artifacts/{file.id}/download",
            }
            for file in build.artifacts
        ]
        return _json(200, each)

    def _download(self, _request: Request, number: str, job: str, artifact: str) -> Response:
        for file in self.agents.builds[int(number)].artifacts:
            if file.id == artifact and job == self.agents.builds[int(number)].job_id:
                return Response(302, b"{}", {"Location": self.storage.sign(file.content)})
        return _missing()

    def _delete(self, _request: Request, number: str, _job: str, artifact: str) -> Response:
        build = self.agents.builds[int(number)]
        build.artifacts = [file for file in build.artifacts if file.id != artifact]
        return Response(204)

    def _agents(self) -> Response:
        if not self.shows_agents:
            return _json(403, {"message": "Forbidden"})
        each: list[dict[str, Any]] = [
            {
                "id": agent.queue,
                "name": agent.name,
                "connection_state": "connected" if agent.connected else "lost",
                "job": {"id": agent.build.job_id} if agent.build else None,
                "meta_data": [f"queue={agent.queue}", "gpu-index=0"],
            }
            for agent in self.agents.agents
        ]
        return _json(200, each)


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
