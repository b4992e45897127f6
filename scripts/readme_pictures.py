"""Make the README's pictures: a terminal and a board, of a server with a few submissions.

    python -m scripts.readme_pictures

Each is made for light and for dark pages, into `docs/img/`. The terminal is what `kernelbot`
prints, as SVG without fonts from elsewhere; the board is what Chromium shows.
"""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.domain.errors import KernelbotError
from scripts.local_server import LocalServer, ServerTrouble

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "img"
PROBLEM = ROOT / "examples" / "sort_np"
COLUMNS = 92
WINDOW = {"width": 1120, "height": 680}
MARGIN = 6
"""Pixels below the chart."""
LIGHT = TerminalTheme(
    (246, 248, 250),
    (36, 41, 47),
    [
        *((36, 41, 47), (179, 38, 30), (17, 99, 41), (154, 103, 0)),
        *((9, 105, 218), (130, 80, 223), (27, 124, 131), (110, 119, 129)),
    ],
)
THEMES = {"light": LIGHT, "dark": SVG_EXPORT_THEME}
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""Rich's own form of an SVG fetches a font."""
KERNEL = """\
import numpy as np


def custom_kernel(data):
    return {how}
"""
SENT = (
    ("chen", "lists.py", "np.array(sorted(data.tolist()), dtype=data.dtype)"),
    ("amara", "by_index.py", "data[np.argsort(data, kind='stable')]"),
    ("dalia", "lists.py", "np.fromiter(iter(sorted(data.tolist())), data.dtype)"),
    ("bo", "twice.py", "np.sort(np.sort(data[::-1], kind='heapsort'))"),
    ("dalia", "index.py", "np.take(data, np.argsort(data, kind='stable'))"),
)
"""Who submits what, before the picture's own submission."""
OWN = ("chen", "mine.py", "np.sort(data)")
SETTINGS = """\
warm = ["numpy"]
[sampling]
warmup_s = 0.01
max_samples = 60
[[devices]]
name = "CPU"
"""


def main() -> int:
    """Returns the exit code: 2 if there is no server, or one refused something."""
    try:
        with tempfile.TemporaryDirectory(prefix="kernelbot-") as folder:
            config = Path(folder) / "kernelbot.toml"
            config.write_text(SETTINGS)
            # Without turns: on a machine that does other work as well, pictures are made all the
            # same.
            server = LocalServer(Path(folder), config=config, variables={"KERNELBOT_TURN": ""})
            with server:
                for path in _pictures(server):
                    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    except (KernelbotError, ServerTrouble) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _pictures(server: LocalServer) -> Iterator[Path]:
    with KernelbotClient.to(server.own_endpoint()) as admin:
        board = admin.create_board(load_problem(PROBLEM).definition, name=PROBLEM.name).name
        tokens = {name: admin.create_user(name).token for name in {who for who, *_ in SENT}}
        for who, name, how in SENT:
            _submit(server.url, tokens[who], board, name, how)
        author, name, how = OWN
        (server.folder / name).write_text(KERNEL.format(how=how))
        environment = server.environment() | {"KERNELBOT_TOKEN": tokens[author]}
        shown = terminal(
            server.folder,
            environment,
            ["kernelbot", "submit", name, "--board", board],
            ["kernelbot", "board", "show", board],
        )
        for theme, colours in THEMES.items():
            path = IMAGES / f"readme-terminal-{theme}.svg"
            path.write_text(as_svg(shown, colours))
            yield path
        links = {theme: admin.make_login_link().url for theme in THEMES}
    with sync_playwright() as playwright:
        # The system's, if it has one; else the one that Playwright has installed.
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"),
            args=["--no-sandbox"],
        )
        for theme, link in links.items():
            path = IMAGES / f"readme-board-{theme}.png"
            _photograph(browser, link, f"{server.url}/board/{board}", theme, path)
            yield path
        browser.close()


def _submit(url: str, token: str, board: str, name: str, how: str) -> None:
    """Submit a kernel, and wait until it is judged."""
    with KernelbotClient(url, token) as client:
        sent = client.submit(name, KERNEL.format(how=how).encode(), board=board)
        for _event in client.events(sent.id):
            pass
    time.sleep(1)  # apart on the picture's axis of time


def terminal(folder: Path, environment: dict[str, str], *commands: list[str]) -> Text:
    """What a terminal shows of commands of ours that were typed one after the other."""
    parts = []
    for words in commands:
        prompt = Text(f"$ {' '.join(words)}\n", style="bold")
        printed = _printed(folder, environment, words).strip()
        parts += [prompt, Text.from_ansi(printed), Text("\n\n")]
    return Text.assemble(*parts[:-1])


def _printed(folder: Path, environment: dict[str, str], words: list[str]) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelbot.cli", *words[1:]],
        cwd=folder,
        env=environment | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,  # where progress is shown
    )
    os.close(theirs)
    printed = b""
    while piece := _read(ours):
        printed += piece
    os.close(ours)
    process.wait()
    return printed.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # what a terminal says when nobody writes to it any more
        return b""


def as_svg(shown: Text, colours: TerminalTheme) -> str:
    """A terminal's window; nothing in it is fetched from elsewhere."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 (it has no content)
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(shown)
        console.print()  # the lowest line isn't drawn to its bottom
        return console.export_svg(
            title="kernelbot", theme=colours, code_format=SVG, unique_id="terminal"
        )


def _photograph(browser: Browser, link: str, url: str, theme: str, path: Path) -> None:
    context = browser.new_context(
        viewport={"width": WINDOW["width"], "height": WINDOW["height"]},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Log in as").click()
    page.goto(url)
    # As far down as the chart, which is drawn once it is near.
    chart = page.locator("#trend-chart .plot")
    page.locator("#trend").scroll_into_view_if_needed()
    chart.locator("canvas").wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    place = chart.bounding_box()
    assert place is not None, "it is waited for"
    height = int(place["y"] + place["height"]) + MARGIN
    page.set_viewport_size({"width": WINDOW["width"], "height": height})
    page.screenshot(path=path)
    context.close()


if __name__ == "__main__":
    sys.exit(main())
