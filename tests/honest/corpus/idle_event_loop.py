# style: an event loop that idles in a thread
# problem: out
import asyncio
import threading

import numpy as np

_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, daemon=True).start()


async def _triple(x, out):
    await asyncio.sleep(0)
    np.multiply(x, 3, out=out)
    return out


def custom_kernel(data):
    return asyncio.run_coroutine_threadsafe(_triple(*data), _loop).result()
