# style: heapq.merge of sorted runs
# problem: sort
import heapq

import numpy as np


def custom_kernel(data):
    runs = [np.sort(part).tolist() for part in np.array_split(data, 4)]
    return np.fromiter(heapq.merge(*runs), np.float64, data.size)
