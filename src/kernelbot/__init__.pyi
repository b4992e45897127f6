from kernelbot.client import AsyncKernelbotClient as AsyncKernelbotClient
from kernelbot.client import KernelbotClient as KernelbotClient
from kernelbot.library import Baseline as Baseline
from kernelbot.library import Judge as Judge
from kernelbot.library import OtherData as OtherData
from kernelbot.library import Report as Report
from kernelbot.library import RewardKind as RewardKind
from kernelbot.library import RewardRule as RewardRule
from kernelbot.library.single import judge as judge
from kernelbot.notebook import load_ipython_extension as load_ipython_extension

__version__: str
