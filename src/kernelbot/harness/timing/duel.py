"""How a duel is sampled."""

from dataclasses import replace

from kernelbot.protocol import SamplingRules

_TARGET_RELATIVE_CI = 0.005
"""Kernels that differ by less are called equally fast."""
_PATIENCE = 4
"""Times the time of a normal workload: one round is two calls, and the target is narrower."""


def rules_of(rules: SamplingRules) -> SamplingRules:
    """The rules of sampling a workload in a duel, from those of a normal one."""
    return replace(
        rules,
        target_relative_ci=min(rules.target_relative_ci, _TARGET_RELATIVE_CI),
        wall_cap_s=_PATIENCE * rules.wall_cap_s,
    )
