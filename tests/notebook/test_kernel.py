"""The magic in a real Jupyter kernel."""

from collections.abc import Iterator

import pytest
from nbclient.exceptions import CellExecutionError

from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.timing.turns import VARIABLE
from tests.notebook.kernels import Run, kernel, shown
from tests.support.terminal import Shell
from tests.support.warm import end_judges
from tests.test_documented_commands import DOCS, ROOT, blocks

SAMPLING = "[sampling]\nmax_samples = 20\nwall_cap_s = 0.3\npatience_s = 3\nwarmup_s = 0.0\n"
RIGHT = "import numpy as np\n\n\ndef custom_kernel(data):\n    return np.sort(data)\n"
PAGE = DOCS / "how-to" / "notebook.md"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """In a folder with the examples, without a server."""
    home = tmp_path_factory.mktemp("home")
    (home / "kernelbot.toml").write_text(SAMPLING)
    (home / "examples").symlink_to(ROOT / "examples")
    more = {"XDG_RUNTIME_DIR": str(home), "KERNELBOT_URL": "http://127.0.0.1:1", VARIABLE: ""}
    with kernel(home, Shell(home, more).environment) as run:
        yield run
    if (home / "kernelbot").is_dir():
        end_judges(PrivateFolder.open(home / "kernelbot"))


def refused(run: Run, source: str) -> str:
    """What a cell says that ends with an error, without a traceback."""
    with pytest.raises(CellExecutionError) as caught:
        run(source)
    said = str(caught.value)
    assert ("Traceback" in said, "UsageError" in said) == (False, True), said
    return said


def test_the_page_s_cells_do_what_they_say(run: Run) -> None:
    load, judged, printed = (text for kind, text in blocks(PAGE) if kind == "ipython")
    run(load)
    found = shown(run(judged))
    (output,) = run(printed)
    assert ("✓ accepted: sort_np" in found["text/plain"], True, True) == (
        True,
        "<table>" in found["text/html"] and "data:image/svg+xml" in found["text/html"],
        output["text"].startswith("accepted ("),
    )


def test_an_error_is_shown_at_its_line_of_the_cell(run: Run) -> None:
    wrong = RIGHT.replace("np.sort", "nq.sort")
    found = shown(run(f"%%kernelbot examples/sort_np --mode test\n{wrong}"))
    expected = "line 6 of the cell (5 of the file): error: NameError: name 'nq' is not defined"
    assert (True, True) == (expected in found["text/plain"], "NameError" in found["text/html"])


def test_a_refused_cell_doesn_t_stop_those_that_follow(run: Run) -> None:
    found = shown(
        run("%%kernelbot examples/sort_np -m test\ndef custom_kernel(data):\n    return data\n")
    )
    assert "✗ wrong answer" in found["text/html"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "what the cell is to solve"),
        ("nowhere", "There is no folder nowhere"),
        ("examples/sort_np -m fast", "fast"),
        ("examples/sort_np -d H100", "H100"),
        ("--board sort_np", "Is it running"),
        ("$undefined", "undefined"),
    ],
)
def test_what_is_not_judged_ends_with_a_sentence(run: Run, line: str, said: str) -> None:
    assert said in refused(run, f"%%kernelbot {line}\n{RIGHT}")


def test_python_s_variables_can_be_used_in_the_line(run: Run) -> None:
    run("problem, how = 'examples/sort_np', 'test'")
    found = shown(run(f"%%kernelbot $problem --mode {{how}}\n{RIGHT}"))
    assert "✓ accepted: sort_np, mode test" in found["text/plain"]


def test_help_is_that_of_a_terminal(run: Run) -> None:
    for line in ("%kernelbot --help", "%kernelbot", "%%kernelbot --help\n# nothing is judged"):
        assert "--baseline" in str(run(line))


def test_a_line_alone_is_no_submission(run: Run) -> None:
    assert "at the top of a cell" in refused(run, "%kernelbot examples/sort_np")
