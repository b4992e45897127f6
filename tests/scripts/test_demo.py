import tempfile
from pathlib import Path

import pytest
from scripts.demo import demo_folder


def test_the_demo_lives_in_the_checkout() -> None:
    assert demo_folder(Path("/srv/kernel-bot_2.0")) == Path("/srv/kernel-bot_2.0/.demo")


@pytest.mark.parametrize("name", ["my projects", "o'brien", "a;b", 'a"b', "$HOME"])
def test_a_checkout_with_an_odd_name_has_its_demo_elsewhere(name: str) -> None:
    folder = demo_folder(Path("/srv") / name)
    assert folder.parent == Path(tempfile.gettempdir())
