"""Is anything lost, doubled or wrongly blamed? A real `kernelbot serve` judges honest and wrong
submissions while its processes are killed and stopped at random moments.

Run with `python -m benchmarks.chaos [--runs 1] [--submissions 60] [--every 2.5] [--seed N]
[--launchers local slurm slurm-warm buildkite] [--user NAME]`. `--every`: seconds between two hits,
on average. `--launchers`: each has a device on the boards, and what judges on their nodes is hit as
well, the schedulers never. Slurm is a real one, Buildkite the tests' stand-in; both need root.
`--user`: everything as that account. Hits end `--storm` seconds after the last submission was sent;
some stopped processes stay stopped. The exit code is 1 if any submission ended as anything but
`right` and `gave up`.
"""

import argparse
import dataclasses
import os
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from scripts.local_server import LocalServer, ServerTrouble

from benchmarks.chaos_ends import Fate, RunEnd, counted, fates, read_ends
from benchmarks.chaos_launchers import NAMES, Place, opened
from benchmarks.chaos_processes import Storm
from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.protocol import Mode, Timeouts, Verdict
from kernelbot.render.table import table
from kernelbot.store.embedded import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
PROBLEMS = ("sort_np", "identity_np")
AUTHORS = 5
WRONG_SHARE = 0.25
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
heartbeat_s = 0.5
sweep_s = 1.0
stale_s = 10.0
grace_s = 3.0
[queue]
waiting_limit = 100000
"""
HONEST = {
    "sort_np": "import numpy as np\ndef custom_kernel(data):\n    return np.sort(data)\n",
    "identity_np": "def custom_kernel(data):\n    return data.copy()\n",
}
WRONG = {
    Verdict.WRONG_ANSWER: "def custom_kernel(data):\n    return data * 0 + 1\n",
    Verdict.RUNTIME_ERROR: "def custom_kernel(data):\n    raise ValueError('no')\n",
    Verdict.COMPILE_ERROR: "def custom_kernel(data)\n    return data\n",
}
STARTS = 5
LOOK_S = 0.2


@dataclass(frozen=True)
class Order:
    """One submission to send, and what must come of it."""

    file_name: str
    code: str
    board: str
    device: str
    mode: Mode
    author: int
    expected: Verdict


def make_orders(
    count: int, chance: random.Random, devices: Sequence[str] = ("CPU",)
) -> list[Order]:
    """Sources are all different, also without comments and white space; the devices take turns."""
    orders = []
    for number in range(count):
        board = chance.choice(PROBLEMS)
        wrong = chance.random() < WRONG_SHARE
        expected = chance.choice(sorted(WRONG)) if wrong else Verdict.ACCEPTED
        code = (WRONG[expected] if wrong else HONEST[board]) + f"NUMBER = {number}\n"
        mode = chance.choice((Mode.TEST, Mode.LEADERBOARD))
        author = chance.randrange(AUTHORS)
        name, device = f"number_{number}.py", devices[number % len(devices)]
        orders.append(Order(name, code, board, device, mode, author, expected))
    return orders


class Platform:
    """One `serve` at a time on the same folder; if it was killed, another is started."""

    def __init__(self, folder: Path, places: Sequence[Place]) -> None:
        self.folder = folder
        self.places = places
        self.starts = 0
        self._config = folder / "kernelbot.toml"
        self._config.write_text(CONFIG + "".join(place.config for place in places))
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
        return LocalServer(
            self.folder, config=self._config, options=options, variables=variables
        ).__enter__()


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
                time.sleep(LOOK_S)
            time.sleep(self._pause_s)

    def _sent(self, order: Order) -> bool:
        url, token = self._platform.server.url, self._tokens[order.author]
        try:
            with KernelbotClient(url, token, timeout_s=10.0) as client:
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


@dataclass(frozen=True)
class Outcome:
    """What one run of this program found."""

    storm: Storm
    ends: dict[int, list[RunEnd]]
    fates: dict[int, Fate]
    starts: int
    seconds: float


def prepare(platform: Platform) -> list[str]:
    """Create the boards, on all devices; returns the tokens of new authors."""
    devices = [place.device for place in platform.places]
    with KernelbotClient.to(platform.server.own_endpoint()) as client:
        for name in PROBLEMS:
            problem = _quick(load_problem(ROOT / "examples" / name).definition)
            client.create_board(problem, name=name, devices=devices)
        return [client.create_user(f"author-{number}").token for number in range(AUTHORS)]


def go_through(folder: Path, options: argparse.Namespace, seed: int) -> Outcome:
    """One storm over a new server in `folder`, until all submissions or the patience have ended."""
    with opened(options.launchers, folder) as places:
        return _go_through(folder, options, seed, places)


def _go_through(
    folder: Path, options: argparse.Namespace, seed: int, places: Sequence[Place]
) -> Outcome:
    chance = random.Random(seed)
    orders = make_orders(options.submissions, chance, [place.device for place in places])
    nodes = {place.name: place.marker for place in places if place.marker is not None}
    storm = Storm(chance, folder / "storm.log", nodes)
    platform = Platform(folder, places)
    try:
        sender = Sender(platform, orders, prepare(platform), options.pause)
        sender.start()
        ends = _through_the_storm(platform, storm, sender, options)
        expected = {order.file_name: order.expected for order in orders}
        found = fates(ends, expected, sender.answered)
        if len(sender.answered) < len(orders):
            raise ServerTrouble("Not every submission could be sent.")
    finally:
        storm.continue_due(everyone=True)
        storm.look(platform.server)
        platform.server.stop()
        storm.end()
    return Outcome(storm, ends, found, platform.starts, time.monotonic() - storm.began)


def _through_the_storm(
    platform: Platform, storm: Storm, sender: Sender, options: argparse.Namespace
) -> dict[int, list[RunEnd]]:
    pauses = random.Random(options.seed)
    ends: dict[int, list[RunEnd]] = {}
    next_hit = sent_at = time.monotonic()
    while True:
        time.sleep(LOOK_S)
        now = time.monotonic()
        sent_at = now if sender.is_alive() else sent_at
        if now - sent_at > options.storm + options.patience:
            return ends
        storm.continue_due()
        if platform.revive():
            storm.note(f"served again by {platform.server.pid}")
        if now >= next_hit and now - sent_at < options.storm:
            storm.hit(platform.server)
            next_hit = now + pauses.expovariate(1 / options.every)
        ends = _read(platform) or ends
        if not sender.is_alive() and ends and _all_ended(ends):
            return ends


def _read(platform: Platform) -> dict[int, list[RunEnd]]:
    """Empty while Postgres is away."""
    url = platform.database_url()
    try:
        return read_ends(url) if url else {}
    except psycopg.OperationalError:
        return {}


def _all_ended(ends: dict[int, list[RunEnd]]) -> bool:
    return all(run.has_ended for runs in ends.values() for run in runs)


def _quick(problem: ProblemDefinition) -> ProblemDefinition:
    return dataclasses.replace(problem, spec=dataclasses.replace(problem.spec, timeouts=TIMEOUTS))


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


SHOWN = (Fate.LOST, Fate.DOUBLED, Fate.BLAMED, Fate.MISJUDGED, Fate.GAVE_UP, Fate.OURS)
HEADERS = ("seed", "submissions", "runs", "killed", "stopped", *SHOWN, "starts", "seconds")


def row(seed: int, outcome: Outcome) -> list[str]:
    """A line of the table."""
    counts = counted(outcome.fates)
    hits = outcome.storm.hits
    figures = [
        len(outcome.fates),
        sum(len(runs) for runs in outcome.ends.values()),
        *(sum(n for (*_, how), n in hits.items() if how == what) for what in _HITS),
        *(counts[each] for each in SHOWN),
        outcome.starts,
        round(outcome.seconds),
    ]
    return [str(seed), *map(str, figures)]


def hits_table(outcomes: Sequence[Outcome]) -> str:
    """How often each kind was killed and stopped."""
    rows = [
        [
            where,
            kind,
            *(str(sum(o.storm.hits[where, kind, how] for o in outcomes)) for how in _HITS),
        ]
        for where, kind in sorted({hit[:2] for o in outcomes for hit in o.storm.hits})
    ]
    return table(("where", "process", *_HITS), rows, right=_HITS)


_HITS = ("killed", "stopped")


def tell(outcome: Outcome) -> None:
    """Print what is known of each submission that didn't end as it should."""
    for number, what in sorted(outcome.fates.items()):
        if what is Fate.RIGHT:
            continue
        print(f"\nsubmission {number}: {what}")
        for run in outcome.ends.get(number, []):
            print(
                f"  run {run.run_id} ({run.file_name}, {run.device}): {run.state}, {run.verdict}, "
                f"fault {run.fault}, {run.lost_attempts} lost, {run.results} results, "
                f"{run.ends} ends, {run.standings} standings, "
                f"{run.created_at:%H:%M:%S} to {run.finished_at}"
            )
            print(f"    {run.message}")


