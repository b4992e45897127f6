import pytest

from kernelbot.catalog.input_classes import extract

REFERENCE = """from __future__ import annotations
import math
from dataclasses import dataclass
import os
from task import *

WIDTH, DEPTH = 4, 2
SECRET = "a'; echo x"

def halved(x):
    return x // math.floor(DEPTH)

@dataclass
class Config:
    width: int = WIDTH

class Cache:
    def half(self):
        return halved(4)

def generate_input(size):
    return Config(), Cache()

class Circular:
    def all(self):
        return generate_input(Circular)
"""


def test_a_class_comes_with_what_it_names() -> None:
    expected = """from __future__ import annotations

from dataclasses import dataclass

from task import *

WIDTH, DEPTH = 4, 2

@dataclass
class Config:
    width: int = WIDTH
"""
    assert expected == extract(REFERENCE, ["Config"]).text


def test_so_does_what_that_names() -> None:
    text = extract(REFERENCE, ["Cache"]).text
    found: dict[str, object] = {}
    exec(text.replace("from task import *", ""), found)
    assert "halved" in found
    assert "SECRET" not in text
    assert "generate_input" not in text


def test_a_class_that_needs_the_rest_of_the_reference_is_not_shared() -> None:
    found = extract(REFERENCE, ["Circular"])
    assert ("", "Circular can't do without generate_input") == (found.text, found.obstacle)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["\x0c", "# \u2028", "# \x85", "'\x1c'"])
def test_lines_are_those_that_python_counts(mark: str, end: str) -> None:
    text = end.join([mark, "class Batch:", "    width = 1", "    depth = 2", "x = 1", ""])
    expected = "class Batch:\n    width = 1\n    depth = 2\n"
    assert expected == extract(text, ["Batch"]).text


@pytest.mark.parametrize("text", ["", "x = 1\n", "class A: ...\nA = A\n"])
def test_a_name_that_no_statement_defines_is_left_to_others(text: str) -> None:
    assert "" == extract(text, ["A"]).obstacle
