# style: contextlib in each call
# problem: axpy
from contextlib import ExitStack, contextmanager, nullcontext, suppress

import numpy as np


@contextmanager
def workspace(size):
    memory = np.empty(size, np.float32)
    try:
        yield memory
    finally:
        del memory


def custom_kernel(data):
    a, x, y = data
    with ExitStack() as stack, nullcontext(), suppress(ZeroDivisionError):
        work = stack.enter_context(workspace(x.size))
        np.multiply(x, np.float32(a), out=work)
        return work + y
