"""What organisers do in a real browser: each form is filled in and sent, and its effect is seen."""

import importlib.util
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from kernelbot.moderation.reviews import service as reviews
from kernelbot.moderation.reviews import store
from kernelbot.moderation.reviews.model import Evidence
from tests.catalog.test_single_cuda import REFERENCE
from tests.support.world import World
from tests.web.chromium.conftest import Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

NEW = "/organise/board/new-one"
SORT = "/organise/board/sort"
exported = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="exports are an extra"
)


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """The admin's, at the boards."""
    page = site.page(site.live.world.admin)
    page.goto("/organise")
    yield page
    page.context.close()


def done(page: Page, text: str) -> None:
    """Expect this to be said at the top of the page."""
    expect(page.get_by_role("status")).to_contain_text(text)


@pytest.mark.sends(
    "POST /organise/new/reference",
    f"POST {NEW}/edit",
    f"POST {NEW}/end",
    f"POST {NEW}/reopen",
    f"POST {NEW}/delete",
)
def test_a_board_from_its_reference_file_to_its_deletion(site: Site, page: Page) -> None:
    page.get_by_role("link", name="Make a board").click()
    form = page.get_by_role("region", name="From a reference file")
    form.get_by_label("Name").fill("new-one")
    form.get_by_label("Reference file").set_input_files(
        {"name": "reference.cu", "mimeType": "text/plain", "buffer": REFERENCE.encode()}
    )
    form.get_by_label("Deadline, in UTC").fill("2040-01-31T12:00")
    form.get_by_label("H100").check()
    form.get_by_role("button", name="Make the board").click()
    done(page, "The board is open.")

    page.get_by_label("Who sees it").select_option("closed")
    page.get_by_label("Everyone may read the code").check()
    page.get_by_role("button", name="Save").first.click()
    done(page, "It is saved.")
    expect(page.get_by_label("Who sees it")).to_have_value("closed")
    expect(page.get_by_label("Everyone may read the code")).to_be_checked()

    page.get_by_text("End it now").click()
    page.get_by_role("button", name="Yes, end").click()
    done(page, "The board has ended")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Accept submissions again").click()
    done(page, "without a deadline")

    page.get_by_label("name, to confirm").fill("new-one")
    page.get_by_role("button", name="Delete the board").click()
    done(page, "The board is deleted")
    expect(page.get_by_role("link", name="new-one")).to_have_count(0)


@pytest.mark.sends("POST /organise/new/folder")
def test_a_board_from_a_folder_of_the_server(page: Page) -> None:
    page.goto("/organise/new")
    page.get_by_role("combobox", name="Folder").select_option("sort_np")
    page.get_by_role("region", name="From a folder").get_by_role("button").first.click()
    done(page, "The board is open.")
    expect(page.get_by_role("heading", level=1)).to_have_text("sort_np-dev")


@pytest.mark.opens(f"{SORT}/invites.txt")
@pytest.mark.sends(f"POST {SORT}/invites", f"POST {SORT}/invites/revoke")
def test_invites_are_made_downloaded_and_revoked(page: Page) -> None:
    page.goto(f"{SORT}/invites")
    page.get_by_label("How many").fill("2")
    page.get_by_role("button", name="Make invites").click()
    done(page, "The invites are made")
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download the unclaimed").click()
    assert 2 == len(begun.value.path().read_text().splitlines())
    page.get_by_role("button", name="Revoke").first.click()
    done(page, "The invite is revoked.")
    expect(page.get_by_role("button", name="Revoke")).to_have_count(1)


async def _disable(world: World) -> None:
    async with world.database.write() as session:
        await session.do("UPDATE webhooks SET disabled_at = now(), disabled_reason = 'It is gone.'")


@pytest.mark.sends(
    f"POST {SORT}/webhooks",
    f"POST {SORT}/webhooks/1/test",
    f"POST {SORT}/webhooks/1/enable",
    f"POST {SORT}/webhooks/1/delete",
)
def test_a_webhook_is_made_tried_enabled_and_deleted(site: Site, page: Page) -> None:
    page.goto(f"{SORT}/webhooks")
    page.get_by_label("Address").fill("https://ci.example.org/?a='<b>")
    page.get_by_label("ranking.record").uncheck()
    page.get_by_role("button", name="Make a webhook").click()
    assert page.get_by_label("The secret").inner_text().startswith("whsec_")
    assert [] == site.complaints(page)
    page.get_by_role("link", name="To the webhook").click()
    page.get_by_role("button", name="Try it").click()
    done(page, "A message is on its way.")
    expect(page.get_by_role("cell", name="webhook.test")).to_be_visible()
    site.live.call(_disable(site.live.world))
    page.get_by_role("link", name="Boards", exact=True).last.click()
    expect(page.get_by_text("It is gone.")).to_be_visible()
    assert [] == site.complaints(page)
    page.get_by_role("link", name="See webhook").click()
    page.get_by_role("button", name="Enable it again").click()
    done(page, "The webhook is told again.")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Delete it").click()
    done(page, "The webhook is deleted.")


