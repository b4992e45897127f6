"""How large a `cluster_sim` is, and who submits what and when."""

import random
from dataclasses import dataclass

from benchmarks.cluster_sim_launchers import SCHEDULERS
from kernelbot.protocol import Mode

RUSH = 0.2
"""The last part of the time, in which twice as much comes."""
RANKED = 0.1
SKEW = 0.6
"""How unequally authors submit: the weight of the Nth is N to the power of minus that."""


@dataclass(frozen=True)
class Options:
    """How large and how fast."""

    authors: int = 200
    submissions: int = 2000
    speed: float = 10.0
    rate: float = 50.0
    load: float = 0.8
    workers: int = 1
    kills: int = 2
    seed: int = 1

    @property
    def lasts_s(self) -> float:
        """How long submissions come, in real seconds."""
        return self.submissions / self.rate

    def slots(self) -> dict[str, int]:
        """Of each worker, by device: ranked submissions have two runs."""
        runs_per_s = self.rate * (1 + RANKED) / self.load / self.workers
        return {
            each.device: max(2, round(runs_per_s * each.share * each.mean_s / self.speed))
            for each in SCHEDULERS
        }


@dataclass(frozen=True)
class Order:
    """One submission, and when it comes."""

    at_s: float
    author: int
    device: str
    mode: Mode


def make_orders(options: Options) -> list[Order]:
    """In the order in which they come."""
    chance = random.Random(options.seed)
    weights = [(n + 1) ** -SKEW for n in range(options.authors)]
    authors = chance.choices(range(options.authors), weights, k=options.submissions)
    devices = [each.device for each in SCHEDULERS]
    shares = [each.share for each in SCHEDULERS]
    orders = [
        Order(
            at_s=_moment(chance.random()) * options.lasts_s,
            author=author,
            device=chance.choices(devices, shares)[0],
            mode=Mode.LEADERBOARD if chance.random() < RANKED else Mode.TEST,
        )
        for author in authors
    ]
    return sorted(orders, key=lambda order: order.at_s)


def _moment(drawn: float) -> float:
    """From 0 to 1, twice as likely in the rush."""
    calm = (1 - RUSH) / (1 + RUSH)
    return drawn / calm * (1 - RUSH) if drawn < calm else 1 - (1 - drawn) / (1 - calm) * RUSH
