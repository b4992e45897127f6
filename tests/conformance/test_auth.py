"""`popcorn register` against a host whose OAuth app isn't the one the client has built in."""

from collections.abc import Iterator

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
    answer = httpx.get(f"{target.url}/auth/init?provider=github", timeout=60)
    assert not answer.is_success
    assert answer.headers["content-type"].startswith("text/plain")


def test_an_unknown_provider_is_refused(target: Target) -> None:
    answer = httpx.get(f"{target.url}/auth/init?provider=carrier-pigeon", timeout=60)
    assert 400 == answer.status_code


@pytest.mark.parametrize("provider", ["discord", "github"])
@pytest.mark.parametrize(
    "query",
    [
        # As an attacker who began with such a client would send it to a victim.
        "code=abc&state=eyJjbGlfaWQiOiAiYXR0YWNrZXIiLCAiaXNfcmVzZXQiOiBmYWxzZX0",
        "code=abc&state=",
        "state=abc",
        "code=abc",
        "error=access_denied&state=abc",
        "code=abc&state=" + "a" * 900,
        "code=%00&state=%00",
        "code=a&code=b&state=c&state=d",
        "",
    ],
)
def test_a_link_made_by_somebody_else_binds_nothing(
    target: Target, provider: str, query: str
) -> None:
    answer = httpx.get(f"{target.url}/auth/cli/{provider}?{query}", timeout=60)
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["detail"], str)
    assert not [cookie for cookie in answer.cookies if "session" in cookie]


def test_a_login_with_a_provider_that_is_none(target: Target) -> None:
    answer = httpx.get(f"{target.url}/auth/cli/carrier-pigeon?code=abc&state=abc", timeout=60)
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["detail"], str)


class TestOurOwnClientIds:
    """A login that began on our own page, with providers that speak OAuth."""

    @pytest.fixture
    def browsers(self, target: Target) -> Iterator[tuple[httpx.Client, httpx.Client]]:
        """Two people's."""
        if target.outside is None:
            pytest.skip("nobody can say yes at another server's providers")
        with (
            httpx.Client(base_url=target.url, timeout=60) as one,
            httpx.Client(base_url=target.url, timeout=60) as two,
        ):
            yield one, two

    @staticmethod
    def callback(browser: httpx.Client, provider: str) -> str:
        """Begin here and say yes there: the link back."""
        page = browser.get(f"/auth/start/{provider}").headers["location"]
        return httpx.get(page, timeout=60).headers["location"]

    @pytest.mark.parametrize("provider", ["discord", "github"])
    def test_it_is_finished_once(
        self, browsers: tuple[httpx.Client, httpx.Client], provider: str
    ) -> None:
        browser, _ = browsers
        link = self.callback(browser, provider)
        first, second = browser.get(link), browser.get(link)
        shown = browser.get("/auth/account")
        assert (303, 400, 200) == (first.status_code, second.status_code, shown.status_code)

    @pytest.mark.parametrize("provider", ["discord", "github"])
    def test_another_browser_gets_nothing_from_it(
        self, browsers: tuple[httpx.Client, httpx.Client], provider: str
    ) -> None:
        attacker, victim = browsers
        link = self.callback(attacker, provider)
        self.callback(victim, provider)  # so that it is in the middle of a login of its own
        answer = victim.get(link)
        assert 400 == answer.status_code
        assert 303 == victim.get("/auth/account").status_code  # to the login page
