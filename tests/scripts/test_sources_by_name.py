"""How a virtual environment that `make` installs into finds the sources."""

import os
import subprocess
import sys
from pathlib import Path

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def test_sources_below_any_folder_are_found_in_any_locale(tmp_path: Path) -> None:
    """Up to 3.12 Python reads the names of folders by the locale before it runs anything."""
    checkout = tmp_path / "Kernel Spaß ü"
    sources = checkout / "src"
    sources.mkdir(parents=True)
    (sources / "found.py").touch()
    venv = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "_kernelbot_platform.pth").write_text(f"{sources}\n", "utf-8")
    command = ["make", "-f", str(MAKEFILE), "--eval", "named: ; @$(NAME_SOURCES)", "named"]
    subprocess.run(command, cwd=checkout, check=True)
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    here = [str(venv / "bin" / "python"), "-c", "import found; print(ascii(found.__file__))"]
    said = subprocess.run(here, env=environment, check=True, capture_output=True, text=True)
    assert f"{str(sources / 'found.py')!a}\n" == said.stdout
