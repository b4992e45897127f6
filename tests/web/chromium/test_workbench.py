"""The page to work on, in a real browser: statement, editor and result side by side."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from kernelbot.accounts.model import NewToken
from kernelbot.submissions.model import Submission
from tests.support.workers import finished
from tests.web.chromium.conftest import DESKTOP, PHONE, Site

pytestmark = pytest.mark.each_run("test_a_refusal_is_said_in_place_and_the_text_stays")

FAILS = (
    "# fake: runtime_error\n"
    '# tells: Traceback (most recent call last):\\n  File "submission.py", line 4, in f\\nE: <b>\n'
    "def custom_kernel(data):\n"
    "    return 1 / 0\n"
)
SUBMIT = "/board/sort/submit"
LATE = ("codemirror", "uplot", "chart.js")
"""What pages load once they can be read: the editor, and a board's chart."""
_PASTE = """(editor, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  editor.dispatchEvent(new ClipboardEvent("paste", options));
}"""


def ada(site: Site) -> NewToken:
    return site.live.world.ada


def opened(site: Site, path: str = SUBMIT, **options: Any) -> tuple[Page, list[str]]:
    """The page with its editor, and what the browser complains of."""
    page = site.page(ada(site), **options)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path)
    expect(page.locator(".cm-content")).to_be_visible()  # before, the textarea has its name
    return page, said


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Code", exact=True)


def replace_text(page: Page, text: str) -> None:
    """Paste the text over what is there."""
    editor(page).click()
    page.keyboard.press("Control+A")
    editor(page).evaluate(_PASTE, text)


def choose(page: Page, mode: str = "Test", device: str = "CPU") -> None:
    page.get_by_label(mode).check()
    for box in page.locator("input[name=device]").all():
        box.set_checked(box.input_value() == device)


def judged(page: Page, verdict: str) -> int:
    """The number of the submission whose report the result shows, once it is judged so."""
    expect(page.locator("#result .big")).to_have_text(re.compile(verdict))
    path = page.locator(".result-head a").get_attribute("href") or ""
    return int(path.rpartition("/")[2])


def fetched(site: Site, number: int) -> Submission:
    world = site.live.world
    return site.live.call(world.services.submissions.get(world.ada.user, number))


@pytest.mark.opens("/submission/1/live")
def test_the_keyboard_alone_edits_submits_and_reads_the_result(site: Site, tmp_path: Path) -> None:
    page, said = opened(site)
    seen = tmp_path / "seen"
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.get_by_label("Test").focus()
    page.keyboard.press("Space")
    for device in ("H100", "CPU"):
        page.get_by_label(device).focus()
        page.keyboard.press("Space")
    replace_text(page, f"# fake: until {seen} accepted")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_label("File name")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("mine.py")
    editor(page).focus()
    page.evaluate("window.stays = true")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_have_text("Being judged")
    seen.touch()
    number = judged(page, "Accepted")
    assert (True, "mine.py") == (page.evaluate("window.stays"), fetched(site, number).file_name)
    expect(page).to_have_title(re.compile(rf"Accepted.* · Submission {number} · KernelBot"))
    assert ([], []) == (site.complaints(page), said)
    page.context.close()


@pytest.mark.sends("POST /board/sort/submit")
def test_without_a_script_it_is_a_form(site: Site) -> None:
    page = site.page(ada(site), script=False)
    page.goto(SUBMIT)
    choose(page)
    page.get_by_label("Code", exact=True).fill("# fake: accepted")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page).to_have_url(re.compile(r"/submission/\d+$"))
    expect(page.locator(".big")).to_have_text(re.compile("Accepted"))
    page.context.close()


@pytest.mark.opens(SUBMIT)
def test_an_error_is_marked_at_its_line(site: Site) -> None:
    page, said = opened(site)
    choose(page)
    replace_text(page, FAILS)
    page.get_by_role("button", name="Submit", exact=True).click()
    judged(page, "Runtime error")
    expect(page.locator(".cm-place.error")).to_have_count(1)
    expect(page.locator(".cm-placed-error")).to_have_text("    return 1 / 0")
    page.get_by_role("link", name="Line 4").click()
    expect(editor(page)).to_be_focused()
    assert ([], []) == (site.complaints(page), said)
    page.context.close()


def test_tab_indents_and_leaves_after_escape(site: Site) -> None:
    page, _ = opened(site)
    replace_text(page, "x")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(editor(page)).to_have_text("    x")
    page.keyboard.press("Shift+Tab")
    expect(editor(page)).to_have_text("x")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    expect(editor(page)).not_to_be_focused()
    page.context.close()


