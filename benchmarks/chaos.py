"""Is anything lost, doubled or wrongly blamed? A real `kernelbot serve` judges honest and wrong
submissions while its processes are killed and stopped at random moments.

Run with `python -m benchmarks.chaos [--runs 1] [--submissions 60] [--every 2.5] [--seed N]
[--launchers local slurm slurm-warm buildkite] [--user NAME [--group FOLDER]]`. `--every`: seconds
between two hits, on average; `--stops`: the share of them that stop a process. `--launchers`: each
has a device on the boards, and what judges on their nodes is hit as well, the schedulers never.
Slurm is a real one, Buildkite the tests' stand-in; both need root. `--user`: the server, all that
it starts and its jobs on Slurm run as that account; it needs root. `--group`: a control group of
version 2 without processes in it, of which that account gets a part to itself, as systemd gives one
to people who log in. `--slow`: by which time limits and pauses are multiplied on a slow machine.
Hits end `--storm` seconds after the last submission was sent; some stopped processes stay stopped.
`--patience`: for how long nothing may end after that until what hasn't ended is lost. Ctrl-C and
SIGTERM end it with the tables of what there is. The exit code is 1 if any submission ended as
anything but `right` and `gave up`.
"""

import argparse
import contextlib
import dataclasses
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
from scripts.local_server import LocalServer, ServerTrouble

from benchmarks.chaos_account import ROOT, Account, AccountTrouble, account_of
from benchmarks.chaos_ends import Fate, RunEnd, fates, read_ends
from benchmarks.chaos_launchers import NAMES, Place, opened
from benchmarks.chaos_orders import AUTHORS, PROBLEMS, Order, make_orders
from benchmarks.chaos_processes import Storm
from benchmarks.chaos_tables import HEADERS, Outcome, hits_table, progress, row, tell
from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.protocol import Timeouts
from kernelbot.render.table import table
from kernelbot.store.embedded import EmbeddedPostgres

TIMEOUTS = Timeouts(test_s=15.0, benchmark_s=15.0, ranked_s=15.0, compile_s=10.0)
"""Shorter than the problems', because a judge that stays stopped takes all of them."""
CONFIG = """
warm = ["numpy"]
[sampling]
min_samples = 10
max_samples = 20
min_total_s = 0.005
wall_cap_s = 0.5
target_relative_ci = 0.1
[worker]
heartbeat_s = {heartbeat_s}
sweep_s = {sweep_s}
stale_s = {stale_s}
grace_s = {grace_s}
[queue]
waiting_limit = 100000
"""
READY_S = 60.0
LOOK_S = 0.2
READ_S = 1.0
"""Between two looks at the database, each with a new connection."""
PROGRESS_S = 60.0
FIRST = -10
"""Who hits comes first: on a slow machine hits would wait behind all that they could hit."""


def make_config(slow: float = 1.0) -> str:
    """`kernelbot.toml` without devices."""
    times = {"heartbeat_s": 0.5, "sweep_s": 1.0, "stale_s": 10.0, "grace_s": 3.0}
    return CONFIG.format(**{name: usual_s * slow for name, usual_s in times.items()})


class Platform:
    """One `serve` at a time on the same folder; if it was killed, another is started."""

    def __init__(
        self,
        folder: Path,
        places: Sequence[Place],
        account: Account | None = None,
        slow: float = 1.0,
    ) -> None:
        """`account`: whom the folder is given, and who runs `serve`; None: this process's. `slow`:
        how many times longer than usual everything may take."""
        self.folder = folder
        self.places = places
        self.account = account
        self.slow = slow
        self.starts = 0
        self._config = folder / "kernelbot.toml"
        self._config.write_text(make_config(slow) + "".join(place.config for place in places))
        self.server = self._start()

    def revive(self) -> bool:
        """Start it again if it has died; returns whether it had. Raises `ServerTrouble`."""
        if Path(f"/proc/{self.server.pid}").exists() and not _is_zombie(self.server.pid):
            return False
        self.server = self._start()
        return True

    def database_url(self) -> str | None:
        """None while there is no Postgres."""
        return EmbeddedPostgres(self.folder / "data" / "postgres").running_url("postgres")

    def logs(self) -> list[Path]:
        """The logs of all servers so far, the oldest first."""
        return sorted(self.folder.glob("serve.log*"), key=lambda path: path.stat().st_mtime)

    def _start(self) -> LocalServer:
        log = self.folder / "serve.log"
        if log.exists():
            log.rename(self.folder / f"serve.log.{self.starts}")
        self.starts += 1
        options = ("--processes", "2")
        variables = {name: text for each in self.places for name, text in each.variables.items()}
        if self.account is not None:
            variables |= self.account.variables
        server = LocalServer(
            self.folder,
            config=self._config,
            options=options,
            variables=variables,
            before=self.account.command if self.account is not None else (),
            ready_within_s=READY_S * self.slow,
        )
        with priority(0):
            return server.__enter__()


