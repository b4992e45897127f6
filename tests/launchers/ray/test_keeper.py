"""What the keeper tells, without a cluster."""

import io
import sys
import zipfile
from types import SimpleNamespace

from kernelbot.launchers.ray.keeper import (
    AttemptState,
    Keeper,
    KeeperEntry,
    TaskJob,
    TaskStage,
    judge,
    keeper_name,
)


def keeper(**results: bytes) -> Keeper:
    made = Keeper()
    made._entries = {name: KeeperEntry(None, result=result) for name, result in results.items()}
    return made


def stages(made: Keeper, most: int) -> list[TaskStage]:
    told = made.poll(dict.fromkeys(made._entries, most))
    return [state.stage for state in told.values()]


def test_one_answer_has_so_many_bytes_of_results() -> None:
    made = keeper(first=b"x" * (60 << 20), second=b"x" * (60 << 20), third=b"x" * (1 << 20))
    assert [TaskStage.DONE, TaskStage.RUNNING, TaskStage.DONE] == stages(made, 100 << 20)


def test_the_first_result_is_told_however_large() -> None:
    assert [TaskStage.DONE, TaskStage.RUNNING] == stages(
        keeper(a=b"x" * (65 << 20), b=b"x"), 100 << 20
    )


def test_a_result_that_is_too_large_is_named_and_not_told() -> None:
    assert {"a": AttemptState(TaskStage.DONE, size=3)} == keeper(a=b"123").poll({"a": 2})


def test_an_attempt_of_another_keeper_is_unknown() -> None:
    assert {"a'; echo x": AttemptState(TaskStage.UNKNOWN)} == keeper().poll({"a'; echo x": 1})


def test_each_keeper_has_an_id_of_its_own() -> None:
    assert keeper().id() != keeper().id()


def test_a_keeper_of_another_version_has_another_name() -> None:
    names = {keeper_name(), keeper_name(b"one"), keeper_name(b"another")}
    assert 3 == len(names)
    assert all(name.startswith("kernelbot-keeper-") for name in names)


def test_the_same_version_finds_its_keeper_again() -> None:
    assert keeper_name() == keeper_name()


_TELLS_MODES = """
import os, sys
result = sys.argv[sys.argv.index("--result") + 1]
folder = os.path.dirname(result)
mask = os.umask(0o077)
modes = [mask] + [os.stat(os.path.join(folder, n)).st_mode & 0o777 for n in (".", "log")]
with open(result, "w") as file:
    file.write(" ".join(f"{mode:o}" for mode in modes))
"""


def test_others_of_a_node_can_read_neither_result_nor_log() -> None:
    """They may only go through the folder, to the harness: a sandbox has an account of its own."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("__main__.py", _TELLS_MODES)
    job = TaskJob("1.1.a", "", "", sys.executable, False, 60.0, 0.0, 1.0, {})
    told = SimpleNamespace(begun=SimpleNamespace(remote=lambda _attempt: None))
    assert b"77 711 600" == judge(job, content.getvalue(), told)
