# style: tries itself at import with a generator of its own
# problem: sort
import numpy as np


def custom_kernel(data):
    return np.sort(data, kind="quicksort")


_rng = np.random.default_rng(0)
for _size in (0, 1, 2, 100):
    _data = _rng.standard_normal(_size)
    assert np.all(np.diff(custom_kernel(_data)) >= 0)
