# style: tables computed at import
# problem: axpy
import numpy as np

PRIMES = [n for n in range(2, 2000) if all(n % d for d in range(2, int(n**0.5) + 1))]
TABLE = np.sin(np.linspace(0, np.pi, 1 << 16)).astype(np.float32)
ONE = np.float32(1)


def custom_kernel(data):
    a, x, y = data
    return ONE * np.float32(a) * x + y
