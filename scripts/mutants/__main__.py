"""`make mutants`: draw changes at random, try each, and show which no test noticed."""

import argparse
import json
import os
import random
import signal
import sys
from pathlib import Path

from scripts.mutants.equivalents import equivalents, reason_of
from scripts.mutants.lines import Kept
from scripts.mutants.operators import Mutant, mutants
from scripts.mutants.report import as_json, share, shown, table
from scripts.mutants.scope import noticing, scopes
from scripts.mutants.trial import Outcome, Trial
from scripts.mutants.trying import Limits, tried

ROOT = Path(__file__).resolve().parent.parent.parent
_SHOWN = (Outcome.SURVIVED, Outcome.UNCLEAR)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many are drawn")
    parser.add_argument("--all", action="store_true", help="try each, and draw none")
    parser.add_argument("--seed", type=int, default=1, help="draws the same of the same tree")
    parser.add_argument("--scope", action="append", help="only of these groups of scope.toml")
    parser.add_argument("--module", action="append", help="only of files whose path has this in it")
    parser.add_argument("--tests", action="append", help="by these files of tests alone")
    parser.add_argument("--again", type=Path, help="what was left in this file of --json's")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tests-s", type=float, default=20, help="of tests of one, the quickest")
    parser.add_argument("--limit-s", type=float, default=60, help="when those that hang are ended")
    parser.add_argument("--list", action="store_true", help="only say what would be drawn")
    parser.add_argument("--json", type=Path, help="where to write all of it")
    return parser.parse_args()


def main() -> None:
    """Exit with 1 if there is a change that no test noticed and that isn't listed."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    possible = {
        mutant: tuple(arguments.tests or noticing(ROOT, scope, module))
        for scope in scopes(ROOT)
        if not arguments.scope or scope.name in arguments.scope
        for module in scope.modules
        if not arguments.module or any(part in module for part in arguments.module)
        for mutant in mutants(module, (ROOT / module).read_bytes())
    }
    drawn = _left(arguments.again, list(possible)) if arguments.again else list(possible)
    if not arguments.all:
        drawn = random.Random(arguments.seed).sample(drawn, min(arguments.count, len(drawn)))
    print(f"{len(drawn)} of {len(possible)} possible changes, seed {arguments.seed}.", flush=True)
    if arguments.list:
        for mutant in drawn:
            print(f"{mutant.module}:{mutant.line} {mutant.before!r} -> {mutant.after!r}")
        return
    trials = _try(drawn, possible, arguments)
    if arguments.json:
        arguments.json.write_text(as_json(trials, arguments.seed))
    left = [trial for trial in trials if trial.outcome in _SHOWN]
    for trial in left:
        print(f"\n{shown(ROOT, trial)}")
    print(f"\n{table(trials)}\n\n{share(trials)}")
    sys.exit(1 if left else 0)


def _left(file: Path, possible: list[Mutant]) -> list[Mutant]:
    """Those that no test noticed in an earlier run, as far as they are still there."""
    names = ("module", "function", "before", "after")
    entries = json.loads(file.read_text())["mutants"]
    left = {tuple(one[name] for name in names) for one in entries if one["outcome"] in _SHOWN}
    return [one for one in possible if (one.module, one.function, one.before, one.after) in left]


def _try(
    drawn: list[Mutant], tests: dict[Mutant, tuple[str, ...]], arguments: argparse.Namespace
) -> list[Trial]:
    """Try all of them, or as many as there is time for; sorted by where they are."""
    known = equivalents()
    reasons = {mutant: reason_of(mutant, known) for mutant in drawn}
    trials = [
        Trial(mutant, Outcome.EQUIVALENT, reason=reason)
        for mutant, reason in reasons.items()
        if reason is not None
    ]
    to_try = {mutant: tests[mutant] for mutant in drawn if reasons[mutant] is None}
    limits = Limits(arguments.jobs, arguments.tests_s, arguments.limit_s)
    modules = {module for scope in scopes(ROOT) for module in scope.modules}
    kept = Kept(ROOT / "build/mutants/lines.json", ROOT, modules)
    try:
        for number, trial in enumerate(tried(ROOT, to_try, kept, limits), start=1):
            where = f"{trial.mutant.module}:{trial.mutant.line}"
            print(f"{number}/{len(to_try)} {trial.outcome} {where} {trial.test}", flush=True)
            trials.append(trial)
    except KeyboardInterrupt:
        print("Interrupted: what was tried so far is shown.", flush=True)
    return sorted(trials, key=lambda trial: (trial.mutant.module, trial.mutant.start))


if __name__ == "__main__":
    main()
