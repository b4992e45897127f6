"""A certificate authority, and one client that it knows."""

import datetime
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """All of it in PEM."""

    certificate: bytes
    client_certificate: bytes
    client_key: bytes

    @classmethod
    def make(cls, name: str) -> "Authority":
        """Valid for a day."""
        key, client = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        own = _certificate(name, key, name, key, authority=True)
        other = _certificate("client", client, name, key, authority=False)
        return cls(
            own.public_bytes(Encoding.PEM),
            other.public_bytes(Encoding.PEM),
            client.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        )


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
    *,
    authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .sign(signer, SHA256())
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
