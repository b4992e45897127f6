"""Judging from Python: the judges of `kernelbot run`, without a server and without a database.

from kernelbot import judge

report = judge("examples/sort_np", source, mode="benchmark")
print(report.verdict, report.score_s)
"""

from kernelbot.library.baselines import Baseline
from kernelbot.library.data import OtherData
from kernelbot.library.judge import Judge
from kernelbot.library.reports import Report
from kernelbot.library.rewards import RewardKind, RewardRule
from kernelbot.library.single import judge

__all__ = ["Baseline", "Judge", "OtherData", "Report", "RewardKind", "RewardRule", "judge"]
