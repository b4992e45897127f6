# style: a trial under `if __name__ == "__main__"`
# problem: axpy
import argparse
import time

import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size
    data = (2.0, np.ones(size, np.float32), np.ones(size, np.float32))
    start = time.perf_counter()
    custom_kernel(data)
    print(f"{time.perf_counter() - start:.6f} s")


if __name__ == "__main__":
    main()
