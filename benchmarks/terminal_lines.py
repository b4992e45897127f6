"""What `benchmarks.terminal` measures: lines that people type, and what they are answered with."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROBLEM = ROOT / "examples" / "identity_np"
KERNEL = PROBLEM / "submission.py"
BOARD = "identity_np"
PERSON = "grace"
"""An account that lines change."""
COMMANDS = (
    "kernelbot --version",
    "kernelbot whoami",
    "kernelbot whoami --json",
    "kernelbot board list",
    "kernelbot board list --json",
    f"kernelbot board show {BOARD}",
    f"kernelbot board show {BOARD} --statement",
    f"kernelbot board starter {BOARD} --to starter.py --force",
    f"kernelbot board duels {BOARD}",
    "kernelbot devices",
    "kernelbot submission list",
    "kernelbot submission show 1",
    "kernelbot submission show 1 --json",
    "kernelbot submission show 1 --timings",
    "kernelbot submission wait 1",
    "kernelbot submission samples 1 --csv",
    "kernelbot submission artifacts 1",
    "kernelbot submission pull 1 --to pulled.py --force",
    f"kernelbot submission diff 1 {KERNEL}",
    f"kernelbot submit {KERNEL} --board {BOARD} --mode test --no-wait",
    f"kernelbot submit {KERNEL} --board {BOARD} --mode test",
    "kernelbot author show root",
    "kernelbot author page",
    "kernelbot follow",
    "kernelbot token list",
    "kernelbot identity list",
    f"kernelbot invite list {BOARD}",
    "kernelbot user list",
    "kernelbot audit",
    "kernelbot stats",
    "kernelbot webhook list",
    "kernelbot signing-key list",
    "kernelbot submission held",
    f"kernelbot board limit {BOARD}",
    f"kernelbot export runs.csv --board {BOARD} --force",
    "kernelbot open --no-browser",
    f"kernelbot run {PROBLEM} {KERNEL} --mode test",
    "kernelbot --help",
    "kernelbot board show --help",
    "kernelbot submit --help",
    "kernelbot dev --help",
)
SEND_A_BODY = (
    "kernelbot token create {new}",
    "kernelbot user create {new}",
    f"kernelbot user role {PERSON} creator",
    f"kernelbot user ban {PERSON} --reason late",
    "kernelbot author page --private",
    f"kernelbot invite create {BOARD}",
    "kernelbot join {code}",
    "kernelbot pause noon",
    "kernelbot resume",
    f"kernelbot board limit {BOARD} --test 600000",
    f"kernelbot board edit {BOARD} --visibility public",
    f"kernelbot board edit {BOARD} --deadline none",
    f"kernelbot board rejudge {BOARD} --top 1",
    f"kernelbot board create --from {PROBLEM} --name {{new}}",
    "kernelbot submission share 1",
    "kernelbot submission attest 1 --output signed.json --force",
    "kernelbot verify signed.json",
    f"kernelbot sync {PROBLEM.parent} --only demo --dry-run",
)
"""These are sent a document, or get one whose class holds rules."""
MISTAKES = (
    "kernelbot bord",
    "kernelbot board shw",
    "kernelbot board show",
    "kernelbot board show x --limt 3",
    "kernelbot submission show abc",
    "kernelbot board show nothing",
    "kernelbot submission show 999999",
    "kernelbot webhook create https://192.0.2.1/",
)
"""Each is answered with what is wrong, by typer or by the server, and with the exit code for it."""
COMPLETED = {
    "completion: a command": "kernelbot bo",
    "completion: a command of a group": "kernelbot board sh",
    "completion: a board": "kernelbot board show i",
    "completion: a submission": "kernelbot submission show ",
}
"""What somebody has typed when they press the key."""
