"""Large files of the fake Hub: Git LFS's batch interface, signed addresses to send them to in one
piece or in parts, as S3 answers there, and the question whether one has arrived."""

import hashlib
import hmac
import json
import math
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

LARGE_BYTES = 10 << 20
_JSON = "application/vnd.git-lfs+json"


@dataclass(frozen=True)
class Answer:
    """What an address says; a dict is JSON, a text XML."""

    status: int
    body: dict[str, Any] | str = ""
    etag: str = ""


@dataclass
class Storage:
    """What was sent, by its SHA-256, and what it refuses. `url`: where it is."""

    url: str
    kept: dict[str, bytes] = field(default_factory=dict)
    lasts_s: float = 900.0
    """How long an address may be used."""
    most_object_bytes: int | None = None
    """Larger ones get no address."""
    most_body_bytes: int | None = None
    """More in one request is refused, with 413."""
    loses_bytes: int = 0
    """Off the end of whatever it is sent."""
    part_bytes: int | None = None
    """Larger ones are sent in parts of so many."""
    sent_bytes: list[int] = field(default_factory=list)
    """Of each request that brought something."""
    _parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    @staticmethod
    def takes(path: str, size: int) -> bool:
        """Whether a file of a dataset is a large one: by its attributes, or its size."""
        return path.endswith(".parquet") or size > LARGE_BYTES

    def batch(self, repo: str, asked: dict[str, Any], content_type: str) -> Answer:
        """Where to send what isn't here yet."""
        if content_type != _JSON or asked["operation"] != "upload":
            return Answer(406, {"error": f"Content-Type must be {_JSON}"})
        transfer = "basic"
        objects = []
        for one in asked["objects"]:
            oid, size = one["oid"], one["size"]
            found: dict[str, Any] = {"oid": oid, "size": size}
            if self.most_object_bytes is not None and size > self.most_object_bytes:
                found["error"] = {"code": 422, "message": "the object is too large"}
            elif oid not in self.kept:
                in_parts = self.part_bytes is not None and size > self.part_bytes
                transfer = "multipart" if in_parts else transfer
                found["authenticated"] = True
                upload = self._in_parts(oid, size) if in_parts else {"href": self._signed("o", oid)}
                verify = f"{self.url}/datasets/{repo}.git/info/lfs/objects/verify"
                found["actions"] = {"upload": upload, "verify": {"href": verify}}
            objects.append(found)
        if transfer not in asked.get("transfers", ["basic"]):
            return Answer(422, {"error": f"a client is needed that knows {transfer}"})
        return Answer(200, {"transfer": transfer, "objects": objects})

    def put(self, query: str, body: bytes | None, *, authorized: bool) -> Answer:
        """Bytes at a signed address. `body` None: their number wasn't said."""
        said = dict(parse_qsl(query))
        refused = self._refused(said)
        if refused is not None:
            return refused
        if authorized:
            return _error(400, "InvalidArgument", "Only one auth mechanism allowed")
        if body is None:
            return _error(411, "MissingContentLength", "You must provide Content-Length")
        if self.most_body_bytes is not None and len(body) > self.most_body_bytes:
            return _error(413, "EntityTooLarge", "Your proposed upload exceeds the maximum size")
        self.sent_bytes.append(len(body))
        body = body[: len(body) - self.loses_bytes]
        if said["kind"] == "o":
            self.kept[said["oid"]] = body
        else:
            self._parts[said["oid"]][int(said["part"])] = body
        return Answer(200, etag=_etag(body))

    def complete(self, query: str, asked: dict[str, Any]) -> Answer:
        """The parts become one."""
        said = dict(parse_qsl(query))
        refused = self._refused(said)
        if refused is not None:
            return refused
        parts = self._parts[said["oid"]]
        named = [(one["partNumber"], one["etag"]) for one in asked["parts"]]
        if asked["oid"] != said["oid"] or named != [(n, _etag(parts[n])) for n in sorted(parts)]:
            return Answer(400, {"error": "One or more of the specified parts could not be found"})
        self.kept[said["oid"]] = b"".join(parts[number] for number in sorted(parts))
        return Answer(200, {})

    def verify(self, asked: dict[str, Any]) -> Answer:
        """Whether one is here, as it was to be."""
        if self.has(asked["oid"], asked["size"]):
            return Answer(200, {})
        return Answer(422, {"error": "the object's size differs from what was announced"})

    def has(self, oid: str, size: int) -> bool:
        """Whether one is here, with its size and its hash."""
        found = self.kept.get(oid)
        return found is not None and (size, oid) == (len(found), hashlib.sha256(found).hexdigest())

    def _in_parts(self, oid: str, size: int) -> dict[str, Any]:
        assert self.part_bytes is not None
        self._parts[oid] = {}
        count = math.ceil(size / self.part_bytes)
        header = {str(number): self._signed("p", oid, number) for number in range(1, count + 1)}
        header["chunk_size"] = str(self.part_bytes)
        return {"href": self._signed("c", oid), "header": header}

    def _signed(self, kind: str, oid: str, part: int = 0) -> str:
        until = self._now() + self.lasts_s
        said = {"kind": kind, "oid": oid, "part": str(part), "until": str(until)}
        query = urlencode({**said, "signature": self._signature(said)})
        return f"{self.url}/{'api/complete_multipart' if kind == 'c' else 'storage'}?{query}"

    def _refused(self, said: dict[str, str]) -> Answer | None:
        signature = said.pop("signature", "")
        if not hmac.compare_digest(signature, self._signature(said)):
            return _error(403, "SignatureDoesNotMatch", "The signature does not match")
        if float(said["until"]) <= self._now():
            return _error(403, "AccessDenied", "Request has expired")
        return None

    def _signature(self, said: dict[str, str]) -> str:
        return hmac.new(self._key, json.dumps(said).encode(), "sha256").hexdigest()

    @staticmethod
    def _now() -> float:
        return time.monotonic()


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def _error(status: int, code: str, message: str) -> Answer:
    return Answer(status, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>")
