"""`popcorn register` against a host whose OAuth app isn't the one the client has built in."""

import httpx
import pytest

from tests.conformance.popcorn_cli import ClientFailure, PopcornCli
from tests.conformance.target import Target


@pytest.mark.parametrize("provider", ["discord", "github"])
def test_the_client_is_told_how_to_get_a_token_instead(stranger: PopcornCli, provider: str) -> None:
    with pytest.raises(ClientFailure) as failure:
        stranger.auth_init(provider)
    assert failure.value.status is not None
    assert ".popcorn.yaml" in str(failure.value)


def test_the_instructions_are_plain_text_because_they_are_printed_as_they_are(
    target: Target,
) -> None:
    answer = httpx.get(f"{target.url}/auth/init?provider=github")
    assert not answer.is_success
    assert answer.headers["content-type"].startswith("text/plain")


def test_an_unknown_provider_is_refused(target: Target) -> None:
    answer = httpx.get(f"{target.url}/auth/init?provider=carrier-pigeon")
    assert 400 == answer.status_code


@pytest.mark.parametrize("provider", ["discord", "github"])
def test_a_link_made_by_somebody_else_binds_nothing(target: Target, provider: str) -> None:
    """A state that this browser didn't begin with, as an attacker would send it to a victim."""
    state = "eyJjbGlfaWQiOiAiYXR0YWNrZXIiLCAiaXNfcmVzZXQiOiBmYWxzZX0"
    answer = httpx.get(f"{target.url}/auth/cli/{provider}?code=abc&state={state}")
    assert 400 <= answer.status_code < 500
