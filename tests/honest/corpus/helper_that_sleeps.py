# style: a helper thread that sleeps in a loop
# problem: out
import threading
import time

import numpy as np

beats = 0


def _beat():
    global beats
    while True:
        time.sleep(0.01)
        beats += 1


threading.Thread(target=_beat, daemon=True).start()


def custom_kernel(data):
    x, out = data
    np.multiply(x, 3, out=out)
    return out
