# style: asyncio.run in each call
# problem: out
import asyncio

import numpy as np


async def _part(x, out):
    np.multiply(x, 3, out=out)


async def _all(x, out):
    half = x.size // 2
    await asyncio.gather(_part(x[:half], out[:half]), _part(x[half:], out[half:]))
    return out


def custom_kernel(data):
    return asyncio.run(_all(*data))
