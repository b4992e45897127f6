"""Forms of other sites' pages are refused, whatever they hold."""

import re

import httpx
import pytest

from kernelbot.api.settings import ApiSettings
from kernelbot.web.session import BROWSER, SESSION, csrf_of
from kernelbot.web.site import create_site
from tests.support.applications import application
from tests.support.front import Front, browser_of, csrf_for, session_of
from tests.support.world import World
from tests.web.chromium.inventory import routes

FORMS = sorted(route.path for route in routes() if route.method == "POST")
OTHER_METHODS = sorted(
    str(route) for route in routes() if route.method not in ("GET", "HEAD", "POST")
)
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://test.evil.example"},
    {"Origin": "http://test:8000"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://"},
    {"Origin": "http://["},
    {"Origin": "http://test:x"},
    {"Origin": "file://test"},
    {"Origin": "http://evil.example@test.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://test"},
]
OURS: list[dict[str, str]] = [
    {},
    {"Origin": "http://test"},
    {"Origin": "http://TEST:80"},
    {"Origin": "https://test"},  # a proxy speaks TLS
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://behind.a.proxy"},
]
PATH = "/auth/revoke"
"""A form that answers 404 when it is taken, and so can be sent again."""


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


def was_refused(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and "This form was sent from" in answer.text


async def send(
    browser: httpx.AsyncClient, headers: dict[str, str], path: str = PATH
) -> httpx.Response:
    """A form that holds its secret."""
    return await browser.post(path, data=csrf_for(browser), headers=headers)


def test_there_is_no_method_for_browsers_beside_post() -> None:
    assert [] == OTHER_METHODS


async def test_no_form_at_all_is_taken_from_another_site(front: Front) -> None:
    headers = {"Origin": "https://evil.example"}
    answers = {path: await send(front.admin, headers, filled(path)) for path in FORMS}
    assert [] == [path for path, answer in answers.items() if not was_refused(answer)]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_what_a_browser_says_of_another_site_is_enough(
    front: Front, headers: dict[str, str]
) -> None:
    answers = [await send(front.ada, headers), await send(front.stranger, headers, "/auth/login")]
    assert [True, True] == [was_refused(answer) for answer in answers]


@pytest.mark.parametrize("headers", OURS, ids=str)
async def test_our_own_forms_are_taken(front: Front, headers: dict[str, str]) -> None:
    assert 404 == (await send(front.ada, headers)).status_code


@pytest.mark.parametrize("headers", OURS, ids=str)
async def test_a_form_without_its_secret_is_refused_wherever_it_says_it_is_from(
    front: Front, headers: dict[str, str]
) -> None:
    assert 403 == (await front.ada.post(PATH, headers=headers)).status_code


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"Origin": "https://kernels.example"}, False),
        ({"Origin": "https://KERNELS.example:443"}, False),
        ({"Origin": "http://kernels.example", "Host": "kernels.example"}, True),
        ({"Origin": "https://kernels.example:444"}, True),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "http://10.0.0.5:8000", "Host": "10.0.0.5:8000"}, False),
    ],
    ids=str,
)
async def test_a_configured_address_counts_and_the_one_that_was_asked(
    world: World, headers: dict[str, str], refused: bool
) -> None:
    settings = ApiSettings(public_url="https://kernels.example/")
    app = application(create_site, world.services, settings)
    session = await session_of(world, world.ada)
    async with browser_of(app) as browser:
        cookies = {"Cookie": f"__Host-{SESSION}={session}"}
        answer = await browser.post(
            PATH, data={"csrf": csrf_of(session)}, headers=headers | cookies
        )
    assert (refused, 403 if refused else 404) == (was_refused(answer), answer.status_code)


async def test_programs_with_tokens_are_not_asked_where_they_are(front: Front) -> None:
    headers = {
        "Origin": "https://dashboard.example",
        "Sec-Fetch-Site": "cross-site",
        "Authorization": f"Bearer {front.world.ada.token}",
    }
    answer = await front.stranger.post("/api/v1/tokens", json={"name": "x"}, headers=headers)
    assert 201 == answer.status_code


@pytest.mark.parametrize("cookie", [None, "", "x", "a" * 42, "é" * 43, "a b" * 20])
async def test_the_login_form_needs_a_secret_of_ours(front: Front, cookie: str | None) -> None:
    sent = [] if cookie is None else [(b"Cookie", f"{BROWSER}={cookie}".encode())]
    data = {"token": front.world.ada.token, "csrf": csrf_of(cookie or "")}
    answer = await front.stranger.post("/auth/login", data=data, headers=sent)
    assert (403, None) == (answer.status_code, answer.cookies.get(SESSION))
