"""Signed results, and the keys that sign them: one method per route."""

from kernelbot.attestations.schemas import SignedDocument, SigningKeyList
from kernelbot.client.calls import Caller


class SignedCalls:
    """Part of `KernelbotClient`."""

    def attestation(self: Caller, submission_id: int) -> SignedDocument:
        """A submission's results, signed by the platform; `documents.verify` checks them."""
        return self.ask(SignedDocument, "GET", f"/submissions/{submission_id}/attestation")

    def signing_keys(self: Caller) -> SigningKeyList:
        """The public keys of the platform, the newest first."""
        return self.ask(SigningKeyList, "GET", "/signing-keys")

    def replace_signing_key(self: Caller) -> SigningKeyList:
        """Sign by a new key from now on. For admins."""
        return self.ask(SigningKeyList, "POST", "/signing-keys")
