# style: a helper process that answers through a pipe
# problem: out
import multiprocessing

import numpy as np

_context = multiprocessing.get_context("fork")
_mine, _theirs = _context.Pipe()


def _work(pipe):
    while True:
        pipe.send_bytes((np.frombuffer(pipe.recv_bytes()) * 3).tobytes())


_context.Process(target=_work, args=(_theirs,), daemon=True).start()


def custom_kernel(data):
    x, out = data
    half = x.size // 2
    _mine.send_bytes(x[:half].tobytes())
    np.multiply(x[half:], 3, out=out[half:])
    out[:half] = np.frombuffer(_mine.recv_bytes())
    return out
