"""Decides how a problem is judged: natively, or by its own script; and says why, for people."""

import re
from collections.abc import Mapping

from kernelbot.catalog.reference import REFERENCE, TASK, Reference, names_module_input
from kernelbot.protocol import BuildConfig, HarnessKind, Lang
from kernelbot.protocol.late import dataclass

SUPPLIED_TO_RANKS = frozenset({"rank", "world_size"})
"""Arguments that a problem of several ranks passes to `generate_input` beside its cases'."""

_MAIN = re.compile(
    r"^[ \t]*(?:extern[ \t]+\"C\"[ \t]+)?(?:int|auto)\s{1,99}main[ \t]*\(", re.MULTILINE
)


@dataclass(frozen=True)
class HarnessChoice:
    """`natively_possible` False: native judging can't work, even if task.yml asks for it."""

    kind: HarnessKind
    reason: str
    natively_possible: bool
    obstacle: str = ""
    """Why a script has to judge though nobody asked for one; empty if it needn't."""


def choose(
    lang: Lang,
    config: BuildConfig,
    files: Mapping[str, str],
    reference: Reference | None,
    *,
    multi_gpu: bool,
    wished: HarnessKind | None,
) -> HarnessChoice:
    """Native if the reference defines what that needs, unless `wished` says script."""
    obstacle = _missing(reference) or (multi_gpu and _rankless(lang, reference)) or None
    if obstacle is not None:
        return _by_script(obstacle, natively_possible=False)
    if wished is not None:
        return HarnessChoice(wished, f"task.yml asks for it (harness: {wished}).", True)
    obstacle = _needs_script(lang, config, files, reference)
    if obstacle is not None:
        return _by_script(obstacle, natively_possible=True)
    reason = f"{REFERENCE} offers generate_input and check_implementation."
    return HarnessChoice(HarnessKind.NATIVE, reason, True)


def _by_script(obstacle: str, *, natively_possible: bool) -> HarnessChoice:
    reason = f"Judged by the problem's own script: {obstacle}."
    return HarnessChoice(HarnessKind.SCRIPT, reason, natively_possible, obstacle)


def _missing(reference: Reference | None) -> str | None:
    if reference is None:
        return f"it has no {REFERENCE}"
    wanted = ("generate_input", "check_implementation")
    missing = [name for name in wanted if name not in reference.defines]
    return f"{REFERENCE} defines no {' and no '.join(missing)}" if missing else None


def _rankless(lang: Lang, reference: Reference | None) -> str | None:
    """Why several ranks can't be judged natively."""
    if lang.is_compiled:
        return "it is compiled and runs on several GPUs"
    signature = reference.signature if reference else None
    if signature is None or signature.any_keyword or signature.accepted >= SUPPLIED_TO_RANKS:
        return None
    return "it runs on several GPUs, and generate_input doesn't take rank and world_size"


def _needs_script(
    lang: Lang, config: BuildConfig, files: Mapping[str, str], reference: Reference | None
) -> str | None:
    if reference and reference.input_classes.obstacle:
        return f"of the classes that generate_input returns, {reference.input_classes.obstacle}"
    is_own = reference is not None and reference.own_classes_in_input
    if not is_own and names_module_input(files.get(TASK, "")):
        return f"{TASK} says that the input holds a torch.nn.Module"
    if lang.is_compiled:
        with_main = [name for name in config.sources if _MAIN.search(files.get(name, ""))]
        if with_main:
            return f"{with_main[0]} brings its own main function"
    return None
