import pytest

from kernelbot.protocol.environment import passed_on


@pytest.mark.parametrize(
    "name",
    [
        "ADMIN_TOKEN",
        "CLI_GITHUB_CLIENT_SECRET",
        "DATABASE_URL",
        "GITHUB_TOKEN",
        "HF_TOKEN",
        "KERNELBOT_CONFIG",
        "PGPASSWORD",
        "a'; echo x",
    ],
)
def test_secrets_stay(name: str) -> None:
    assert {} == passed_on({name: "secret"})


@pytest.mark.parametrize("name", ["PATH", "LC_ALL", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"])
def test_what_judging_needs_is_passed_on(name: str) -> None:
    assert {name: "x"} == passed_on({name: "x"})
