# style: writes a module of its own and imports it
# problem: out
import importlib
import sys
import tempfile
from pathlib import Path

_folder = tempfile.mkdtemp()
Path(_folder, "my_helpers.py").write_text("def triple(x):\n    return x * 3\n")
sys.path.insert(0, _folder)
my_helpers = importlib.import_module("my_helpers")


def custom_kernel(data):
    return my_helpers.triple(data[0])
