# style: an abstract class, a registry and an enum
# problem: axpy
import abc
import enum

import numpy as np


class Size(enum.Enum):
    SMALL = enum.auto()
    LARGE = enum.auto()


class Backend(abc.ABC):
    registry = {}

    def __init_subclass__(cls, *, size):
        Backend.registry[size] = cls()

    @abc.abstractmethod
    def run(self, a, x, y): ...


class Simple(Backend, size=Size.SMALL):
    def run(self, a, x, y):
        return a * x + y


class InPlace(Backend, size=Size.LARGE):
    def run(self, a, x, y):
        result = a * x
        result += y
        return result


def custom_kernel(data):
    a, x, y = data
    size = Size.SMALL if x.size < 1000 else Size.LARGE
    return Backend.registry[size].run(np.float32(a), x, y)
