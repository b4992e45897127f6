from pathlib import Path

import pytest

from kernelbot.server.doctor import DoctorPart, configuration_parts, to_document

H100 = '[[devices]]\nname = "H100"\nvendor = "nvidia"\nlauncher = "far"\n'
B200 = '[[devices]]\nname = "B200"\nvendor = "nvidia"\nlauncher = "far"\nbuilds_on = "Builder"\n'
CPUS = '[[devices]]\nname = "Builder"\nlauncher = "far"\n'
LOCAL = '[[devices]]\nname = "CPU"\n'
FAR = '[launchers.far]\nkind = "slurm"\nwork_dir = "/far"\n'


@pytest.mark.parametrize(
    ("ok", "required", "sign"),
    [(True, True, "✓"), (True, False, "✓"), (False, True, "✗"), (False, False, "-")],
)
def test_a_part_in_a_sign(ok: bool, required: bool, sign: str) -> None:
    assert sign == DoctorPart("g++", ok, required, None, "").sign


@pytest.mark.parametrize(("required", "expected"), [(True, False), (False, True)])
def test_only_what_is_required_must_be_there(required: bool, expected: bool) -> None:
    parts = [
        DoctorPart("a", True, True, "1.0", ""),
        DoctorPart("b", False, required, None, "get it"),
    ]
    assert expected == to_document(parts)["ok"]


@pytest.mark.parametrize(
    ("devices", "found", "note"),
    [
        (
            H100 + CPUS,
            False,
            "nobody compiles for H100 before it is taken: give a CPU the launcher",
        ),
        (H100 + LOCAL, True, "H100 in idle time of CPU"),
        (f"{H100}preflight = false\n{B200}{CPUS}", True, "B200 on Builder"),
        (H100 + B200 + CPUS, False, "B200 on Builder; nobody compiles for H100"),
    ],
)
def test_who_compiles_for_gpus_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str, found: bool, note: str
) -> None:
    (tmp_path / "kernelbot.toml").write_text(devices + FAR)
    monkeypatch.chdir(tmp_path)
    _, part = configuration_parts()
    assert (found, False, True) == (part.ok, part.required, note in part.note), part.note


@pytest.mark.parametrize("devices", [LOCAL, f"{H100}preflight = false\n"])
def test_where_no_gpu_wants_a_report_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str
) -> None:
    (tmp_path / "kernelbot.toml").write_text(devices + FAR)
    monkeypatch.chdir(tmp_path)
    assert ["configuration"] == [part.name for part in configuration_parts()]


@pytest.mark.parametrize(
    ("text", "note"),
    [("foo = 1\n", "foo"), ("devices = 3\n", "devices"), ("devices = [\n", "TOML")],
)
def test_a_configuration_that_nothing_starts_with_is_a_missing_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, note: str
) -> None:
    (tmp_path / "kernelbot.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    (part,) = configuration_parts()
    assert ("configuration", "✗", True) == (part.name, part.sign, note in part.note), part.note
