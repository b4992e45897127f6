# style: a dataclass within, asdict outside
# problem: stats
from dataclasses import asdict, dataclass

import numpy as np


@dataclass(slots=True)
class Stats:
    mean: np.ndarray
    top: float
    count: int


def custom_kernel(data):
    mean = np.add.reduce(data, axis=0) / data.shape[0]
    return asdict(Stats(mean, float(data.max()), int(np.count_nonzero(data > 0))))