def test_dividers_move_by_mouse_and_keyboard_and_stay_there(site: Site) -> None:
    page, _ = opened(site)
    divider = page.get_by_role("separator", name="Width of Statement")
    before = page.locator("#pane-statement").bounding_box()
    assert before is not None
    divider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert "37" == divider.get_attribute("aria-valuenow")
    box = divider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 104, box["y"] + 100, steps=5)
    page.mouse.up()
    page.keyboard.press("Shift")
    moved = int(divider.get_attribute("aria-valuenow") or 0)
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", str(moved))
    for key, share in (("Home", "15"), ("End", str(70 - 15))):
        divider.focus()
        page.keyboard.press(key)
        assert share == divider.get_attribute("aria-valuenow")
    assert moved > 40
    page.context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_one_part_at_a_time(site: Site, dark: bool) -> None:
    page, said = opened(site, size=PHONE, dark=dark)
    expect(page.get_by_role("tabpanel")).to_have_count(1)
    wrong = {}
    for name, part in (("Result", "result"), ("Statement", "statement"), ("Your code", "code")):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(f"#pane-{part}")).to_be_visible()
        wrong[name] = site.complaints(page)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Statement")).to_be_focused()
    assert ({"Result": [], "Statement": [], "Your code": []}, []) == (wrong, said)
    page.context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_marks_changes_and_search_can_be_read_in_both_themes(site: Site, dark: bool) -> None:
    page, said = opened(site, dark=dark)
    choose(page)
    replace_text(page, FAILS)
    page.get_by_role("button", name="Submit", exact=True).click()
    judged(page, "Runtime error")
    page.get_by_role("button", name="Changes").click()
    expect(page.locator(".cm-deletedChunk").first).to_be_visible()
    editor(page).focus()
    page.keyboard.press("Control+F")
    expect(page.locator(".cm-search")).to_be_visible()
    assert ([], []) == (site.complaints(page), said)
    page.get_by_role("button", name="Changes").click()
    expect(page.locator(".cm-deletedChunk")).to_have_count(0)
    page.context.close()


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("# fake: accepted\r\nx = 1\r\n", "# fake: accepted\nx = 1\n"),
        ("# fake: accepted\n\tx\t= '\\t'\n", "# fake: accepted\n\tx\t= '\\t'\n"),
        ("# fake: accepted\n# \u202eshalom \u05e9\u05dc\u05d5\u05dd\n", None),
        ("# fake: accepted\n# <script>alert(1)</script> </textarea> \U0001f600 \u2028\n", None),
    ],
)
def test_strange_text_is_sent_as_it_was_typed(site: Site, typed: str, sent: str | None) -> None:
    page, said = opened(site)
    choose(page)
    replace_text(page, typed)
    page.get_by_role("button", name="Submit", exact=True).click()
    number = judged(page, "Accepted")
    assert ((sent or typed), []) == (fetched(site, number).code, said)
    page.context.close()


def test_a_file_with_a_byte_order_mark_goes_into_the_editor(site: Site) -> None:
    page, _ = opened(site)
    choose(page)
    content = b"\xef\xbb\xbf# fake: accepted\r\nx = 1\r\n"
    page.get_by_label("A file").set_input_files(
        {"name": "a'; echo.py", "mimeType": "text/x-python", "buffer": content}
    )
    expect(page.get_by_label("File name")).to_have_value("a'; echo.py")
    page.get_by_role("button", name="Submit", exact=True).click()
    number = judged(page, "Accepted")
    assert "# fake: accepted\nx = 1\n" == fetched(site, number).code
    page.context.close()


def test_a_file_that_is_no_text_is_sent_and_refused_in_place(site: Site) -> None:
    page, _ = opened(site)
    before = editor(page).inner_text()
    page.get_by_label("A file").set_input_files(
        {"name": "a.py", "mimeType": "text/x-python", "buffer": b"\xff\xfe\x00"}
    )
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("UTF-8")
    assert (before, []) == (editor(page).inner_text(), site.complaints(page))
    page.context.close()


