"""The guide that `kernelbot setup` writes: commands, limits and rules, for people and for programs
that work for them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from kernelbot.protocol.late import dataclass
from kernelbot.render.text import one_line

GUIDE, STATEMENT = "AGENTS.md", "problem.md"
"""The names of what is written beside the starter file."""
_TEXT = """\
# {title}

Make `{file}` as fast as it can be, while its outputs stay right. What is to be solved stands in
[{statement}]({statement}), in the words of the problem's authors.

## Commands

```sh
{commands}
```

Exit codes: 0 accepted; 1 refused, by the file's fault; 2 bad usage, problem or file; 3 not the
file's fault. Each command has `--json` (one document on stdout) and `--help`.

## Limits

{limits}

## Rules

- A submission is one file, text in UTF-8, 1 MiB at most. It defines what the starter defines.
- Each call has new data, and its outputs are checked. What is kept of an earlier call doesn't help:
  a result that is given again is a wrong answer.
- All work of a call is done within the call. The judge has clocks of its own, outside of the file's
  process; a time that they contradict ends as a violation of the rules.
- The file runs in a sandbox: no network, a file system that is read only but for a folder of its
  own, limits of time, memory and output.
- Don't look for the judge's data, clocks or files: organisers read what is suspicious, and it is
  kept from the ranking.

## Reading a time

- Two times differ only if their 95 % intervals share no value. Else nobody can tell.
- Be right first: `test` takes seconds. Then change one thing at a time, and keep what was before.
- A failure says whose fault it was. What isn't the file's is tried again by the platform.
"""


@dataclass(frozen=True)
class FolderGuide:
    """What a folder is for. `commands`: each with what it does; `limits`: a sentence each."""

    title: str
    file: str
    commands: tuple[tuple[str, str], ...]
    limits: tuple[str, ...]

    def text(self) -> str:
        """Markdown."""
        return _TEXT.format(
            title=one_line(self.title),
            file=one_line(self.file),
            statement=STATEMENT,
            commands="\n\n".join(f"# {what}\n{command}" for command, what in self.commands),
            limits="\n".join(f"- {limit}" for limit in self.limits if limit),
        )


def for_board(
    board: str, url: str, file: str, devices: Sequence[str], limits: Sequence[str]
) -> FolderGuide:
    """To compete on a board. `limits`: the board's own, a sentence each."""
    device = ["--device", devices[0]] if len(devices) > 1 else []
    where = ["--board", board, "--url", url]

    before = f"before{Path(file).suffix}"

    def submit(mode: str) -> str:
        return _line("submit", file, *where, *device, "--mode", mode)

    others = f" Others are {_names(devices[1:])}." if device else ""
    return FolderGuide(
        f"A kernel for the board {board}",
        file,
        (
            (submit("test"), f"Is it right? Nothing is ranked.{others}"),
            (submit("benchmark"), "How fast is it? Nothing is ranked."),
            (submit("profile"), "Where does its time go?"),
            (submit("leaderboard"), "Rank it, on data that nobody has seen."),
            (_line("submission", "list", *where), "What was submitted, with scores and places."),
            (_line("submission", "show", "ID", "--url", url), "All that is known of one."),
            (
                _line("submission", "diff", "ID", file, "--url", url),
                "What has changed since one of them.",
            ),
            (_line("submission", "pull", "ID", "--to", before, "--url", url), "Its code again."),
            (_line("board", "show", board, "--url", url), "The ranking."),
        ),
        (f"It is judged on {_names(devices)}, by {url}.", *limits),
    )


def for_folder(problem: str, folder: Path, file: str, devices: Sequence[str]) -> FolderGuide:
    """To work on a problem of this machine. `devices`: those that the problem names."""

    other = f"other{Path(file).suffix}"

    def run(mode: str) -> str:
        return _line("run", str(folder), file, "--mode", mode)

    return FolderGuide(
        f"A kernel for {problem}",
        file,
        (
            (run("test"), "Is it right?"),
            (run("benchmark"), "How fast is it?"),
            (run("profile"), "Where does its time go?"),
            (run("leaderboard"), "As it would be ranked."),
            (
                _line("dev", str(folder), file, "--once", "--json"),
                "Tests, then times, and each error with line and column.",
            ),
            (_line("dev", str(folder), file), "The same at each save."),
            (_line("dev", "log", file), "The versions that were judged so."),
            (
                _line("compare", file, other, "--problem", str(folder)),
                "Which of two files is faster? They are called in turn.",
            ),
        ),
        (
            "It is judged on this machine, without a server, one file at a time, without a limit.",
            f"The problem is for {_names(devices)}." if devices else "",
        ),
    )


def _line(*words: str) -> str:
    return one_line(shlex.join(("kernelbot", *words)))


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names))
