"""What a dataset says of itself: its `README.md`, with a front matter that programs read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from kernelbot.render.text import one_line

CARD = "README.md"
_OURS = "kernelbot"
"""Our own key of the front matter: what each file holds, for the card's next version."""
_INTRODUCTION = """\
Source code that people submitted to competitions for fast kernels, and how it was judged. A row is
a submission.

| config | file | boards | submissions | exported |
|---|---|---|---|---|"""
_AUTHORS = """\
## Authors

Names and numbers of authors and submissions are replaced by the first 128 bits of an HMAC-SHA256
with a secret key. An author has the same pseudonym in all files that were made with one key. Code
is as it was submitted, so people may name themselves in comments, and whoever compares scores with
a public ranking finds its authors.
"""
_COLUMNS = """\
## Columns

| column | what it is |
|---|---|
| `submission` | the submission's pseudonym |
| `board`, `competition`, `problem` | names; no competition: null |
| `problem_version` | a number; scores of different versions can't be compared |
| `author` | the author's pseudonym |
| `mode` | `test`, `benchmark`, `profile` or `leaderboard` (ranked) |
| `review` | `clear`, `held` or `refused` by an organiser |
| `created_at` | when it was submitted, UTC |
| `code` | the source as it was submitted |
| `runs` | a list, one for each device and for public and secret data, see below |

Of each run:

| field | what it is |
|---|---|
| `device`, `mode` | what it ran on, and as what |
| `secret` | whether the data was made from a secret seed |
| `state`, `verdict` | how far it came, and how it ended |
| `score_s` | the score in seconds, lower is faster; null: none |
| `ci_low_s`, `ci_high_s` | the ends of its 95 % interval in seconds, of this judging alone |
| `ranked_low_s`, `ranked_high_s` | the same with what differs between judgings; null: not ranked |
| `unverified` | measured by the problem's own script |
| `created_at`, `started_at`, `finished_at` | UTC |
"""


@dataclass(frozen=True)
class CardFile:
    """A Parquet file of the dataset. `exported_on`: a date as text."""

    path: str
    boards: tuple[str, ...]
    submissions: int
    exported_on: str


def files_of(card: str) -> dict[str, CardFile]:
    """By their paths, the files that a card of ours tells of; none for any other text."""
    parts = re.split(r"^---\n", card, maxsplit=2, flags=re.MULTILINE)
    try:
        front = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
        found = [_read(one) for one in front[_OURS]] if isinstance(front, dict) else []
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        return {}
    return {one.path: one for one in found}


def card_text(
    repository: str, licence: str, paths: Iterable[str], files: Iterable[CardFile]
) -> str:
    """The card of a dataset with Parquet files at `paths`; `files`: what is known of them."""
    known = {one.path: one for one in files}
    paths = sorted(paths)
    names = {path: path.removesuffix(".parquet").replace("/", "-") for path in paths}
    front = {
        "license": licence,
        "pretty_name": f"KernelBot submissions: {repository.split('/')[-1]}",
        "tags": ["kernelbot", "code", "gpu", "performance"],
        "configs": [
            {"config_name": names[path], "data_files": [{"split": "train", "path": path}]}
            for path in paths
        ],
        _OURS: [
            {**asdict(known[path]), "boards": list(known[path].boards)}
            for path in paths
            if path in known
        ],
    }
    parts = (
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---",
        f"# {front['pretty_name']}\n",
        _INTRODUCTION,
        *(_row(names[path], path, known.get(path)) for path in paths),
        _loading(repository, names[paths[0]]) if paths else "",
        _COLUMNS,
        _AUTHORS,
    )
    return "\n".join(parts)


def _read(document: Mapping[str, Any]) -> CardFile:
    path, boards, on = document["path"], document["boards"], document["exported_on"]
    if not isinstance(boards, list):
        raise TypeError(boards)
    return CardFile(str(path), tuple(map(str, boards)), int(document["submissions"]), str(on))


def _row(name: str, path: str, file: CardFile | None) -> str:
    about = ("?", "?", "?")
    if file is not None:
        about = (", ".join(file.boards), str(file.submissions), file.exported_on)
    cells = (_cell(text) for text in (name, path, *about))
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """The text in a form for a table: nothing in it is markup."""
    return "".join(f"&#{ord(c)};" if c in "|<>&[]()`*_\\" else c for c in one_line(text))


def _loading(repository: str, name: str) -> str:
    call = f'datasets.load_dataset("{repository}", "{name}", split="train")'
    return f"\n## Load it\n\n```python\nimport datasets\n\nrows = {call}\n```\n"
