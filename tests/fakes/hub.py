"""A Hugging Face Hub that keeps its datasets in memory and speaks the real protocol on loopback.

Large files, and all Parquet, are taken by `hub_storage` alone.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

from tests.fakes.hub_storage import Answer, Storage

TOKEN = "hf_right"
_FILE = r"/datasets/(?P<repo>[^/]+/[^/]+)/resolve/[^/]+/(?P<path>.+)"
_LICENSES = ("other", "mit", "cc-by-4.0")
_REPO = r"/api/datasets/(?P<repo>[^/]+/[^/]+)"
_LFS = r"/datasets/(?P<repo>[^/]+/[^/]+)\.git/info/lfs/objects/(?P<what>batch|verify)"


@dataclass
class Dataset:
    """`files` by path."""

    private: bool
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class FakeHub:
    """What was uploaded. `broken`: every answer is a 500."""

    url: str
    storage: Storage
    datasets: dict[str, Dataset] = field(default_factory=dict)
    broken: bool = False
    uploaded: threading.Event = field(default_factory=threading.Event)
    """Set with the first commit."""


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """Serves until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    hub = FakeHub(url, Storage(url))
    server.hub = hub  # type: ignore[attr-defined]  # handlers reach nothing but their server
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="fake hub")
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> FakeHub:
        found: FakeHub = self.server.hub  # type: ignore[attr-defined]  # set where it was made
        return found

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._answer_for(b"")

    def do_HEAD(self) -> None:
        self._answer_for(b"")

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        body = self._body() or b""
        if path == "/api/complete_multipart":
            self._say(self.hub.storage.complete(query, json.loads(body)))
        else:
            self._answer_for(body)

    def do_PUT(self) -> None:
        path, _, query = self.path.partition("?")
        body = self._body()
        self.close_connection = body is None
        if path == "/storage":
            authorized = "authorization" in self.headers
            self._say(self.hub.storage.put(query, body, authorized=authorized))
        else:
            self._answer(404, {"error": f"no such path: {path}"})

    def _body(self) -> bytes | None:
        size = self.headers.get("content-length")
        return None if size is None else self.rfile.read(int(size))

    def _answer_for(self, body: bytes) -> None:
        path = self.path.partition("?")[0]
        if self.hub.broken:
            self._answer(500, {"error": "out of order"})
        elif self.headers.get("authorization") != f"Bearer {TOKEN}":
            self._answer(401, {"error": "Invalid credentials in Authorization header"})
        elif self.path == "/api/repos/create":
            self._create(json.loads(body))
        elif self.path == "/api/validate-yaml":
            self._validate(json.loads(body)["content"])
        elif found := re.fullmatch(_REPO + r"/preupload/[^/]+", path):
            self._answer(200, {"files": [_mode(one) for one in json.loads(body)["files"]]})
        elif found := re.fullmatch(_LFS, path):
            self._large(found["repo"], found["what"], json.loads(body))
        elif found := re.fullmatch(_REPO + r"/commit/[^/]+", path):
            self._commit(found["repo"], body)
        elif found := re.fullmatch(_FILE, path):
            self._resolve(found["repo"], found["path"])
        elif found := re.fullmatch(_REPO + r"(/revision/[^/]+)?", path):
            self._show(found["repo"])
        else:
            self._answer(404, {"error": f"no such path: {self.path}"})

    def _validate(self, card: str) -> None:
        """The Hub's check of a card, or the least of it: that it names a licence."""
        parts = card.split("\n---\n", 1)
        front = yaml.safe_load(parts[0].removeprefix("---\n")) if len(parts) == 2 else None
        known = isinstance(front, dict) and front.get("license") in _LICENSES
        wrong = [] if known else [{"message": "license must be one of the known ones"}]
        self._answer(400 if wrong else 200, {"errors": wrong, "warnings": []})

    def _create(self, asked: dict[str, Any]) -> None:
        name = "/".join(part for part in (asked.get("organization"), asked["name"]) if part)
        url = f"{self.hub.url}/datasets/{name}"
        if name in self.hub.datasets:
            self._answer(409, {"error": "You already created this dataset repo", "url": url})
            return
        self.hub.datasets[name] = Dataset(
            bool(asked.get("private")) or asked.get("visibility") == "private"
        )
        self._answer(200, {"url": url, "name": name, "id": name})

    def _large(self, repo: str, what: str, asked: dict[str, Any]) -> None:
        storage = self.hub.storage
        if what == "verify":
            self._say(storage.verify(asked))
        else:
            self._say(storage.batch(repo, asked, self.headers.get("content-type", "")))

    def _commit(self, name: str, body: bytes) -> None:
        """All of it, or nothing."""
        files = {}
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                if not self.hub.storage.has(value["oid"], value["size"]):
                    self._answer(400, {"error": f"LFS pointer pointed to no file: {value['path']}"})
                    return
                files[value["path"]] = self.hub.storage.kept[value["oid"]]
        self.hub.datasets[name].files |= files
        self.hub.uploaded.set()
        oid = "0" * 40
        url = f"{self.hub.url}/datasets/{name}/commit/{oid}"
        self._answer(200, {"success": True, "commitUrl": url, "commitOid": oid, "hookOutput": ""})

    def _show(self, name: str) -> None:
        found = self.hub.datasets.get(name)
        if found is None:
            self._answer(404, {"error": "Repository not found"})
            return
        self._answer(
            200,
            {
                "_id": "1",
                "id": name,
                "private": found.private,
                "sha": "0" * 40,
                "siblings": [{"rfilename": path} for path in found.files],
            },
        )

    def _resolve(self, name: str, path: str) -> None:
        found = self.hub.datasets.get(name)
        if found is None or path not in found.files:
            self._answer(404, {"error": "Entry not found"})
            return
        content = found.files[path]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        self._say(Answer(status, document))

    def _say(self, answer: Answer) -> None:
        is_text = isinstance(answer.body, str)
        content = (
            answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        ).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/xml" if is_text else "application/json")
        self.send_header("Content-Length", str(len(content)))
        if answer.etag:
            self.send_header("ETag", answer.etag)
        self.end_headers()
        self.wfile.write(content)


def _mode(file: dict[str, Any]) -> dict[str, Any]:
    mode = "lfs" if Storage.takes(file["path"], file["size"]) else "regular"
    return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": None}