def test_a_megabyte_is_edited_and_sent(site: Site) -> None:
    """Only the lines on the screen are in the page, so that typing stays quick. As a form's field,
    whose lines end in two characters, it would be larger than such a field may be."""
    page, said = opened(site)
    choose(page)
    lines = "x = 'twenty-four bytes'\n" * 42_000
    page.get_by_label("A file").set_input_files(
        {
            "name": "big.py",
            "mimeType": "text/x-python",
            "buffer": b"# fake: accepted\n" + lines.encode(),
        }
    )
    expect(page.get_by_label("File name")).to_have_value("big.py")
    editor(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("y = 2")
    assert page.locator(".cm-line").count() < 500
    page.get_by_role("button", name="Changes").click()
    page.get_by_role("button", name="Submit", exact=True).click()
    number = judged(page, "Accepted")
    code = fetched(site, number).code or ""
    assert (True, []) == (code.endswith(lines[-60:] + "y = 2"), said)
    page.context.close()


def test_a_refusal_is_said_in_place_and_the_text_stays(site: Site) -> None:
    page, _ = opened(site)
    choose(page)
    for name in ("<b>mine</b>.exe", "mine.py"):
        replace_text(page, "# fake: accepted")
        page.get_by_label("File name").fill(name)
        page.get_by_role("button", name="Submit", exact=True).click()
        if name.endswith(".exe"):
            expect(page.get_by_role("alert")).to_contain_text("must end in")
            expect(editor(page)).to_have_text("# fake: accepted")
            assert [] == site.complaints(page)
    judged(page, "Accepted")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.context.close()


def test_each_submission_of_one_page_is_another(site: Site) -> None:
    page, _ = opened(site)
    choose(page)
    numbers = set()
    for text in ("# fake: accepted", "# fake: wrong_answer"):
        replace_text(page, text)
        page.get_by_role("button", name="Submit", exact=True).click()
        numbers.add(judged(page, "Accepted" if text.endswith("accepted") else "Wrong answer"))
    page.context.close()
    assert 2 == len(numbers)


def test_another_text_after_a_lost_answer_is_no_submission_that_was_made(site: Site) -> None:
    page, _ = opened(site)
    choose(page)
    page.route("**/board/sort/submit", lose_answer, times=1)
    for text, said in (("accepted", "be reached"), ("wrong_answer", "of something else")):
        replace_text(page, f"# fake: {text}")
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text(said)
    page.get_by_role("button", name="Submit", exact=True).click()
    number = judged(page, "Wrong answer")
    assert "# fake: wrong_answer" == fetched(site, number).code
    page.context.close()


def lose_answer(route: Route) -> None:
    """The server has what was sent, and the browser gets no answer."""
    route.fetch(max_redirects=0)
    route.abort()


def submitted(page: Page, text: str, before: str = "") -> str:
    """The path of the submission of this text, once its report is shown and not `before`'s."""
    replace_text(page, text)
    page.get_by_role("button", name="Submit", exact=True).click()
    link = page.locator(f".result-head a:not([href='{before}'])")
    return link.get_attribute("href") or ""


def test_a_replaced_report_is_followed_no_longer(site: Site, tmp_path: Path) -> None:
    """Each would keep a connection, of which a browser has six: then nothing more is sent."""
    page, _ = opened(site)
    page.evaluate(
        "() => { window.followed = []; window.EventSource = class extends EventSource {"
        " constructor(path) { super(path); window.followed.push([path, this]); } }; }"
    )
    choose(page)
    seen = tmp_path / "seen"
    first = submitted(page, f"# fake: until {seen} accepted")
    second = submitted(page, f"# fake: until {seen} wrong_answer", first)
    closed = page.evaluate("followed.map(([path, source]) => [path, source.readyState === 2])")
    seen.touch()
    judged(page, "Wrong answer")
    page.context.close()
    assert [[f"{first}/live", True], [f"{second}/live", False]] == closed


def test_the_end_of_a_replaced_report_is_not_shown(site: Site, tmp_path: Path) -> None:
    page, _ = opened(site)
    page.evaluate(
        "() => { window.used = []; const text = Response.prototype.text;"
        "Response.prototype.text = async function () { const read = await text.call(this);"
        " setTimeout(() => window.used.push(new URL(this.url).pathname)); return read; }; }"
    )
    choose(page)
    seen, held = tmp_path / "seen", list[Route]()
    first = submitted(page, FAILS.replace("runtime_error", f"until {seen} runtime_error"))
    page.route(f"**{first}", lambda route: held.append(route))
    with page.expect_request(f"**{first}"):  # for the finished report
        seen.touch()
    second = submitted(page, "# fake: accepted\n\n\n\n", first)
    judged(page, "Accepted")
    held[0].continue_()
    again = "path => used.lastIndexOf(path) > used.indexOf(path)"  # first when it was sent
    page.wait_for_function(again, arg=first)
    expect(page).to_have_title(re.compile(f"Accepted.* · Submission {second.rpartition('/')[2]} ·"))
    expect(page.locator(".cm-place.error")).to_have_count(0)
    page.context.close()


def test_a_version_is_begun_with_beside_a_draft(site: Site) -> None:
    sent = site.live.call(site.live.world.submit(content=b"# the version\n", devices=("H100",)))
    page, _ = opened(site)
    replace_text(page, "# the draft")
    page.goto(f"/submission/{sent.id}")
    page.get_by_role("link", name="Edit and submit again").click()
    expect(editor(page)).to_contain_text("# the version")
    page.get_by_role("button", name="Go on with it").click()
    expect(editor(page)).to_have_text("# the draft")
    page.get_by_role("button", name="Begin again with the submission").click()
    expect(editor(page)).to_contain_text("# the version")
    page.get_by_text("Begin with").click()
    page.get_by_role("link", name="The starter").click()
    expect(editor(page)).to_contain_text("def custom_kernel")
    page.context.close()


def test_the_end_is_told_if_the_page_is_hidden(site: Site, tmp_path: Path) -> None:
    world = site.live.world
    seen = tmp_path / "seen"
    code = f"# fake: until {seen} accepted\n".encode()
    made = site.live.call(world.submit(content=code, devices=("CPU",)))
    page = site.page(ada(site))
    page.add_init_script(
        "window.told = []; Object.defineProperty(document, 'hidden', {get: () => true});"
        "window.Notification = class { static permission = 'granted';"
        " constructor(text) { window.told.push(text); } addEventListener() {} };"
    )
    page.goto(f"/submission/{made.id}")
    expect(page.locator("#headline")).to_have_text("Being judged")
    seen.touch()
    site.live.call(finished(world, made.id))
    expect(page.locator(".big")).to_have_text(re.compile("Accepted"))
    told = page.evaluate("window.told")
    page.context.close()
    assert [True] == [f"Submission {made.id}" in text and "Accepted" in text for text in told]


def test_a_notification_is_offered_until_the_person_has_decided(site: Site) -> None:
    world = site.live.world
    made = site.live.call(world.submit(content=b"# fake: sleep 600 accepted\n", devices=("CPU",)))
    page, without_script = site.page(ada(site)), site.page(ada(site), script=False)
    page.add_init_script(
        "window.Notification = class { static permission = 'default';"
        " static async requestPermission() { return (this.permission = 'granted'); } };"
    )
    for one in (page, without_script):
        one.goto(f"/submission/{made.id}")
    expect(without_script.locator("#notify")).to_be_hidden()
    page.get_by_role("button", name="Notify me at the end").click()
    expect(page.locator("#notify")).to_be_hidden()
    site.live.call(world.services.submissions.cancel(world.ada.user, made.id))
    for one in (page, without_script):
        one.context.close()


def test_the_title_says_the_step_of_a_page_that_is_not_drawn(site: Site, tmp_path: Path) -> None:
    world = site.live.world
    seen = tmp_path / "seen"
    code = f"# fake: until {seen} accepted\n".encode()
    made = site.live.call(world.submit(content=code, devices=("CPU",)))
    page = site.page(ada(site))
    page.add_init_script("window.requestAnimationFrame = () => 0;")  # as in the background
    page.goto(f"/submission/{made.id}")
    expect(page).to_have_title(re.compile("^(Test|Timed on secret data)"))
    seen.touch()
    site.live.call(finished(world, made.id))
    page.context.close()


def travelling_bytes(answer: Response) -> int:
    """How long a body is on its way, also if the browser had kept it."""
    is_compressed = answer.headers.get("content-encoding") == "gzip"
    return len(gzip.compress(answer.body())) if is_compressed else len(answer.body())


def test_only_the_page_to_work_on_loads_the_editor_and_pages_are_light(site: Site) -> None:
    page = site.page(ada(site))
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: travelling_bytes(answer)}))
    loaded = {}
    for path in ("/", "/board/sort", "/submission/3", SUBMIT):
        if path == SUBMIT:
            sizes.clear()
        page.goto(path)
        if path == SUBMIT:
            expect(
                page.locator(".cm-content")
            ).to_be_attached()  # before, the textarea has its name
        page.wait_for_load_state("networkidle")
        loaded[path] = any("codemirror" in url for url in sizes)
    ours = {url: size for url, size in sizes.items() if not any(name in url for name in LATE)}
    light = [url for url in ours if "/static/" in url or url.endswith(SUBMIT)]
    page.context.close()
    assert {"/": False, "/board/sort": False, "/submission/3": False, SUBMIT: True} == loaded
    assert any("site.css" in url for url in light)  # what was kept is counted as well
    assert sum(ours[url] for url in light) < 30_000


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_s_comparison_is_accessible_and_fits(
    site: Site, size: tuple[int, int], dark: bool, tmp_path: Path
) -> None:
    world = site.live.world
    numbers = []
    for score in (0.2, 0.1):
        made = site.live.call(
            world.submit(
                content=f"# fake: accepted {score} {score} {score}\n".encode(), devices=("CPU",)
            )
        )
        site.live.call(finished(world, made.id))
        numbers.append(made.id)
    page = site.page(ada(site), size=size, dark=dark)
    page.goto(f"/submission/{numbers[0]}")
    expect(page.get_by_role("heading", name="Workload by workload")).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert ([], False) == (site.complaints(page), wide)
    page.context.close()
