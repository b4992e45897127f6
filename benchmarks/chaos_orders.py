"""The submissions that `chaos.py` sends, and what must come of each."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.protocol import Mode, Verdict

PROBLEMS = ("sort_np", "identity_np")
AUTHORS = 5
WRONG_SHARE = 0.25
HONEST = {
    "sort_np": "import numpy as np\ndef custom_kernel(data):\n    return np.sort(data)\n",
    "identity_np": "def custom_kernel(data):\n    return data.copy()\n",
}
WRONG = {
    Verdict.WRONG_ANSWER: "def custom_kernel(data):\n    return data * 0 + 1\n",
    Verdict.RUNTIME_ERROR: "def custom_kernel(data):\n    raise ValueError('no')\n",
    Verdict.COMPILE_ERROR: "def custom_kernel(data)\n    return data\n",
}


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
