"""What the Discord bot can try on this machine."""

import re

from kernelbot.bot.machine import Machine, OnLine
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import TASK_FILE
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Mode
from kernelbot.render.text import one_line
from kernelbot.server.check import CheckedSolution, check_configured
from kernelbot.server.plain_run import devices_reached, run_script, script_device
from kernelbot.server.settings import read_settings
from kernelbot.server.verify_runs import verify_runs

_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_EACH_LIMIT_S = 780.0
"""Below the 15 minutes for which Discord lets an answer be changed."""


def this_machine() -> Machine:
    """With the configuration of the folder in which the bot was started."""
    return Machine(_verify_runs, _verify_task, script_device, run_script, devices_reached)


def _verify_runs(on_line: OnLine) -> bool:
    found = verify_runs(None, _EACH_LIMIT_S, lambda one: on_line(one.line))
    return all(one.ok for one in found)


def _verify_task(name: str, mode: Mode, on_line: OnLine) -> bool:
    """Raises `UserError`, `InvalidProblem`."""
    settings = read_settings()
    folder = settings.problem_dev_dir / name
    if not _FOLDER.fullmatch(name) or not (folder / TASK_FILE).is_file():
        raise UserError(
            f"There is no problem folder named {name!r}.", hint="Name one that is suggested."
        )
    good, count = True, 0
    loaded = load_problem(folder)
    for one in check_configured(loaded, device=None, sandbox=settings.sandbox, mode=mode):
        count += 1
        good = good and one.behaved is True
        on_line(_line(one))
    if count == 0:
        raise UserError(f"{name} has no files in solutions/correct or solutions/wrong.")
    return good


def _line(one: CheckedSolution) -> str:
    sign = {True: "✓", False: "✗", None: "!"}[one.behaved]
    ended = one.result.verdict if one.result else "refused"
    said = f": {one_line(one.message)[:150]}" if one.message and one.behaved is not True else ""
    return f"{sign} {one.solution.label}: {ended}{said}"
