import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.attestations.signatures import fits, key_id, new_private_key, public_key, sign

# The key of the first test of RFC 8032, 7.1.
PRIVATE = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


def test_the_public_key_is_that_of_the_standard() -> None:
    assert PUBLIC == public_key(PRIVATE)


def test_what_is_signed_is_the_encoding_of_dsse() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    # The example of the protocol's own specification.
    signed = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    signature = sign(PRIVATE, "http://example.com/HelloWorld", b"hello world")
    Ed25519PublicKey.from_public_bytes(PUBLIC).verify(signature, signed)


@given(st.text(max_size=20), st.binary(max_size=100))
def test_what_was_signed_fits(payload_type: str, payload: bytes) -> None:
    assert fits(PUBLIC, sign(PRIVATE, payload_type, payload), payload_type, payload)


@given(st.binary(min_size=1, max_size=50), st.data())
def test_one_changed_bit_does_not_fit(payload: bytes, data: st.DataObject) -> None:
    signature = sign(PRIVATE, "a", payload)
    place = data.draw(st.integers(0, 8 * len(payload) - 1))
    changed = bytearray(payload)
    changed[place // 8] ^= 1 << place % 8
    assert not fits(PUBLIC, signature, "a", bytes(changed))


@pytest.mark.parametrize("public", [b"", PUBLIC[:-1], PUBLIC + b"\0", bytes(32), b"\xff" * 32])
def test_what_is_no_key_fits_nothing(public: bytes) -> None:
    assert not fits(public, sign(PRIVATE, "a", b"b"), "a", b"b")


@pytest.mark.parametrize("signature", [b"", bytes(63), bytes(64), bytes(65), b"\xff" * 64])
def test_what_is_no_signature_does_not_fit(signature: bytes) -> None:
    assert not fits(PUBLIC, signature, "a", b"b")


def test_the_type_and_the_payload_cannot_flow_into_each_other() -> None:
    assert not fits(PUBLIC, sign(PRIVATE, "ab", b"c"), "a", b"bc")


def test_keys_differ() -> None:
    assert 2 == len({key_id(public_key(new_private_key())) for _ in range(2)})
