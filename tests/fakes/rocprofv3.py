"""rocprofv3's command line and files, as far as we use them, without a GPU.

Runs the program, takes the kernels out of its diary (see `gpu_torch.py`): each took 1 us more than
the one before.
"""

import argparse
import csv
import subprocess
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="rocprofv3")
    for trace in ("hip", "kernel", "rccl", "marker", "memory-copy"):
        parser.add_argument(f"--{trace}-trace", action="store_true")
    parser.add_argument("--stats", action="store_true")
    parser.add_argument("-d", "--output-directory")
    parser.add_argument("-o", "--output-file")
    parser.add_argument("-f", "--output-format", nargs="+", choices=["csv", "json", "pftrace"])
    split = sys.argv.index("--")
    arguments = parser.parse_args(sys.argv[1:split])
    ended = subprocess.run(sys.argv[split + 1 :], check=False, close_fds=False).returncode
    diary = Path("gpu.log")
    lines = diary.read_text().splitlines() if diary.exists() else []
    kernels = [line.removeprefix("launch ") for line in lines if line.startswith("launch ")]
    if kernels and arguments.kernel_trace:
        Path(arguments.output_directory).mkdir()
        leave(Path(arguments.output_directory, arguments.output_file), kernels, arguments)
    else:
        print("W1234 no kernel dispatches were traced", file=sys.stderr)
    return ended


def leave(path: Path, kernels: list[str], arguments: argparse.Namespace) -> None:
    durations: dict[str, list[int]] = {name: [] for name in kernels}
    for at, name in enumerate(kernels):
        durations[name].append(1000 * (at + 1))
    total = sum(sum(each) for each in durations.values())
    if "csv" in arguments.output_format:
        with Path(f"{path}_kernel_trace.csv").open("w", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(["Kind", "Kernel_Name"])
            writer.writerows(["KERNEL_DISPATCH", name] for name in kernels)
    if "csv" in arguments.output_format and arguments.stats:
        columns = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage"]
        with Path(f"{path}_kernel_stats.csv").open("w", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow([*columns, "MinNs", "MaxNs", "StdDev"])
            for name, each in durations.items():
                mean, share = sum(each) / len(each), 100 * sum(each) / total
                row = [name, len(each), sum(each), mean, share, min(each), max(each), 0.0]
                writer.writerow(row)
    if "pftrace" in arguments.output_format:
        Path(f"{path}_results.pftrace").write_bytes(b"\x0a\x00perfetto")


if __name__ == "__main__":
    sys.exit(main())