def as_user(name: str, arguments: Sequence[str]) -> int:
    """Run this program as the account `name`; a sentence if it can't."""
    account = pwd.getpwnam(name)
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, account.pw_uid, account.pw_gid)
        become = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"]
        become += ["--init-groups", "env", f"HOME={home}", f"USER={name}", f"LOGNAME={name}"]
        try_out = [*become, sys.executable, "-c", "import benchmarks.chaos"]
        if subprocess.run(try_out, cwd=ROOT, capture_output=True).returncode != 0:
            print(f"Skipped: the account {name} can't run {sys.executable} in {ROOT}.")
            return 0
        command = [*become, sys.executable, "-m", "benchmarks.chaos", *arguments]
        return subprocess.run(command, cwd=ROOT).returncode


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=2.5, help="seconds between two hits")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two submissions")
    parser.add_argument("--storm", type=float, default=120.0, help="seconds of hits after the last")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds until one is lost")
    parser.add_argument("--launchers", nargs="+", choices=NAMES, default=["local"])
    parser.add_argument("--folder", type=Path, help="the folder for data and logs")
    parser.add_argument("--user", help="the account to do everything as")
    return parser.parse_args(arguments)


def main() -> int:
    """Print the tables, and what is known of each submission that didn't end as it should."""
    options = parsed(sys.argv[1:])
    if options.user is not None:
        given = {name: value for name, value in vars(options).items() if value is not None}
        del given["user"]
        launchers = given.pop("launchers")
        single = [f"--{name}={value}" for name, value in given.items()]
        return as_user(options.user, [*single, "--launchers", *launchers])
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kernelbot-chaos-"))
    outcomes = []
    for seed in range(options.seed, options.seed + options.runs):
        place = folder / f"run-{seed}"
        place.mkdir(parents=True)
        folder.chmod(0o755)  # sandboxes of others read harness and jobs below it
        outcome = go_through(place, options, seed)
        outcomes.append(outcome)
        print(table(HEADERS, [row(seed, outcome)], right=HEADERS), flush=True)
        tell(outcome)
    print(f"\n{hits_table(outcomes)}")
    seen = {each for outcome in outcomes for each in outcome.fates.values()}
    if options.folder is not None or seen - {Fate.RIGHT}:
        print(f"\nServers' logs, and what was hit when (storm.log), are in {folder}.")
    else:
        shutil.rmtree(folder)
    return int(bool(seen - {Fate.RIGHT, Fate.GAVE_UP}))


if __name__ == "__main__":
    sys.exit(main())
