# style: a comprehension over columns
# problem: stats
import numpy as np


def custom_kernel(data):
    means = np.array([column.mean() for column in data.T], np.float32)
    return {"mean": means, "top": float(max(row.max() for row in data)), "count": int(np.sum(data > 0))}
