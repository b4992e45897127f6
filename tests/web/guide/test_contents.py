"""Which files of the documentation have an address."""

from pathlib import Path

from kernelbot.web.guide.contents import Contents


def test_files_have_an_address_and_what_is_hidden_or_a_folder_has_none(tmp_path: Path) -> None:
    for name in ("img/a.svg", ".env.txt", ".git/a.txt", "img/.b.svg", "v1.0/c.txt", "page.md"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
    assert {"/guide/img/a.svg": "img/a.svg", "/guide/v1.0/c.txt": "v1.0/c.txt"} == Contents(
        tmp_path
    ).files
