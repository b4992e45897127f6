"""The routes of schedulers' nodes, as a node sees them."""

import hashlib
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest
import structlog

from kernelbot.launchers.links import NodeLinks
from kernelbot.protocol import (
    EventKind,
    Limits,
    Mode,
    Phase,
    ProgressEvent,
    SamplingRules,
    SandboxMode,
    encode_payload,
    to_wire,
)
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.nodes.service import open_links
from tests.support.door import Door
from tests.support.world import DEVICES

STEP = json.dumps(to_wire(ProgressEvent(EventKind.CASE, phase=Phase.TEST, index=0, total=1)))


@dataclass
class Node:
    """A node that has a job and asks without a token."""

    door: Door
    claim: Claim
    links: NodeLinks

    async def get(self, url: str) -> httpx.Response:
        return await self.door.stranger.get(_here(url))

    async def tell(self, lines: str | bytes, more: str = "") -> httpx.Response:
        return await self.door.stranger.post(_here(self.links.events_url) + more, content=lines)


def _here(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


@pytest.fixture
async def node(door: Door) -> Node:
    await door.world.board()
    await door.world.submit(mode=Mode.TEST)
    rules = RunRules(Limits(), SamplingRules(), SandboxMode.NONE, stale_s=30)
    claim = await RunLifecycle(door.world.database, DEVICES, rules).claim("CPU", "w")
    assert claim is not None
    links = await open_links(door.world.database, "http://test", b"")
    return Node(door, claim, links.for_job(claim.spec.job_id, 60))


async def test_a_link_is_all_that_a_payload_takes(node: Node) -> None:
    answer = await node.get(node.links.payload_url)
    assert (answer.status_code, answer.text) == (200, encode_payload(node.claim.spec))
    assert answer.headers["cache-control"] == "no-store"


async def test_another_signature_is_refused(node: Node) -> None:
    answer = await node.get(node.links.payload_url[:-4] + "beef")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    assert "isn't a link" in answer.json()["detail"]


async def test_a_link_whose_time_is_over_is_gone(node: Node) -> None:
    links = await open_links(node.door.world.database, "http://test", b"")
    answer = await node.get(links.for_job(node.claim.spec.job_id, -5).payload_url)
    assert (answer.status_code, answer.json()["code"]) == (410, "link_expired")


async def test_no_link_at_all_is_invalid(node: Node) -> None:
    answer = await node.get(node.links.payload_url.split("?")[0] + "?")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


async def test_progress_is_counted(node: Node) -> None:
    first = await node.tell(f"{STEP}\n{STEP}\n")
    second = await node.tell(f"{STEP}\n", "&first=2")
    assert [first.json(), second.json()] == [{"received": 2}, {"received": 3}]


@pytest.mark.parametrize(
    "lines", ["<html>", "{}", "[]\n", f"{STEP}\n\n", b"\xff\xfe", "NaN", "[" * 100_000]
)
async def test_what_is_no_progress_is_refused(node: Node, lines: str | bytes) -> None:
    answer = await node.tell(lines)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert "no progress event" in answer.json()["detail"]


async def test_too_much_at_once_is_refused(node: Node) -> None:
    answer = await node.tell(b"x" * (257 << 10))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("first", ["-1", "x", "10000", str(10**30)])
async def test_a_place_that_there_isnt_is_refused(node: Node, first: str) -> None:
    assert (await node.tell(STEP, f"&first={first}")).status_code in (400, 422)


async def test_no_log_has_a_link_or_a_payload(node: Node) -> None:
    with structlog.testing.capture_logs() as logs:
        await node.get(node.links.payload_url)
        await node.tell(STEP)
        await node.get(node.links.payload_url[:-4] + "beef")
    text = str(logs)
    urls = (node.links.payload_url, node.links.events_url)
    signatures = [url.partition("signature=")[2] for url in urls]
    assert len(logs) == 3
    assert [s for s in (*signatures, encode_payload(node.claim.spec)[:40]) if s in text] == []


async def test_the_harness_may_be_kept_for_ever(door: Door) -> None:
    from kernelbot.server.worker_wiring import harness

    sha256 = hashlib.sha256(harness()).hexdigest()
    answer = await door.stranger.get(f"/api/v1/harness/{sha256}")
    assert (answer.status_code, hashlib.sha256(answer.content).hexdigest()) == (200, sha256)
    assert "immutable" in answer.headers["cache-control"]
    other = await door.stranger.get(f"/api/v1/harness/{'0' * 64}")
    assert (other.status_code, other.json()["code"]) == (404, "not_found")
