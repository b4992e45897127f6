"""What an environment can be called."""

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.environment.serving import Environment
from kernelbot.environment.settings import EpisodeRules, SessionLimits
from kernelbot.environment.tasks import Division


def called(name: str) -> Environment:
    return Environment(name, [], Division(), EpisodeRules(), SessionLimits())


@pytest.mark.parametrize("name", ["kernelbot", "Kernel-Bot_2.0", "k"])
def test_a_name_stands_in_the_paths_of_its_tasks(name: str) -> None:
    assert name == called(name).name


@pytest.mark.parametrize("name", ["", "a/b", "../x", ".", "a b", "é", "x" * 101, "a'; echo x"])
def test_what_can_not_is_a_mistake(name: str) -> None:
    with pytest.raises(UserError, match="can't be called"):
        called(name)
