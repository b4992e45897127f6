"""Nsight Compute's command line and files, as far as we use them, without a GPU.

Runs the program, takes the kernels out of its diary (see `gpu_torch.py`), and leaves a report that
only this program can read. A file `restricted` beside it makes it find no permission.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

NO_PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0."
)
TABLES = {
    "GPU Throughput": [("Memory [%]", "%", "86.36"), ("Compute (SM) [%]", "%", "7.12")],
    "Memory Chart": [("Not for beginners", "%", "1")],
    "Pipe Utilization (% of active cycles)": [("ALU", "%", "9.24"), ("FMA", "%", "5.00")],
    "Warp State (All Cycles)": [("Stall Long Scoreboard", "inst", "10.24")],
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="ncu")
    parser.add_argument("--set", choices=["basic", "detailed", "full"])
    parser.add_argument("--import-source", choices=["0", "1"])
    parser.add_argument("--target-processes", choices=["all", "application-only"])
    parser.add_argument("--nvtx", action="store_true")
    parser.add_argument("--nvtx-include")
    parser.add_argument("-c", "--launch-count", type=int)
    parser.add_argument("-f", "--force-overwrite", action="store_true")
    parser.add_argument("-o", "--export")
    parser.add_argument("--import", dest="imported")
    parser.add_argument("--page", choices=["details", "raw", "source", "session"])
    parser.add_argument("--print-details", choices=["header", "body", "all"])
    parser.add_argument("program", nargs="*")
    arguments = parser.parse_args()
    return show(arguments) if arguments.imported else watch(arguments)


def watch(arguments: argparse.Namespace) -> int:
    ended = subprocess.run(arguments.program, check=False, close_fds=False).returncode
    print(f"==PROF== Connected to process {os.getpid()}")
    if Path(__file__).with_name("restricted").exists():
        print(NO_PERMISSION)
        return ended
    kernels = chosen(arguments)
    if not kernels:
        print("==WARNING== No kernels were profiled.")
        return ended
    report = {"kernels": kernels, "set": arguments.set, "source": arguments.import_source}
    Path(f"{arguments.export}.ncu-rep").write_text(json.dumps(report))
    return ended


def chosen(arguments: argparse.Namespace) -> list[str]:
    """The first kernels launched within the push/pop range that was asked for."""
    stack: list[str] = []
    found = []
    diary = Path("gpu.log")
    for line in diary.read_text().splitlines() if diary.exists() else []:
        word, _, name = line.partition(" ")
        if word == "push":
            stack.append(name)
        elif word == "pop":
            stack.pop()
        elif word == "launch" and (not arguments.nvtx or arguments.nvtx_include[:-1] in stack):
            found.append(name)
    return found[: arguments.launch_count]


def show(arguments: argparse.Namespace) -> int:
    report = json.loads(Path(arguments.imported).read_text())
    print("[7] python3.11@127.0.0.1")
    for kernel in report["kernels"]:
        print(f"  {kernel} (112, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 10.0")
        print("    Section: GPU Speed Of Light Throughput\n    SM Frequency   Ghz   1.39\n")
        print("    Section: Occupancy")
        print(f"    {'Block Limit SM':<24} {'block':>8} {'16':>12}")
        print(f"    {'Theoretical Occupancy':<24} {'%':>8} {'50':>12}")
        print(f"    {'Achieved Occupancy':<24} {'%':>8} {'48.25':>12}\n")
        for table, rows in TABLES.items() if arguments.print_details == "all" else ():
            print(f"    Table Name : {table}\n    Table Description : What it means, at length.")
            print("    ------- ----------- ------------")
            for name, unit, value in rows:
                print(f"    {name:<24} {unit:>8} {value:>12}")
            print("    ------- ----------- ------------\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
