"""`make demo`: the whole platform, once, on this machine.

Starts `kernelbot serve` with an embedded Postgres under `.demo/`, opens the boards of
`examples/demo.yaml`, submits every file of their `solutions/` as several authors through the HTTP
API, follows them live, and shows verdicts and standings. Ends with 0 only if every submission was
judged as its author expects and nothing was left running.
"""

import fcntl
import os
import queue
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, zip_longest
from pathlib import Path

from kernelbot.catalog.competition import CompetitionProblem, load_competition
from kernelbot.catalog.problem import load_problem
from kernelbot.client import Endpoint, KernelbotClient
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Mode
from scripts.demo_view import DemoView, Entry, Update
from scripts.local_server import LocalServer, ServerTrouble

ROOT = Path(__file__).resolve().parent.parent
COMPETITION = ROOT / "examples" / "demo.yaml"
SETTINGS = ROOT / "examples" / "demo.toml"
AUTHORS = ("amara", "bo", "chen", "dalia")
PATIENCE_S = 300.0


def demo_folder(checkout: Path) -> Path:
    """`.demo` in the checkout; one among the temporary folders if the checkout's path holds
    spaces or quotes, which the embedded Postgres can't be started under."""
    if re.fullmatch(r"[\w./+-]+", str(checkout)):
        return checkout / ".demo"
    return Path(tempfile.gettempdir()) / f"kernelbot-demo-{os.getuid()}"


FOLDER = demo_folder(ROOT)


class DemoTrouble(RuntimeError):
    """The demo can't continue; the text is for the person who started it."""


def main() -> int:
    """Returns the exit code: 0 all well, 1 something misbehaved, 2 it can't start, 130 Ctrl-C."""
    view = DemoView()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A closed window is like Ctrl-C: the server has a session of its own and must be stopped.
        signal.signal(number, signal.default_int_handler)
    try:
        with _only_one() as lock:
            shutil.rmtree(FOLDER / "server", ignore_errors=True)
            return _run(view, lock)
    except (DemoTrouble, ServerTrouble, KernelbotError) as error:
        view.trouble(str(error))
        return 2
    except KeyboardInterrupt:
        view.trouble("Interrupted; everything has been stopped.")
        return 130


def _run(view: DemoView, lock: int) -> int:
    began = time.monotonic()
    boards = load_competition(COMPETITION).problems
    view.step(
        f"Starting the platform: HTTP API, worker and an embedded Postgres, all under {FOLDER}"
    )
    # Without turns to measure: on a machine that does other work as well, the boards are shown
    # all the same, and no score is refused because the machine was busy.
    server = LocalServer(
        FOLDER / "server", config=SETTINGS, pass_fds=(lock,), variables={"KERNELBOT_TURN": ""}
    )
    with server:
        view.step(f"Ready at {server.url} after {time.monotonic() - began:.1f} s")
        endpoint = server.own_endpoint()
        with KernelbotClient.to(endpoint) as admin:
            entries = _open(admin, boards)
            view.step(
                f"{len(boards)} boards opened; {len(AUTHORS)} authors submit {len(entries)} files"
            )
            _submit(server.url, entries)
            with view.live(entries):
                _follow(endpoint, entries, view)
            for board in boards:
                view.standings(admin.standings(board.name))
    well = all(entry.as_expected for entry in entries) and not server.leftovers
    data = FOLDER / "server" / "data"
    shown = data.relative_to(ROOT) if data.is_relative_to(ROOT) else data
    view.summary(entries, time.monotonic() - began, shown)
    if server.leftovers:
        names = ", ".join(process.name for process in server.leftovers)
        view.trouble(f"These processes outlived the server and were killed: {names}.")
    if not well:
        view.trouble(f"Not everything went as expected; the server's log is {server.log}.")
    return 0 if well else 1


@contextmanager
def _only_one() -> Iterator[int]:
    """Lock `.demo/`; the server inherits the lock, so it is held while one of them lives."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with (FOLDER / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise DemoTrouble(
                f"Another demo runs in {FOLDER} (process {lock.read() or 'unknown'}), or a server "
                "that it left behind when it was killed: wait for it, or end it, and try again."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock.fileno()


def _open(admin: KernelbotClient, boards: tuple[CompetitionProblem, ...]) -> list[Entry]:
    """Create authors and boards; the submissions to make, spread over boards and authors."""
    tokens = {name: admin.create_user(name).token for name in AUTHORS}
    queues = []
    for board in boards:
        problem = load_problem(board.folder).definition
        admin.create_board(problem, name=board.name, devices=board.devices or None)
        files = [
            file
            for kind in ("wrong", "correct")
            for file in sorted((board.folder / "solutions" / kind).iterdir())
        ]
        queues.append(
            [
                Entry(board.name, author, tokens[author], file)
                for author, file in zip(cycle(AUTHORS), files, strict=False)
            ]
        )
    return [entry for turn in zip_longest(*queues) for entry in turn if entry is not None]


def _submit(url: str, entries: list[Entry]) -> None:
    """Submit the entries, ranked except for the wrong ones, which their tests refuse."""
    for entry in entries:
        with KernelbotClient(url, entry.token) as client:
            submission = client.submit(
                entry.file.name,
                entry.file.read_bytes(),
                board=entry.board,
                mode=Mode.LEADERBOARD if entry.should_pass else Mode.TEST,
            )
        entry.submission = submission


def _follow(endpoint: Endpoint, entries: list[Entry], view: DemoView) -> None:
    """Show each event as it comes, until every submission has finished."""
    updates: queue.Queue[tuple[Entry, Update]] = queue.Queue()
    for entry in entries:
        # Daemons: Ctrl-C mustn't wait for streams that nobody reads any more.
        threading.Thread(target=_listen, args=(endpoint, entry, updates), daemon=True).start()
    for entry, update in until_finished(updates, len(entries)):
        view.update(entry, update)


def until_finished(
    updates: "queue.Queue[tuple[Entry, Update]]",
    waiting: int,
    now_s: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[Entry, Update]]:
    """Each update as it comes, until so many entries have finished; whoever reads it has the entry
    know. On a busy machine all of them together may take long, so only how long none finishes is
    bounded. Raises `DemoTrouble` then, and the error if one is among the updates."""
    deadline_s = now_s() + PATIENCE_S
    while waiting:
        try:
            entry, update = updates.get(timeout=max(0.0, deadline_s - now_s()))
        except queue.Empty:
            raise DemoTrouble(
                f"None of {waiting} submissions has finished for {PATIENCE_S:.0f} s."
            ) from None
        if isinstance(update, KernelbotError):
            raise update
        yield entry, update
        if entry.finished:
            waiting -= 1
            deadline_s = now_s() + PATIENCE_S


def _listen(endpoint: Endpoint, entry: Entry, updates: "queue.Queue[tuple[Entry, Update]]") -> None:
    try:
        with KernelbotClient(endpoint.url, entry.token) as client:
            for event in client.events(entry.id):
                updates.put((entry, event))
            updates.put((entry, client.submission(entry.id)))
    except KernelbotError as error:
        updates.put((entry, error))


if __name__ == "__main__":
    sys.exit(main())
