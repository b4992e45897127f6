import dataclasses
import re

import pytest
import yaml

from kernelbot.platform.exports.card import CardFile, card_text, files_of
from kernelbot.platform.exports.model import ExportRow, ExportRun

HOSTILE = "a|b](http://evil)\n---\n<script>`"


def test_a_card_is_read_as_it_was_written() -> None:
    files = [CardFile("a/x.parquet", ("sort", HOSTILE), 3, "2027-01-31")]
    text = card_text("lab/kernels", "mit", ["a/x.parquet", "unknown.parquet"], files)
    assert {"a/x.parquet": files[0]} == files_of(text)


def test_nothing_in_a_name_is_markup() -> None:
    file = CardFile("x.parquet", (HOSTILE,), 3, "2027-01-31")
    text = card_text("lab/kernels", "mit", ["x.parquet"], [file])
    _, front, page = re.split(r"^---\n", text, maxsplit=2, flags=re.MULTILINE)
    assert ["x"] == [one["config_name"] for one in yaml.safe_load(front)["configs"]]
    assert (False, False) == ("<script>" in page, "](http" in page)


def test_each_file_is_a_part_named_by_its_whole_path() -> None:
    text = card_text("lab/kernels", "mit", ["x.parquet", "a-b/2026/x.parquet"], [])
    front = yaml.safe_load(text.split("---\n")[1])
    assert ["a-b-2026-x", "x"] == [one["config_name"] for one in front["configs"]]


def test_a_page_may_have_lines_as_those_around_what_is_read() -> None:
    files = [CardFile("x.parquet", ("sort",), 3, "2027-01-31")]
    text = card_text("lab/kernels", "mit", ["x.parquet"], files)
    assert {"x.parquet": files[0]} == files_of(f"{text}\n---\nmore\n---\n")


def test_each_file_has_a_line_and_the_first_is_loaded() -> None:
    file = CardFile("a/x.parquet", ("sort", "scan"), 3, "2027-01-31")
    lines = card_text("lab/kernels", "mit", ["b.parquet", "a/x.parquet"], [file]).splitlines()
    assert [
        "| a-x | a/x.parquet | sort, scan | 3 | 2027-01-31 |",
        "| b | b.parquet | ? | ? | ? |",
        'rows = datasets.load_dataset("lab/kernels", "a-x", split="train")',
    ] == [line for line in lines if ".parquet |" in line or line.startswith("rows =")]
    assert "load_dataset" not in card_text("lab/kernels", "mit", [], [])


def test_every_column_is_explained() -> None:
    text = card_text("lab/kernels", "mit", ["x.parquet"], [])
    pseudonyms = {"submission_id": "submission", "author_id": "author"}
    names = [one.name for kind in (ExportRow, ExportRun) for one in dataclasses.fields(kind)]
    assert [] == [name for name in names if f"`{pseudonyms.get(name, name)}`" not in text]


@pytest.mark.parametrize(
    "text",
    ["", "# Mine", "---\n", "---\n[\n---\n", "---\nkernelbot: 3\n---\n",
     "---\nkernelbot: [{path: x, boards: 1, submissions: 1, exported_on: x}]\n---\n",
     "---\nkernelbot: [{path: x, boards: sort, submissions: 1, exported_on: x}]\n---\n"],
)  # fmt: skip
def test_a_card_by_somebody_else_tells_nothing(text: str) -> None:
    assert {} == files_of(text)


def test_a_table_names_each_file_and_what_is_known_of_it() -> None:
    file = CardFile("a/x.parquet", ("so|rt", "scan"), 3, "2027-01-31")
    text = card_text("lab/kernels", "mit", ["a/x.parquet", "y.parquet"], [file])
    rows = [line for line in text.splitlines() if ".parquet |" in line]
    assert [
        "| a-x | a/x.parquet | so&#124;rt, scan | 3 | 2027-01-31 |",
        "| y | y.parquet | ? | ? | ? |",
    ] == rows
    assert 'datasets.load_dataset("lab/kernels", "a-x", split="train")' in text
    assert "load_dataset" not in card_text("lab/kernels", "mit", [], [])


def test_what_somebody_writes_below_a_card_changes_nothing_of_it() -> None:
    file = CardFile("x.parquet", ("sort",), 3, "2027-01-31")
    text = card_text("lab/kernels", "mit", ["x.parquet"], [file])
    assert {"x.parquet": file} == files_of(f"{text}\n---\nMore.\n---\n")
