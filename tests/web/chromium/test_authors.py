"""What authors do in a real browser: their account, and submitting."""

import re

import pytest
from playwright.sync_api import expect

from kernelbot.accounts.model import NewToken
from kernelbot.accounts.tokens.model import Credential
from kernelbot.web.session import SESSION, csrf_of
from tests.web.chromium.conftest import Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run


def ada(site: Site) -> NewToken:
    return site.live.world.ada


# Each run has test_a_refusal_is_said_in_place_and_the_text_stays (test_workbench.py).
@pytest.mark.opens("/login", "/auth/login", "/auth/cli/github")
@pytest.mark.sends("GET /auth/start/github", "POST /auth/link/discord", "POST /auth/unlink")
def test_people_log_in_with_a_provider_link_another_and_unlink_it(site: Site) -> None:
    site.provider.person = (7, "grace")
    page = site.page()
    page.goto("/login")
    expect(page.get_by_role("button", name="Log in with GitHub")).to_be_visible()
    page.goto("/auth/login?next=/submissions")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Log in with GitHub").click()
    expect(page).to_have_url(f"{site.live.url}/submissions")
    page.get_by_role("link", name="grace").click()
    page.get_by_role("button", name="Link Discord").click()
    expect(page.get_by_role("cell", name="discord:42")).to_be_visible()
    page.get_by_role("button", name="Unlink github").click()
    expect(page.get_by_role("cell", name="github:7")).to_have_count(0)
    page.context.close()


@pytest.mark.opens("/auth/open")
@pytest.mark.sends("POST /auth/open")
def test_a_link_of_a_terminal_logs_the_browser_in(site: Site) -> None:
    world = site.live.world
    made_with = Credential(ada(site).token)
    secret = site.live.call(world.services.logins.make_link(world.ada.user, made_with))
    page = site.page()
    page.goto(f"/auth/open?link={secret}")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Log in as ada").click()
    menu = page.get_by_role("navigation", name="Main")  # boards and records name ada as well
    expect(menu.get_by_role("link", name="ada")).to_be_visible()
    page.context.close()


@pytest.mark.sends("POST /auth/device")
def test_a_code_logs_a_terminal_in(site: Site) -> None:
    page = site.page(ada(site))
    begun = page.request.post("/api/v1/device-logins").json()
    page.goto("/auth/device")
    page.get_by_label("Code").fill(begun["user_code"])
    page.get_by_role("button", name="Log in the terminal").click()
    expect(page.get_by_role("heading", name="Done")).to_be_visible()
    assert [] == site.complaints(page)
    code = {"device_code": begun["device_code"]}
    login = page.request.post("/api/v1/device-logins/poll", data=code).json()["login"]
    user = site.live.call(site.live.world.services.users.authenticate(login["token"]))
    page.context.close()
    assert "ada" == user.name


@pytest.mark.sends("POST /auth/delete")
def test_an_account_is_deleted_by_typing_its_name(site: Site) -> None:
    world = site.live.world
    page = site.page(site.live.call(world.services.users.create("leaver")))
    page.goto("/auth/account")
    name = page.get_by_label("Your name, to confirm")
    name.fill("ada")
    name.press("Enter")
    expect(page.get_by_text("That isn't the account's name.")).to_be_visible()
    page.go_back()
    name.fill("leaver")
    name.press("Enter")
    expect(page.get_by_role("link", name="Log in")).to_be_visible()
    assert [] == site.complaints(page)
    people = site.live.call(world.services.users.list_users(world.admin.user, search="leaver"))
    page.context.close()
    assert [] == people


@pytest.mark.sends("POST /auth/login", "POST /auth/logout")
def test_a_token_opens_the_account_and_logging_out_ends_it(site: Site) -> None:
    page = site.page(script=False)
    page.goto("/auth/login?next=/board/sort")
    page.get_by_label("Token").fill(site.live.world.bob.token)
    page.get_by_role("button", name="Log in with a token").click()
    expect(page).to_have_url(f"{site.live.url}/board/sort")
    page.get_by_role("link", name="bob").first.click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()
    page.context.close()


@pytest.mark.sends("POST /auth/token", "POST /auth/revoke")
def test_a_token_is_made_shown_once_and_revoked(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/auth/account")
    page.get_by_label("Name of a new token").fill("<b>laptop</b>")
    page.get_by_role("button", name="Make a token").click()
    assert page.locator("pre").first.inner_text().startswith("kb_")
    assert [] == site.complaints(page)
    page.get_by_role("link", name="Back to the account").click()
    assert "kb_" not in page.content()
    row = page.locator("tr", has_text="<b>laptop</b>")
    row.get_by_role("button").click()
    expect(page.locator("tr", has_text="<b>laptop</b>")).to_have_count(0)
    page.context.close()


@pytest.mark.sends("POST /submission/1/cancel")
def test_what_waits_is_cancelled(site: Site) -> None:
    made = site.live.call(site.live.world.submit(devices=("H100",)))
    page = site.page(ada(site))
    page.goto(f"/submission/{made.id}")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".big")).to_have_text("Cancelled")
    site.wait_until_told(page, "POST /submission/1/cancel")
    page.context.close()


