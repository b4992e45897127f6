from pathlib import Path

import pytest

from tests.support.terminal import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {})
