# style: cached_property and weak references
# problem: axpy
import weakref
from functools import cached_property

import numpy as np


class Workspace:
    @cached_property
    def memory(self):
        return np.empty(1 << 16, np.float32)


_owner = Workspace()
_known = weakref.WeakValueDictionary({"workspace": _owner})


def custom_kernel(data):
    a, x, y = data
    work = _known["workspace"].memory
    if x.size > work.size:
        return np.float32(a) * x + y
    np.multiply(x, np.float32(a), out=work[: x.size])
    return work[: x.size] + y
