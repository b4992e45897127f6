"""Programs for `prefixsum_np` that differ by a few numbers: what the searches vary."""

import random
from dataclasses import dataclass, replace

METHODS = ("chunks", "table", "columns")
SMALLEST, LARGEST = 64, 65_536
_PROGRAM = '''\
import numpy as np

BLOCK = {block}


def custom_kernel(data):
    if len(data) <= BLOCK:
        return np.cumsum(data, dtype=np.int64)
    return {method}(data)


def chunks(data):
    """Sum block by block, each with what came before it."""
    found, before = np.empty(len(data), np.int64), 0
    for start in range(0, len(data), BLOCK):
        part = found[start : start + BLOCK]
        np.cumsum(data[start : start + BLOCK], dtype=np.int64, out=part)
        part += before
        before = part[-1]
    return found


def table(data):
    """Sum all rows of a table at once, then add what came before each."""
    rows = padded(data)
    np.cumsum(rows, axis=1, out=rows)
    return with_rows_before(rows, len(data))


def columns(data):
    """The same, a column at a time."""
    rows = padded(data)
    for column in range(1, BLOCK):
        rows[:, column] += rows[:, column - 1]
    return with_rows_before(rows, len(data))


def padded(data):
    rows = np.zeros((-(-len(data) // BLOCK), BLOCK), np.int64)
    rows.reshape(-1)[: len(data)] = data
    return rows


def with_rows_before(rows, size):
    rows[1:] += np.cumsum(rows[:-1, -1])[:, None]
    return rows.reshape(-1)[:size]
'''


@dataclass(frozen=True)
class Candidate:
    """One choice of the numbers."""

    method: str
    block: int

    @classmethod
    def any(cls, chance: random.Random) -> "Candidate":
        """Each size of block is as likely as its double."""
        block = round(SMALLEST * (LARGEST / SMALLEST) ** chance.random())
        return cls(chance.choice(METHODS), block)

    def changed(self, chance: random.Random) -> "Candidate":
        """Another block of up to twice or half the size, now and then another method."""
        block = round(self.block * 2 ** chance.uniform(-1, 1))
        block = min(max(block, SMALLEST), LARGEST)
        if chance.random() < 0.2:
            return replace(self, method=chance.choice(METHODS), block=block)
        return replace(self, block=block)

    @property
    def source(self) -> str:
        """The program."""
        return _PROGRAM.format(method=self.method, block=self.block)