class Sender(threading.Thread):
    """Sends the orders, each until a server has taken it, on average `pause_s` apart."""

    def __init__(
        self, platform: Platform, orders: Sequence[Order], tokens: Sequence[str], pause_s: float
    ) -> None:
        super().__init__(daemon=True)
        self.answered: list[int] = []
        """The submissions that a server has said are stored."""
        self._platform = platform
        self._orders = orders
        self._tokens = tokens
        self._pause_s = pause_s

    def run(self) -> None:
        """One after the other."""
        for order in self._orders:
            while not self._sent(order):
                time.sleep(READ_S * self._platform.slow)
            time.sleep(self._pause_s)

    def _sent(self, order: Order) -> bool:
        url, token = self._platform.server.url, self._tokens[order.author]
        try:
            with KernelbotClient(url, token, timeout_s=10.0 * self._platform.slow) as client:
                sent = client.submit(
                    order.file_name,
                    order.code.encode(),
                    board=order.board,
                    devices=(order.device,),
                    mode=order.mode,
                )
        except Refused as error:
            if error.status < 500:
                raise
            return False
        except (Unreachable, BadAnswer):
            return False
        self.answered.append(sent.id)
        return True


def prepare(platform: Platform) -> list[str]:
    """Create the boards, on all devices; returns the tokens of new authors."""
    devices = [place.device for place in platform.places]
    with KernelbotClient.to(platform.server.own_endpoint()) as client:
        for name in PROBLEMS:
            definition = load_problem(ROOT / "examples" / name).definition
            problem = _quick(definition, platform.slow)
            client.create_board(problem, name=name, devices=devices)
        return [client.create_user(f"author-{number}").token for number in range(AUTHORS)]


def go_through(
    folder: Path, options: argparse.Namespace, seed: int, account: Account | None = None
) -> Outcome:
    """One storm over a new server in `folder`, until all submissions or the patience have ended."""
    with opened(options.launchers, folder, options.slow) as places:
        return _go_through(folder, options, seed, places, account)


def _go_through(
    folder: Path,
    options: argparse.Namespace,
    seed: int,
    places: Sequence[Place],
    account: Account | None,
) -> Outcome:
    chance = random.Random(seed)
    orders = make_orders(options.submissions, chance, [place.device for place in places])
    nodes = {place.name: place.marker for place in places if place.marker is not None}
    storm = Storm(chance, folder / "storm.log", nodes, options.stops)
    platform = Platform(folder, places, account, options.slow)
    try:
        sender = Sender(platform, orders, prepare(platform), options.pause)
        sender.start()
        ends, trouble = _through_the_storm(platform, storm, sender, options)
        expected = {order.file_name: order.expected for order in orders}
        found = fates(ends, expected, list(sender.answered), waited=trouble is None)
        if trouble is None and len(sender.answered) < len(orders):
            trouble = "Not every submission could be sent."
    finally:
        storm.continue_due(everyone=True)
        storm.look(platform.server)
        platform.server.stop()
        storm.end()
    seconds = time.monotonic() - storm.began
    return Outcome(storm, ends, found, platform.starts, seconds, trouble)


def _through_the_storm(
    platform: Platform, storm: Storm, sender: Sender, options: argparse.Namespace
) -> tuple[dict[int, list[RunEnd]], str | None]:
    """How all has ended, and why nobody waits for more, if something hasn't."""
    pauses = random.Random(options.seed)
    ends: dict[int, list[RunEnd]] = {}
    next_hit = sent_at = moved_at = told_at = read_at = time.monotonic()
    with until_a_signal() as ended, priority(FIRST):
        while not ended.wait(LOOK_S * options.slow):
            now = time.monotonic()
            sent_at = now if sender.is_alive() else sent_at
            if now - max(moved_at, sent_at + options.storm) > options.patience:
                return ends, None
            storm.continue_due()
            try:
                if platform.revive():
                    storm.note(f"served again by {platform.server.pid}")
                    next_hit = time.monotonic() + pauses.expovariate(1 / options.every)
            except ServerTrouble as trouble:
                return ends, str(trouble)
            if now >= next_hit and now - sent_at < options.storm:
                storm.hit(platform.server)
                next_hit = now + pauses.expovariate(1 / options.every)
            if now - read_at > READ_S * options.slow:
                read_at, sending = now, sender.is_alive()
                before, ends = ends, _read(platform) or ends
                moved_at = moved_at if ends == before else now
                if not sending and ends and _all_ended(ends):
                    return ends, None
            if now - told_at > PROGRESS_S:
                told_at = now
                sent = len(sender.answered)
                print(progress(storm, sent, ends, now - storm.began), flush=True)
    return ends, "It was ended by a signal."


