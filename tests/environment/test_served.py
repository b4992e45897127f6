"""What an environment can be called, and how it is served."""

import pytest
from fastapi import FastAPI

from kernelbot.domain.errors import UserError
from kernelbot.environment.serving import Environment, server_config
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


def test_a_client_that_is_too_busy_for_pings_has_as_long_as_an_idle_one() -> None:
    limits = SessionLimits(idle_s=1234.0)
    assert 1234.0 == server_config(FastAPI(), limits).ws_ping_timeout
