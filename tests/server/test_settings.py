import os
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.protocol import NumberType, Peak, SandboxMode, Vendor
from kernelbot.server.settings import read_settings


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither this folder's files nor this environment's names count."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith("KERNELBOT_") or name in ("DATABASE_URL", "DISABLE_SSL"):
            monkeypatch.delenv(name)


def test_without_any_configuration_there_is_one_device() -> None:
    devices = read_settings().device_configs()
    assert [(d.spec.name, d.spec.vendor, d.launchers) for d in devices] == [
        ("CPU", Vendor.CPU, ("local",))
    ]


@pytest.mark.parametrize(("given", "read"), [("", None), (" \n", None), (" secret\n", "secret")])
def test_an_empty_admin_token_is_none(
    monkeypatch: pytest.MonkeyPatch, given: str, read: str | None
) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", given)
    assert read == read_settings().admin_token


def test_a_device_is_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "kernelbot.toml").write_text(
        '[[devices]]\nname = "H100"\nvendor = "nvidia"\narch = "90a"\nslots = 8\n'
    )
    (device,) = read_settings().device_configs()
    assert (device.spec.name, device.spec.arch, device.slots) == ("H100", "90a", 8)


def test_peaks_by_type_and_headers_reach_those_who_judge(tmp_path: Path) -> None:
    (tmp_path / "kernelbot.toml").write_text(
        '[[devices]]\nname = "H100"\nvendor = "nvidia"\ncache_bytes = 7\n'
        'peak_flops = {bf16 = 989e12, fp8 = 2e15}\ninclude_dirs = ["/opt/cutlass/include"]\n'
    )
    settings = read_settings()
    (device,) = settings.device_configs()
    peaks = (Peak(NumberType.BF16, 989e12), Peak(NumberType.FP8, 2e15))
    assert (peaks, None, 7) == (device.spec.peaks, device.spec.peak_flops, device.spec.cache_bytes)
    command = settings.host_command(device)
    assert "/opt/cutlass/include" == command[command.index("--include-dir") + 1]


@pytest.mark.parametrize(("turns", "expected"), [("", False), ("turns = false\n", True)])
def test_a_device_whose_runs_measure_at_once_is_a_setting(
    turns: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "kernelbot.toml").write_text(f'[[devices]]\nname = "CPU"\n{turns}')
    settings = read_settings()
    (device,) = settings.device_configs()
    assert expected == ("--no-turns" in settings.host_command(device))


@pytest.mark.parametrize(
    ("text", "torch", "expected"),
    [
        ("", False, "numpy"),
        ("", True, "numpy,torch"),
        ('warm = ["torch"]\n', False, "torch"),
        ("warm = []\n", True, ""),
    ],
)
def test_what_boards_need_is_loaded_in_advance_unless_it_is_set(
    text: str, torch: bool, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "kernelbot.toml").write_text(f'{text}[[devices]]\nname = "CPU"\n')
    settings = read_settings()
    (device,) = settings.device_configs()
    command = settings.host_command(device, torch=torch)
    assert expected == command[command.index("--warm") + 1]


def test_a_path_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    for folder in ("opt", "/", "/a b", "/a:/b", "/../etc"):
        (tmp_path / "kernelbot.toml").write_text(
            f'[[devices]]\nname = "A"\ninclude_dirs = ["{folder}"]\n'
        )
        with pytest.raises(UserError, match=r"devices\.0\.include_dirs"):
            read_settings()


def test_the_environment_outweighs_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.toml").write_text("[worker]\nstale_s = 7\ngrace_s = 3\n")
    monkeypatch.setenv("KERNELBOT_CONFIG", str(tmp_path / "other.toml"))
    monkeypatch.setenv("KERNELBOT_WORKER__STALE_S", "9")
    worker = read_settings().worker
    assert (worker.stale_s, worker.grace_s) == (9, 3)


def test_dot_env_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DATABASE_URL=postgres://db/x\nDISABLE_SSL=1\n")
    assert read_settings().external_database_url() == "postgresql://db/x?sslmode=disable"


def test_limits_and_sampling_are_settings(tmp_path: Path) -> None:
    (tmp_path / "kernelbot.toml").write_text(
        'sandbox = "none"\n[limits]\nprocesses = 7\n[sampling]\nmin_samples = 30\n'
    )
    settings = read_settings()
    assert (settings.sandbox, settings.limits.processes, settings.sampling.min_samples) == (
        SandboxMode.NONE,
        7,
        30,
    )


_BUILDER = '[[devices]]\nname = "A"\nbuilds_on = "B"\n[[devices]]\nname = "B"\n'