@contextlib.contextmanager
def priority(nice: int) -> Iterator[None]:
    """This thread, and what it starts, has it while the block runs, if this account may."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


@contextlib.contextmanager
def until_a_signal() -> Iterator[threading.Event]:
    """Set by Ctrl-C and SIGTERM while the block runs."""
    ended = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: ended.set()) for number in numbers]
    try:
        yield ended
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _read(platform: Platform) -> dict[int, list[RunEnd]]:
    """Empty while Postgres is away."""
    url = platform.database_url()
    if url is None:
        return {}
    try:
        return platform.account.call(read_ends, url) if platform.account else read_ends(url)
    except psycopg.OperationalError:
        return {}


def _all_ended(ends: dict[int, list[RunEnd]]) -> bool:
    return all(run.has_ended for runs in ends.values() for run in runs)


def _quick(problem: ProblemDefinition, slow: float) -> ProblemDefinition:
    times = {name: usual_s * slow for name, usual_s in dataclasses.asdict(TIMEOUTS).items()}
    spec = dataclasses.replace(problem.spec, timeouts=Timeouts(**times))
    return dataclasses.replace(problem, spec=spec)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=2.5, help="seconds between two hits")
    parser.add_argument("--stops", type=float, default=0.5, help="share of hits that only stop")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two submissions")
    parser.add_argument("--storm", type=float, default=120.0, help="seconds of hits after the last")
    parser.add_argument(
        "--patience", type=float, default=600.0, help="seconds in which nothing ends"
    )
    parser.add_argument("--slow", type=float, default=1.0, help="how much longer all may take")
    parser.add_argument("--launchers", nargs="+", choices=NAMES, default=["local"])
    parser.add_argument("--folder", type=Path, help="the folder for data and logs")
    parser.add_argument("--user", help="the account that the server runs as")
    parser.add_argument("--group", type=Path, help="the control group that it gets a part of")
    options = parser.parse_args(arguments)
    if options.group is not None and options.user is None:
        parser.error("--group is given to the account of --user.")
    return options


@contextlib.contextmanager
def _account(options: argparse.Namespace) -> Iterator[Account | None]:
    """Whose the server is; None: this process's account. Raises `AccountTrouble`."""
    if options.user is None:
        yield None
        return
    with account_of(options.user, options.group) as account:
        yield account


def main() -> int:
    """Print the tables, and what is known of each submission that didn't end as it should."""
    options = parsed(sys.argv[1:])
    try:
        with _account(options) as account:
            return go_through_all(options, account)
    except AccountTrouble as error:
        print(f"Skipped: {error}.")
        return 0


def go_through_all(options: argparse.Namespace, account: Account | None) -> int:
    """All runs; the exit code."""
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kernelbot-chaos-"))
    outcomes = []
    for seed in range(options.seed, options.seed + options.runs):
        place = folder / f"run-{seed}"
        place.mkdir(parents=True)
        folder.chmod(0o755)  # sandboxes of others read harness and jobs below it
        if account is not None:
            account.own(place)
        outcome = go_through(place, options, seed, account)
        outcomes.append(outcome)
        print(table(HEADERS, [row(seed, outcome)], right=HEADERS), flush=True)
        tell(outcome)
        if outcome.trouble is not None:
            print(f"\n{outcome.trouble}", flush=True)
            break
    print(f"\n{hits_table(outcomes)}")
    seen = {each for outcome in outcomes for each in outcome.fates.values()}
    if options.folder is not None or seen - {Fate.RIGHT}:
        print(f"\nServers' logs, and what was hit when (storm.log), are in {folder}.")
    else:
        shutil.rmtree(folder)
    in_order = outcomes[-1].trouble is None and seen <= {Fate.RIGHT, Fate.GAVE_UP}
    return int(not in_order)


if __name__ == "__main__":
    sys.exit(main())
