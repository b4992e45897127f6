import json
from typing import Any

import pytest

from kernelbot.attestations.answers import MAX_BYTES
from kernelbot.attestations.signatures import key_id, public_key
from kernelbot.client.documents import DoesNotFit, verify
from kernelbot.domain.errors import UserError
from tests.support.signed import KEY, RESULT, envelope, text

PUBLIC = public_key(KEY)
OTHER = public_key(b"o" * 32)


def written(document: object) -> bytes:
    return json.dumps(document).encode()


def changed(**more: object) -> bytes:
    """With other values in the signature."""
    document = envelope()
    document["signatures"][0].update(more)
    return written(document)


def test_what_was_signed_is_read() -> None:
    found = verify(written(envelope()))
    assert (12, 0.5, key_id(PUBLIC), False) == (
        found.result.submission_id,
        found.result.score_s,
        found.key_id,
        found.is_pinned,
    )


@pytest.mark.parametrize("key", [text(PUBLIC), key_id(PUBLIC)])
def test_a_key_is_pinned(key: str) -> None:
    assert verify(written(envelope()), key).is_pinned


@pytest.mark.parametrize("key", [text(OTHER), key_id(OTHER)])
def test_another_key_is_not_accepted(key: str) -> None:
    with pytest.raises(DoesNotFit, match="by another key"):
        verify(written(envelope()), key)


@pytest.mark.parametrize("key", ["", "x", text(PUBLIC)[:-4], key_id(PUBLIC).upper(), "é"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(UserError, match="isn't a key"):
        verify(written(envelope()), key)


@pytest.mark.parametrize(
    "content",
    [
        changed(public_key=text(OTHER)),
        changed(sig=text(bytes(64))),
        changed(sig=""),
        changed(public_key=""),
        changed(keyid=key_id(OTHER)),
        written({**envelope(), "payload": text(json.dumps({**RESULT, "score_s": 0.4}).encode())}),
    ],
)
def test_what_does_not_fit(content: bytes) -> None:
    with pytest.raises(DoesNotFit):
        verify(content)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "isn't JSON"),
        (written(envelope())[:-20], "isn't JSON"),
        (b"\xff\xfe{}", "byte 0 isn't UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[]", "must be a table"),
        (b"NaN", "NaN isn't a number"),
        (b'{"payload": "", "payload": ""}', "is there twice"),
        (written({**envelope(), "more": 1}), "more isn't known here"),
        (written({**envelope(), "payload": "%%%"}), "isn't base64"),
        (written({**envelope(), "payload": "é"}), "isn't base64"),
        (written({**envelope(), "payloadType": "text/plain"}), "payloadType must be"),
        (written({**envelope(), "signatures": []}), "at least 1 item"),
        (written({**envelope(), "signatures": 2 * envelope()["signatures"]}), "at most 1 item"),
        (b'"\\ud800"', "can't be read"),
        (b"1" * 5000, "can't be read"),
    ],
)
def test_what_is_no_document(content: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why) as caught:
        verify(content)
    assert not isinstance(caught.value, DoesNotFit)


def payload(**more: Any) -> bytes:
    return json.dumps({**RESULT, **more}).encode()


SYSTEM = {"device": "CPU", "cpu": "c", "os": "o", "python": "3", "torch": None}
RUN: dict[str, Any] = {
    "run_id": 1,
    "device": "CPU",
    "secret": False,
    "rejudge_id": None,
    "verdict": "accepted",
    "finished_at": "2030-01-01T00:00:00Z",
    "score_s": 1,
    "score_ci95_s": None,
    "unverified": False,
    "cases": [],
    "workloads": [],
    "samples_withheld": False,
    "problem": {
        "name": "sort",
        "version": 1,
        "content_sha256": "0" * 64,
        "judging_sha256": "0" * 64,
    },
    "harness": {"kind": "native", "version": None, "sha256": None},
    "system": SYSTEM,
    "sandbox": {"mode": "required", "in_force": [], "missing": []},
}


@pytest.mark.parametrize(
    ("signed", "why"),
    [
        (b"", "isn't JSON"),
        (payload(score_s=float("nan")), "NaN isn't a number"),
        (payload(score_s=1).replace(b'"score_s": 1', b'"score_s": 1e999'), "can't be read"),
        (payload().replace(b"{", b'{"score_s": 1, ', 1), "'score_s' is there twice"),
        (payload(more=1), "more isn't known here"),
        (
            payload(runs=[{**RUN, "system": {**SYSTEM, "more": 1}}]),
            "system.more isn't known here",
        ),
        (payload(runs=[{**RUN, "sandbox": {"mode": "x"}}]), "runs.0.sandbox.in_force is missing"),
        (payload(verdict="best"), "verdict must be"),
    ],
)
def test_what_was_signed_and_is_no_result(signed: bytes, why: str) -> None:
    with pytest.raises(UserError, match=why):
        verify(written(envelope(signed)))


def test_a_huge_document_is_not_read() -> None:
    with pytest.raises(UserError, match="larger than 64 MiB"):
        verify(b" " * (MAX_BYTES + 1))
