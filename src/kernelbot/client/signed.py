"""Signed results, and the keys that sign them: one method per route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelbot.client.calls import Request, ask, described

if TYPE_CHECKING:
    from kernelbot.attestations.answers import SignedDocument, SigningKeyList


class SignedCalls:
    """Part of the clients."""

    @described
    def attestation(self, submission_id: int) -> Request[SignedDocument]:
        """A submission's results, signed by the platform; `documents.verify` checks them."""
        from kernelbot.attestations.answers import SignedDocument

        return ask(SignedDocument, "GET", f"/submissions/{submission_id}/attestation")

    @described
    def signing_keys(self) -> Request[SigningKeyList]:
        """The public keys of the platform, the newest first."""
        from kernelbot.attestations.answers import SigningKeyList

        return ask(SigningKeyList, "GET", "/signing-keys")

    @described
    def replace_signing_key(self) -> Request[SigningKeyList]:
        """Sign by a new key from now on. For admins."""
        from kernelbot.attestations.answers import SigningKeyList

        return ask(SigningKeyList, "POST", "/signing-keys")
