from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.runs.nodes.signed_links import Purpose, Signed, is_genuine, sign

KEY = b"k" * 32
SIGNED = sign(KEY, Purpose.PAYLOAD, "12.1.0123456789ab", 1_800_000_000)


@given(st.binary(min_size=1), st.sampled_from(Purpose), st.text(), st.integers(min_value=0))
def test_what_we_signed_is_genuine(key: bytes, purpose: Purpose, subject: str, until: int) -> None:
    assert is_genuine(key, purpose, sign(key, purpose, subject, until))


@pytest.mark.parametrize(
    "shown",
    [
        replace(SIGNED, subject="12.2.0123456789ab"),
        replace(SIGNED, expires_at=SIGNED.expires_at + 1),
        replace(SIGNED, signature=""),
        replace(SIGNED, signature=SIGNED.signature[:-1]),
        replace(SIGNED, signature=SIGNED.signature.upper()),
        replace(SIGNED, signature="a'; echo x\udc80"),
        replace(SIGNED, subject="12.1.0123456789ab\n1", expires_at=800_000_000),
    ],
)
def test_nothing_else_is(shown: Signed) -> None:
    assert not is_genuine(KEY, Purpose.PAYLOAD, shown)


def test_a_signature_is_for_one_purpose_and_by_one_key() -> None:
    assert not is_genuine(KEY, Purpose.EVENTS, SIGNED)
    assert not is_genuine(b"another", Purpose.PAYLOAD, SIGNED)
