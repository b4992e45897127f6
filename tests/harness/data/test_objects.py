"""Objects of a problem's own classes in the data of a call."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from kernelbot.harness.data.decode import InvalidValue, decode
from kernelbot.harness.data.encode import UnsupportedValue, encode
from kernelbot.harness.data.shared_memory import SharedBuffer

torch: Any = pytest.importorskip("torch", reason="torch isn't installed")
MODULES = frozenset({"own_classes"})
SOURCE = """
import torch
class Plain:
    def __init__(self, **named):
        self.made = True
        vars(self).update(named)
class Slots:
    __slots__ = ("x",)
class Cache(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("data", torch.zeros(size))
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.filled = 0
    def forward(self, x):
        self.data[self.filled] = x
        self.filled += 1
        return self.data[: self.filled]
class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Cache(3)
"""


@pytest.fixture(autouse=True)
def own() -> Iterator[Any]:
    module = ModuleType("own_classes")
    sys.modules["own_classes"] = module
    exec(SOURCE, vars(module))
    yield module
    del sys.modules["own_classes"]


def sent(value: object) -> Any:
    encoded = encode(value, MODULES, of_input=True)
    buffer = SharedBuffer.create(encoded.size_bytes)
    encoded.copy_to(buffer)
    return decode(encoded.skeleton, buffer, MODULES, of_input=True)[0]


def test_an_object_has_its_class_and_attributes(own: Any) -> None:
    got = sent(own.Plain(count=3, x=torch.arange(4)))
    assert type(got) is own.Plain
    assert {"made": True, "count": 3, "x": [0, 1, 2, 3]} == {**vars(got), "x": got.x.tolist()}


def test_no_code_of_the_class_builds_it(own: Any) -> None:
    value = own.Plain(count=1)
    own.Plain.__init__ = None
    assert 1 == sent(value).count


def test_a_module_works_as_before(own: Any) -> None:
    cache = own.Cache(3)
    cache(5.0)
    got = sent(cache)
    assert [5.0, 7.0] == got(7.0).tolist()
    assert ["data"] == [name for name, _ in got.named_buffers()]
    assert ["weight"] == [name for name, _ in got.named_parameters()]


def test_so_does_one_within_another(own: Any) -> None:
    assert [1.0] == sent(own.Outer()).inner(1.0).tolist()


def test_a_dtype_is_itself(own: Any) -> None:
    assert torch.float16 is sent(own.Plain(dtype=torch.float16)).dtype


def test_an_output_may_contain_none(own: Any) -> None:
    with pytest.raises(UnsupportedValue, match=r"own_classes\.Plain"):
        encode(own.Plain(), MODULES)
    made = encode(own.Plain(), MODULES, of_input=True)
    with pytest.raises(InvalidValue, match="no known kind"):
        decode(made.skeleton, SharedBuffer.create(64), MODULES)


def test_what_is_more_than_its_attributes_is_refused(own: Any) -> None:
    hooked = own.Cache(1)
    hooked.register_forward_hook(lambda *_: None)
    for value in (own.Slots(), hooked):
        with pytest.raises(UnsupportedValue, match="more than its attributes"):
            encode(value, MODULES, of_input=True)


def test_of_other_modules_nothing_is_built(own: Any) -> None:
    made = encode(own.Plain(), MODULES, of_input=True).skeleton
    for changes in ({"m": "os"}, {"m": "subprocess", "c": "Popen"}, {"c": "Plain.x"}, {"b": ["x"]}):
        with pytest.raises(InvalidValue):
            decode({**made, **changes}, SharedBuffer.create(64), MODULES, of_input=True)
