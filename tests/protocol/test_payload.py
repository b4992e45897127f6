import base64
import json
import zlib

import pytest

from kernelbot.protocol import (
    MAX_PAYLOAD_BYTES,
    VersionMismatch,
    WireError,
    decode_payload,
    encode_payload,
    to_wire,
)
from tests.harness.jobs import SORT, a_job


def packed(content: bytes) -> bytes:
    return base64.b64encode(zlib.compress(content))


def test_a_job_comes_out_as_it_went_in() -> None:
    job = a_job(SORT, secret=True)
    assert decode_payload(encode_payload(job)) == job


def test_a_payload_is_one_word() -> None:
    text = encode_payload(a_job(SORT))
    assert (text.isascii(), len(text.split())) == (True, 1)


def test_blanks_around_it_dont_matter() -> None:
    job = a_job(SORT)
    assert decode_payload(f"\n{encode_payload(job)} \n") == job


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "too early"),
        (b"!!", "base64"),
        ("\xff", "base64"),
        (base64.b64encode(b"not zlib"), "zlib"),
        (packed(b"not json"), "JSON"),
        (packed(b"\xff\xfe"), "JSON"),
        (packed(b"[" * 100_000), "JSON"),
        (packed(b"NaN"), "expected an object"),
        (packed(b'{"version": 1, "job_id": 3}'), "job_id"),
        (base64.b64encode(zlib.compress(b"{}" * 5000)[:-9]), "too early"),
    ],
)
def test_anything_else_is_refused(text: str | bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        decode_payload(text)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(WireError, match="more than 64 MiB"):
        decode_payload(packed(b" " * (MAX_PAYLOAD_BYTES + 1)))


@pytest.mark.exhaustive  # each run has test_a_bomb_is_refused
def test_the_largest_one_is_read() -> None:
    job = a_job(SORT)
    body = json.dumps(to_wire(job)).encode()
    assert job == decode_payload(packed(body.ljust(MAX_PAYLOAD_BYTES)))


def test_another_version_is_told_apart() -> None:
    wire = {**to_wire(a_job(SORT)), "version": 99}
    with pytest.raises(VersionMismatch):
        decode_payload(packed(json.dumps(wire).encode()))
