"""Files that the suite submits."""

from tests.conformance.popcorn_cli import Upload
from tests.conformance.target import DIRECTORY, EXAMPLES

MARKER = "what the program printed: 1729"
MIB = 1 << 20


def correct() -> Upload:
    """A file that is accepted."""
    solution = min((EXAMPLES / DIRECTORY / "solutions" / "correct").glob("*.py"))
    return Upload("submission.py", solution.read_bytes())


def wrong() -> Upload:
    """A file that runs, prints, and answers wrongly."""
    source = f"def custom_kernel(data):\n    print({MARKER!r}, flush=True)\n    return None\n"
    return Upload("wrong.py", source.encode())


def slow() -> Upload:
    """A file that takes a while before it is accepted."""
    source = correct().content.decode()
    return Upload("slow.py", f"import time\n\ntime.sleep(2)\n{source}".encode())


def named(name: str) -> Upload:
    """A small file under another name."""
    return Upload(name, b"def custom_kernel(data):\n    return data\n")


def containing(text: str | bytes) -> Upload:
    """A file of this content."""
    return Upload("submission.py", text.encode() if isinstance(text, str) else text)
