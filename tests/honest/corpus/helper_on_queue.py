# style: a helper thread that waits on a queue
# problem: out
import queue
import threading

import numpy as np

_tasks, _done = queue.SimpleQueue(), queue.SimpleQueue()


def _help():
    while True:
        x, out = _tasks.get()
        np.multiply(x, 3, out=out)
        _done.put(True)


threading.Thread(target=_help, daemon=True).start()


def custom_kernel(data):
    x, out = data
    half = x.size // 2
    _tasks.put((x[:half], out[:half]))
    np.multiply(x[half:], 3, out=out[half:])
    _done.get()
    return out
