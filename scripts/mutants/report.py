"""What came of the changes, for people and for programs."""

import difflib
import json
from collections import Counter
from pathlib import Path

from scripts.mutants.trial import Outcome, Trial

_COLUMNS = tuple(Outcome)
_NOTICED = (Outcome.KILLED, Outcome.TIMEOUT)


def table(trials: list[Trial]) -> str:
    """A line for each module, and one for all of them."""
    modules = sorted({trial.mutant.module for trial in trials})
    lines = [f"{'module':<58}" + "".join(f"{column:>11}" for column in _COLUMNS)]
    for name in [*modules, "all"]:
        counted = Counter(t.outcome for t in trials if name in ("all", t.mutant.module))
        lines.append(f"{name:<58}" + "".join(f"{counted[column]:>11}" for column in _COLUMNS))
    return "\n".join(lines)


def share(trials: list[Trial]) -> str:
    """How many of those that could be noticed were."""
    noticed = sum(trial.outcome in _NOTICED for trial in trials)
    could = sum(trial.outcome is not Outcome.EQUIVALENT for trial in trials)
    percent = 100 * noticed / could if could else 100
    return f"{noticed} of {could} noticed ({percent:.1f} %)."


def shown(tree: Path, trial: Trial) -> str:
    """The change as a difference, and what to say of it in `equivalents.toml`."""
    mutant = trial.mutant
    source = (tree / mutant.module).read_bytes()
    before, after = (text.decode().splitlines() for text in (source, mutant.applied(source)))
    lines = difflib.unified_diff(before, after, mutant.module, mutant.module, lineterm="", n=2)
    where = f"{mutant.module}:{mutant.line} ({mutant.operator}, {trial.outcome})"
    return "\n".join([where, *lines])


def as_json(trials: list[Trial], seed: int) -> str:
    """All of it; `before`, `after` and `function` are what an entry of `equivalents.toml` needs."""
    entries = [
        {
            "module": trial.mutant.module,
            "line": trial.mutant.line,
            "operator": trial.mutant.operator,
            "function": trial.mutant.function,
            "before": trial.mutant.before,
            "after": trial.mutant.after,
            "outcome": trial.outcome,
            "test": trial.test,
            "reason": trial.reason,
        }
        for trial in trials
    ]
    return json.dumps({"seed": seed, "mutants": entries}, indent=1)
