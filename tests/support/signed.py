"""Documents that anybody could have signed."""

import base64
import json
import statistics
from typing import Any

from kernelbot.attestations.answers import PAYLOAD_TYPE
from kernelbot.attestations.signatures import key_id, public_key, sign

KEY = b"k" * 32
RESULT: dict[str, Any] = {
    "submission_id": 12,
    "board": "a'; echo x",
    "author": "ada\x1b[31m",
    "mode": "leaderboard",
    "submitted_at": "2027-01-31T12:00:00Z",
    "source": {"file_name": "fast.py", "sha256": "ab" * 32},
    "review": "clear",
    "verdict": "accepted",
    "score_s": 0.5,
    "runs": [],
    "signed_at": "2027-01-31T12:00:01Z",
}


def workload(samples_ns: list[float], **more: Any) -> dict[str, Any]:
    """A workload of a signed run, of fewer than six samples, whose interval is all of them."""
    return {
        "phase": "leaderboard",
        "workload": 0,
        "spec": None,
        "median_ns": statistics.median(samples_ns),
        "ci95_ns": [min(samples_ns), max(samples_ns)],
        "stopped_by": "precision",
        "empty_call_ns": None,
        "anchor_ns": None,
        "drift_factors": [],
        "samples_ns": samples_ns,
        **more,
    }


def run(workloads: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A signed run with a score of 0.5 s, from 0.4 s to 0.6 s. `more`: other values of it."""
    problem = {"name": "sort", "version": 1, "ranking_by": more.pop("ranking_by", "mean")}
    return {
        "run_id": 7,
        "device": "CPU",
        "secret": True,
        "rejudge_id": None,
        "finished_at": "2027-01-31T12:00:00Z",
        "verdict": "accepted",
        "score_s": 0.5,
        "score_ci95_s": [0.4, 0.6],
        "unverified": False,
        "problem": {**problem, "content_sha256": "cd" * 32, "judging_sha256": "ef" * 32},
        "harness": {"kind": more.pop("kind", "native"), "version": "0.1.0", "sha256": None},
        "system": {"device": "CPU", "cpu": "", "os": "", "python": "", "torch": None},
        "sandbox": {"mode": "required", "in_force": [], "missing": []},
        "cases": [],
        "workloads": workloads,
        "samples_withheld": False,
        **more,
    }


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def envelope(payload: bytes | None = None, *, key: bytes = KEY) -> dict[str, Any]:
    """A signed document, by default of `RESULT`."""
    payload = json.dumps(RESULT).encode() if payload is None else payload
    public = public_key(key)
    signature = text(sign(key, PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": text(payload),
        "signatures": [{"keyid": key_id(public), "sig": signature, "public_key": text(public)}],
    }