def test_a_page_says_that_its_submission_was_deleted_meanwhile(site: Site) -> None:
    world = site.live.world
    made = site.live.call(world.submit(devices=("H100",)))
    page = site.page(ada(site))
    page.goto(f"/submission/{made.id}")
    expect(page.get_by_role("button", name="Cancel it")).to_be_visible()
    site.live.call(world.services.deletion.delete_submission(world.ada.user, made.id))
    expect(page.locator("#headline")).to_have_text(re.compile("be shown any more"))
    expect(page.get_by_role("button", name="Cancel it")).to_have_count(0)
    assert [] == site.complaints(page)
    page.context.close()


def test_a_file_is_sent_in_place_of_the_text_and_a_refusal_keeps_the_form(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/board/sort/submit")
    for content in (b"", b"# <script>alert(1)</script>\n"):
        page.get_by_label("H100").check()
        page.get_by_label("A file").set_input_files(
            {"name": "<b>a'; echo x.py", "mimeType": "text/x-python", "buffer": content}
        )
        page.get_by_role("button", name="Submit", exact=True).click()
        if not content:
            expect(page.get_by_role("alert")).to_be_visible()
            assert [] == site.complaints(page)
    expect(page.locator("#report .source")).to_contain_text("# <script>alert(1)</script>")
    page.context.close()


def test_two_authors_follow_their_submissions_at_once(site: Site) -> None:
    world = site.live.world
    pages = [site.page(token) for token in (world.ada, world.bob)]
    code = b"# fake: sleep 0.5 wrong_answer\n"
    for page, token in zip(pages, (world.ada, world.bob), strict=True):
        made = site.live.call(world.submit(token.user, content=code, devices=("CPU",)))
        page.goto(f"/submission/{made.id}")
    for page in pages:
        expect(page.locator(".big")).to_have_text(re.compile("Wrong answer"))
        page.context.close()


def test_a_page_follows_without_a_script(site: Site) -> None:
    page = site.page(ada(site), script=False)
    made = site.live.call(
        site.live.world.submit(content=b"# fake: sleep 0.5 accepted\n", devices=("CPU",))
    )
    page.goto(f"/submission/{made.id}")
    expect(page.locator(".big")).to_have_text(re.compile("Accepted"))
    page.context.close()


def test_a_draft_is_kept_until_its_author_begins_again(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/board/sort/submit")
    editor = page.get_by_role("textbox", name="Code", exact=True)
    loaded = page.locator(".cm-content")  # before, the textarea has the editor's name
    expect(loaded).to_be_visible()
    starter = editor.inner_text()
    editor.fill("# <script> my draft")
    page.goto("/board/sort")
    page.goto("/board/sort/submit")
    expect(loaded).to_be_visible()
    expect(editor).to_have_text("# <script> my draft")
    page.get_by_role("button", name="Begin again").click()
    page.reload()
    expect(loaded).to_be_visible()
    expect(page.get_by_text("This is your draft")).to_be_hidden()
    assert starter == editor.inner_text()
    page.context.close()


def test_a_page_of_another_site_logs_nobody_in(site: Site) -> None:
    """Also not with what the form of a browser without its cookie once held."""
    page = site.page()
    page.set_content(
        f'<form method="post" action="{site.live.url}/auth/login"><button>Win</button>'
        f'<input name="token" value="{ada(site).token}">'
        f'<input name="csrf" value="{csrf_of("")}"></form>'
    )
    page.get_by_role("button", name="Win").click()
    expect(page.get_by_text("This form was sent from another site")).to_be_visible()
    cookies = [cookie.get("name") for cookie in page.context.cookies()]
    page.context.close()
    assert SESSION not in cookies


def test_a_session_revoked_in_another_tab_leads_to_the_login_page(site: Site) -> None:
    world = site.live.world
    token = site.live.call(world.services.tokens.create(world.bob.user, "this browser"))
    page = site.page(NewToken(world.bob.user, token.token))
    page.goto("/auth/account")
    site.live.call(world.services.users.sign_out(token.token))
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Please log in")).to_be_visible()
    page.goto("/auth/account")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.context.close()
