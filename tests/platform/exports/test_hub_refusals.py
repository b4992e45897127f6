"""What is said of each answer by which the Hub, or its storage, refuses an export."""

from typing import Any

import httpx
import pytest

from kernelbot.platform.exports.hub_refusals import refusal

AGAIN = "Try again: each attempt gets an address of its own, which lasts some minutes."
LONG = "x" * 300


class Refused(Exception):
    """As the client of the Hub raises it."""

    def __init__(self, said: str, response: Any = None) -> None:
        super().__init__(said)
        self.server_message = said
        self.response = response


def answered(status: int, method: str, said: str) -> Refused:
    request = httpx.Request(method, "https://example.org/?signature=secret")
    return Refused(said, httpx.Response(status, request=request))


@pytest.mark.parametrize(
    ("error", "said", "hint"),
    [
        (Refused("no  route\nto host."), "The Hub did not take the export: no route to host.", ""),
        (
            answered(413, "PUT", "too large"),
            "The Hub does not take the export, because 2.5 MB are too much: too large (413).",
            "Export fewer boards at once.",
        ),
        (
            answered(403, "PUT", "<Error><Message>Request has expired</Message></Error>"),
            "The Hub's storage does not take the export any more: Request has expired (403).",
            AGAIN,
        ),
        (answered(403, "POST", "no"), "The Hub did not take the export: no (403).", ""),
        (answered(500, "PUT", ""), "The Hub did not take the export: Refused (500).", ""),
        (answered(500, "PUT", LONG + "x"), f"The Hub did not take the export: {LONG} (500).", ""),
    ],
)
def test_a_refusal_is_a_sentence(error: Refused, said: str, hint: str) -> None:
    found = refusal(error, 2_500_000)
    assert (said, hint) == (str(found), found.hint)