def test_a_device_may_be_built_for_on_another(tmp_path: Path) -> None:
    (tmp_path / "kernelbot.toml").write_text(_BUILDER.replace('"B"', '"B"\nimage = "x"', 1))
    device, builder = read_settings().device_configs()
    assert ("B", "x", None) == (device.builds_on, device.image, builder.builds_on)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[devices]]\nname = "a b"\n', "devices.0.name"),
        ('[[devices]]\nname = "A"\nslots = 0\n', "devices.0.slots"),
        ('[[devices]]\nname = "A"\ncolour = 1\n', "devices.0.colour"),
        ("[worker]\nstale_s = -1\n", "worker.stale_s"),
        ("devices = []\n", "devices"),
        ('[vendors]\ncontact = "javascript:alert(1)"\n', "vendors.contact"),
        ('[vendors]\nimage = "images.lab/runner:latest"\n', "vendors.image"),
        ('[vendors]\nrepository = "https://a/b\'; echo x"\n', "vendors.repository"),
        ('[[devices]]\nname = "A"\n[[devices]]\nname = "a"\n', "a: there are two devices"),
        ('[[devices]]\nname = "A"\nlauncher = "post"\n', "devices.0.launcher"),
        ('[[devices]]\nname = "A"\nlauncher = []\n', "devices.0.launcher"),
        ('[[devices]]\nname = "A"\nbuilds_on = "B"\n', "0.builds_on: there is no other device"),
        ('[[devices]]\nname = "A"\nbuilds_on = "A"\n', "0.builds_on: there is no other device"),
        (f"{_BUILDER}vendor = 'nvidia'\n", "0.builds_on: it must be a CPU"),
        (f"{_BUILDER}builds_on = 'A'\n", "builds_on: it must be a CPU that builds for itself"),
        ("[builds]\nlimit_bytes = -1\n", "builds.limit_bytes"),
        ('[[devices]]\nname = "A"\nlauncher = ["local", "far"]\n', "no launcher 'far'"),
        ('[[devices]]\nname = "A"\nlauncher = ["local", "local"]\n', "0.launcher: .* twice"),
        ('[[devices]]\nname = "A"\nmemory_bytes = 0\n', "devices.0.memory_bytes"),
        ('[launchers.local]\nkind = "slurm"\n', "launchers.local: this machine needs no table"),
        ('[launchers.far]\nkind = "post"\n', "launchers.far.kind: must be one of"),
        ("launchers.far = 1\n", "launchers.far"),
        ('[launchers.far]\nkind = "slurm"\n', "launchers.far: work_dir: is missing"),
        (
            '[launchers.far]\nkind = "slurm"\nwork_dir = "/a b"\n',
            "work_dir: .* aren't allowed here",
        ),
        ('[launchers.far]\nkind = "slurm"\nwork_dir = "/w"\nprefx = 1\n', "prefx: isn't known"),
        (
            '[launchers.far]\nkind = "slurm"\nwork_dir = "/w"\nwarm_idle_s = -1\n',
            "launchers.far: warm_idle_s: ",
        ),
        ('[launchers.far]\nkind = "modal"\napp = "a b"\n', "launchers.far: app:"),
        ('[launchers."A B"]\nkind = "slurm"\nwork_dir = "/w"\n', "launchers.A B: a name has"),
        ('[[devices]]\nname = "A"\npeak_flops = inf\n', "devices.0.peak_flops"),
        ('[[devices]]\nname = "A"\npeak_flops = {fp8 = 0}\n', "devices.0.peak_flops"),
        ('[[devices]]\nname = "A"\npeak_flops = {int9 = 1}\n', "devices.0.peak_flops"),
        ("dvices = 1\n", "unknown key `dvices`"),
        ("[limits]\nmemory = 1\n", "limits: there is no key `memory`"),
        ("[limits]\nmemory_bytes = 0\n", "limits: memory_bytes must be above 0"),
        ("[limits]\ncpu_time_s = nan\n", "limits: cpu_time_s must be above 0"),
        ("[sampling]\nblocks = 1\n", "sampling: there is no key `blocks`"),
        ("[sampling]\nblock = 0\n", "sampling: block must be above 0"),
        ("[sampling]\nwarmup_s = -1\n", "sampling: warmup_s must be 0 or more"),
        ("[sampling]\nmin_samples = 9\nmax_samples = 8\n", "sampling: min_samples is above"),
        ("[sampling]\ncheck_share = 1.5\n", "sampling: check_share must be at most 1"),
        ("[review]\nhold = 2\n", "review: there is no key `hold`"),
        ("what", "TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "kernelbot.toml").write_text(text)
    with pytest.raises(UserError, match=named):
        read_settings()


@pytest.mark.parametrize("name", ["kernelbot.toml", ".env"])
def test_a_file_in_another_encoding_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="UTF-8"):
        read_settings()


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_configuration_that_was_named_must_be_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELBOT_CONFIG", str(tmp_path / name))
    with pytest.raises(UserError, match="KERNELBOT_CONFIG names"):
        read_settings()


def test_an_empty_database_url_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "")
    assert read_settings().external_database_url() is None


@pytest.mark.parametrize("url", ["nonsense", "mysql://db/x", "host=db password=secret"])
def test_a_database_url_of_something_else_is_refused_without_being_shown(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(UserError, match="DATABASE_URL: must begin with postgresql://") as refused:
        read_settings()
    assert url not in str(refused.value)
