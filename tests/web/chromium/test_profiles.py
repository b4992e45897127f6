"""The page of a profile in a real browser, and Perfetto, of which a page of ours plays the part."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from kernelbot.protocol import Mode
from tests.support.profiled import REPORT, leave_files
from tests.support.traces import event, trace_of
from tests.support.workers import finished
from tests.web.chromium.conftest import DESKTOP, PHONE, Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

PERFETTO = """<!doctype html><title>Perfetto</title><pre id="told"></pre><script>
let deaf = 3;
addEventListener("message", ({ data, source }) => {
  if (data === "PING") { if (deaf-- <= 0) source.postMessage("PONG", "*"); return; }
  const { buffer, title, fileName, localOnly } = data.perfetto;
  told.textContent = [buffer.byteLength, title, fileName, localOnly].join("; ");
});
</script>"""


def trace() -> bytes:
    events = [event("aten::linear", 0, 1000), event("aten::addmm", 100, 800)]
    events += [event(f"aten::f{n}", 1000 + 20 * n, 20) for n in range(50)]
    kernels = [
        event(f"void kernel_{n}<64>(float*)", 50 * n, 40, category="kernel") for n in range(9)
    ]
    driver = [event("cudaLaunchKernel", 150 + 9 * n, 8, category="cuda_runtime") for n in range(9)]
    return trace_of([*events, *kernels, *driver])


@pytest.fixture(scope="module")
def path(site: Site) -> str:
    world = site.live.world
    made = site.live.call(
        world.submit(content=b"# fake: accepted\n", mode=Mode.PROFILE, devices=("CPU",))
    )
    run_id = site.live.call(finished(world, made.id)).runs[0].id
    files = {"profile.0.txt": REPORT, "profile.0.trace.json.gz": trace()}
    site.live.call(leave_files(world, run_id, files))
    return f"/submission/{made.id}/profile/{run_id}/0"


@pytest.mark.opens("/submission/3/profile/3/0")
def test_where_the_time_goes_is_accessible_and_fits(site: Site, path: str) -> None:
    wrong = {}
    for size in (DESKTOP, PHONE):
        for dark in (False, True):
            page = site.page(site.live.world.ada, size=size, dark=dark)
            _open(page, path)
            if found := site.complaints(page):
                wrong[size, dark] = found
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
            page.context.close()
    assert {} == wrong


def _open(page: Page, path: str) -> None:
    page.goto(path)
    page.get_by_role("heading", name="On the GPU").wait_for()


def test_without_a_script_cells_are_as_wide_as_their_share_and_below_their_caller(
    site: Site, path: str
) -> None:
    page = site.page(site.live.world.ada, script=False)
    _open(page, path)
    graph = page.locator(".flame").first
    found = []
    for cell in (graph.locator('svg[y="0"]').first, graph.locator('svg[y="20"]').first):
        box, whole = cell.bounding_box(), graph.bounding_box()
        assert box is not None
        assert whole is not None
        found.append((box["y"] - whole["y"], box["width"] / whole["width"]))
    # The rectangles' line is a part of their boxes.
    assert pytest.approx((0, 20), abs=0.6) == tuple(y for y, _ in found)
    assert pytest.approx((0.5, 0.4), abs=0.01) == tuple(width for _, width in found)
    expect(page.get_by_role("button", name="Perfetto")).to_have_count(0)
    page.context.close()


def test_a_flame_graph_is_zoomed_by_clicks_and_by_keys(site: Site, path: str) -> None:
    page = site.page(site.live.world.ada)
    _open(page, path)
    graph = page.locator(".flame").first
    called = graph.get_by_role("button", name="aten::addmm")
    caller = graph.get_by_role("button", name="aten::linear")
    other = graph.get_by_role("button", name="aten::f0:")
    whole_graph = page.get_by_role("button", name="Whole graph").first
    found = [_shares(graph, caller, called, other)]
    expect(whole_graph).to_be_hidden()
    called.click()
    found.append(_shares(graph, caller, called, other))
    assert [] == site.complaints(page)
    expect(whole_graph).to_be_visible()
    page.keyboard.press("Escape")
    found.append(_shares(graph, caller, called, other))
    page.keyboard.press("ArrowUp")
    expect(caller).to_be_focused()
    page.keyboard.press("Enter")
    found.append(_shares(graph, caller, called, other))
    page.keyboard.press("ArrowDown")
    expect(called).to_be_focused()
    page.keyboard.press("Enter")
    caller.click()  # the root
    found.append(_shares(graph, caller, called, other))
    page.context.close()
    before, in_called, in_caller = (0.5, 0.4, 0.01), (1, 1, 0), (1, 0.8, 0)
    expected = [before, in_called, before, in_caller, before]
    assert [pytest.approx(one, abs=0.01) for one in expected] == found


def _shares(graph: Locator, *frames: Locator) -> tuple[float, ...]:
    """How much of the graph's width each frame has; 0 if it isn't shown."""
    whole = graph.bounding_box()
    assert whole is not None
    boxes = [frame.bounding_box() if frame.is_visible() else None for frame in frames]
    return tuple(box["width"] / whole["width"] if box else 0 for box in boxes)


def test_a_trace_goes_to_perfettos_window_and_nowhere_else(site: Site, path: str) -> None:
    page = site.page(site.live.world.ada)
    asked: list[tuple[str, str]] = []

    def answer(route: Route) -> None:
        asked.append((route.request.method, route.request.url))
        route.fulfill(body=PERFETTO, content_type="text/html")

    page.context.route("https://ui.perfetto.dev/**", answer)
    _open(page, path)
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Open profile.0.trace.json.gz in Perfetto").click()
    title = f"Submission {path.split('/')[2]}, workload 0"
    told = f"{len(trace())}; {title}; profile.0.trace.json.gz; true"
    expect(opened.value.locator("#told")).to_have_text(told)
    expect(page.locator("#perfetto")).to_contain_text("Perfetto has profile.0.trace.json.gz")
    page.context.close()
    assert [("GET", "https://ui.perfetto.dev/")] == asked


def test_a_perfetto_that_does_not_answer_gets_nothing(site: Site, path: str) -> None:
    page = site.page(site.live.world.ada)
    page.context.route(
        "https://ui.perfetto.dev/**",
        lambda route: route.fulfill(body="<!doctype html><p>No.", content_type="text/html"),
    )
    page.clock.install()
    _open(page, path)
    with page.expect_popup():
        page.get_by_role("button", name="Open profile.0.trace.json.gz in Perfetto").click()
    page.clock.fast_forward(40_000)
    expect(page.locator("#perfetto")).to_contain_text("answer. Download the file")
    page.context.close()