async def _hold(world: World) -> list[int]:
    """Two submissions of bob's, which are held with hostile evidence."""
    numbers = []
    for number in range(2):
        made = await world.submit(world.bob.user, content=f"# {number}".encode(), devices=("H100",))
        async with world.database.write() as session:
            found = Evidence("tool", "<b>RULE</b>", "high", "<script>alert(1)</script>\u202e")
            await reviews.hold_if_suspicious(session, made.id, ("Its clock ran backwards.",))
            await store.add_evidence(session, made.id, [found])
        numbers.append(made.id)
    return numbers


@pytest.mark.sends(
    "POST /organise/submission/1/release",
    "POST /organise/submission/1/refuse",
    "POST /organise/submission/1/delete",
    "GET /organise/submissions",
    "POST /organise/submissions/delete",
)
def test_held_submissions_are_decided_and_deleted(site: Site, page: Page) -> None:
    first, second = site.live.call(_hold(site.live.world))
    for number, decision in ((first, "Release"), (second, "Refuse")):
        page.goto("/organise/held")
        assert [] == site.complaints(page)
        page.get_by_role("link", name=f"Submission {number}").click()
        assert [] == site.complaints(page)
        page.get_by_label("Your reason").fill("I read it.")
        page.get_by_role("button", name=decision).click()
        done(page, f"The submission is {decision.lower()}")
    expect(page.get_by_text("Nothing is held")).to_be_visible()

    page.goto(f"/organise/submission/{first}")
    page.get_by_text("Delete it").first.click()
    page.get_by_label("Its number").fill(str(first))
    page.get_by_role("button", name="Delete it").click()
    done(page, "The submission is deleted")

    page.get_by_role("combobox", name="Board").select_option("sort")
    page.get_by_label("Author").fill("bob")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name=str(second), exact=True)).to_be_visible()
    assert [] == site.complaints(page)
    page.get_by_text("Delete all of bob").click()
    page.get_by_label("name, to confirm").fill("bob")
    page.get_by_role("button", name="Delete them all").click()
    done(page, "Their submissions are deleted")
    expect(page.get_by_role("link", name="bob")).to_have_count(0)


@pytest.mark.sends("POST /organise/queue/pause", "POST /organise/queue/resume")
def test_submissions_are_paused_and_resumed(site: Site, page: Page) -> None:
    page.goto("/organise/queue")
    page.get_by_label("Reason").fill("<b>The cooling is broken</b>")
    page.get_by_role("button", name="Pause submissions").click()
    done(page, "No submissions are accepted")
    expect(page.get_by_text("<b>The cooling is broken</b>")).to_be_visible()
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Accept submissions again").click()
    done(page, "Submissions are accepted again.")


@pytest.mark.sends(
    "POST /organise/people",
    "GET /organise/people",
    "POST /organise/people/1/rename",
    "POST /organise/people/1/role",
    "POST /organise/people/1/ban",
    "POST /organise/people/1/unban",
    "POST /organise/people/1/delete",
    "GET /organise/audit",
)
def test_an_account_from_its_making_to_its_deletion(site: Site, page: Page) -> None:
    page.goto("/organise/people")
    page.get_by_label("Name", exact=True).fill("newcomer")
    page.get_by_role("button", name="Make the account").click()
    assert page.get_by_label("The token").inner_text().startswith("kb_")
    assert [] == site.complaints(page)

    page.goto("/organise/people")
    page.get_by_label("Part of a name").fill("newco")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="newcomer", exact=True).click()
    page.get_by_label("New name").fill("regular")
    page.get_by_role("button", name="Rename").click()
    done(page, "The account has its new name.")
    page.get_by_role("combobox", name="Role").select_option("creator")
    page.get_by_role("button", name="Change").click()
    done(page, "Their role has changed.")
    page.get_by_label("Reason").fill("<i>no reason</i>")
    page.get_by_role("button", name="Ban regular").click()
    done(page, "They are banned")
    assert [] == site.complaints(page)
    page.get_by_role("button", name="End the ban").click()
    done(page, "The ban has ended")
    page.get_by_label("name, to confirm").fill("regular")
    page.get_by_role("button", name="Delete it").click()
    done(page, "The account is deleted")

    page.get_by_role("link", name="Log", exact=True).click()
    page.get_by_label("Did").fill("user.ban")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("<i>no reason</i>")).to_have_count(1)
    expect(page.get_by_text("user.rename")).to_have_count(0)


@exported
@pytest.mark.opens("/organise/statistics/times.svg")
@pytest.mark.sends("GET /organise/statistics", "POST /organise/export", "POST /organise/export/hub")
def test_statistics_are_narrowed_and_exported(site: Site, page: Page) -> None:
    page.goto("/organise/statistics")
    page.get_by_role("combobox", name="Board").select_option("sort")
    page.get_by_label("Only the last 24 hours").check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Export of sort")).to_be_visible()
    expect(page.get_by_label("Only the last 24 hours")).to_be_checked()
    for picture in page.locator("img.chart").all():
        picture.evaluate("one => one.decode()")
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download as Parquet").click()
    assert b"PAR1" == begun.value.path().read_bytes()[:4]
    page.get_by_role("button", name="Upload it").click()
    expect(page.get_by_role("heading", name="Uploaded")).to_be_visible()
    assert [] == site.complaints(page)
    assert ["sort.parquet"] == [
        name for one in site.hub.datasets.values() for name in one.files if "sort" in name
    ]
