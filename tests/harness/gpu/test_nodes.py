"""Of a machine with several GPUs, runners are shown the files of those that were given to us."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.gpu.access import gpu_access
from kernelbot.harness.gpu.nodes import (
    Assigned,
    GpuNode,
    assigned_gpus,
    gpu_nodes,
    near_processors,
)
from kernelbot.harness.sandbox import RunnerClient, Zygote, run_command
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import Vendor
from tests.support.cuda_driver import build_hip

BY_BUS = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
UUIDS = ["GPU-aaaa1111-0000", "GPU-aaaa2222-0000", "GPU-bbbb3333-0000"]
MINORS = [2, 0, 1]
"""On the PCI bus the first GPU is the one whose file is numbered 2."""


@pytest.fixture
def nvidia(tmp_path: Path) -> Path:
    return make_nvidia(tmp_path)


def make_nvidia(root: Path) -> Path:
    (root / "dev" / "nvidia-caps").mkdir(parents=True)
    for name in ("nvidiactl", "nvidia-uvm", "nvidia-modeset", "nvidia-nvswitchctl"):
        (root / "dev" / name).touch()
    for place, (minor, uuid) in enumerate(zip(MINORS, UUIDS, strict=True)):
        (root / "dev" / f"nvidia{minor}").touch()
        folder = root / f"proc/driver/nvidia/gpus/0000:{place + 10:02x}:00.0"
        folder.mkdir(parents=True)
        text = f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n"
        (folder / "information").write_text(text)
    return root


@pytest.fixture
def amd(tmp_path: Path) -> Path:
    """Two GPUs behind two processors; the second one's file has the lower number."""
    (tmp_path / "dev/dri/by-path").mkdir(parents=True)
    for name in ("kfd", "dri/card0", "dri/renderD128", "dri/renderD136"):
        (tmp_path / "dev" / name).touch()
    for node, (minor, unique) in enumerate([(0, 0), (0, 0), (136, 0xA1), (128, 0xB2)]):
        folder = tmp_path / f"sys/class/kfd/kfd/topology/nodes/{node}"
        folder.mkdir(parents=True)
        text = f"cpu_cores_count 0\ndrm_render_minor {minor}\nunique_id {unique}\n"
        (folder / "properties").write_text(text)
    return tmp_path


def names(root: Path, assigned: Assigned) -> list[str]:
    return [str(Path(path).relative_to(root / "dev")) for path in assigned.paths]


def test_gpus_are_numbered_by_their_place_on_the_bus(nvidia: Path) -> None:
    expected = [
        GpuNode(str(nvidia / f"dev/nvidia{minor}"), uuid)
        for minor, uuid in zip(MINORS, UUIDS, strict=True)
    ]
    assert expected == list(gpu_nodes(Vendor.NVIDIA, nvidia))


@pytest.mark.parametrize(
    ("chosen", "lists", "expected"),
    [
        ("0", ["0-3\n", "4-7\n"], {0, 1, 2, 3}),
        ("1", ["0-3\n", "4-5,12-13,20\n"], {4, 5, 12, 13, 20}),
        ("0,1", ["0-1\n", "4\n"], {0, 1, 4}),
        ("0,1", ["0-1\n"], set()),
        ("0", ["\n"], set()),
        ("0", ["0-x; echo"], set()),
        ("0", ["-1"], set()),
    ],
)
def test_the_processors_near_a_gpu_are_those_of_its_numa_node(
    nvidia: Path, chosen: str, lists: list[str], expected: set[int]
) -> None:
    for place, text in enumerate(lists):
        folder = nvidia / f"sys/bus/pci/devices/0000:{place + 10:02x}:00.0"
        folder.mkdir(parents=True)
        (folder / "local_cpulist").write_text(text)
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": chosen})
    assert expected == near_processors(assigned.gpus)


def test_so_are_those_near_amds(amd: Path) -> None:
    folder = amd / "sys/class/drm/renderD128/device"
    folder.mkdir(parents=True)
    (folder / "local_cpulist").write_text("64-65\n")
    assigned = assigned_gpus(Vendor.AMD, amd, {"HIP_VISIBLE_DEVICES": "1"})
    assert {64, 65} == near_processors(assigned.gpus)


@pytest.mark.parametrize(
    ("chosen", "files", "numbers"),
    [
        ("0", ["nvidia2"], "0"),
        ("1", ["nvidia0"], "0"),
        ("2,0", ["nvidia1", "nvidia2"], "1,0"),
        (" 1 , 2", ["nvidia0", "nvidia1"], "0,1"),
        ("1,1", ["nvidia0"], "0"),
        (UUIDS[2], ["nvidia1"], "0"),
        ("GPU-b", ["nvidia1"], "0"),
        (f"{UUIDS[1]},{UUIDS[0]}", ["nvidia0", "nvidia2"], "1,0"),
    ],
)
def test_only_the_files_of_chosen_gpus_are_shown(
    nvidia: Path, chosen: str, files: list[str], numbers: str
) -> None:
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": chosen})
    assert ([*files, "nvidiactl", "nvidia-uvm"], numbers, "PCI_BUS_ID") == (
        names(nvidia, assigned),
        assigned.env["CUDA_VISIBLE_DEVICES"],
        assigned.env["CUDA_DEVICE_ORDER"],
    )


@pytest.mark.parametrize(
    "chosen",
    [
        "3",
        "-1",
        "",
        "0,",
        "GPU-",
        "GPU-a",
        "GPU-ffff",
        "٣",
        "0x1",
        "1 2",
        "a'; echo x",
        "/dev/null",
    ],
)
def test_a_name_that_fits_no_one_gpu_shows_none(nvidia: Path, chosen: str) -> None:
    with pytest.raises(
        SandboxUnavailable, match=r"CUDA_VISIBLE_DEVICES names .* There is: 0 \(GPU-a"
    ):
        assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": chosen})


def test_what_a_scheduler_forbids_to_open_is_not_counted(nvidia: Path) -> None:
    (nvidia / "dev/nvidia2").unlink()
    (nvidia / "dev/nvidia2").mkdir()  # not to be opened for writing, whoever we are
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": "0"})
    assert ["nvidia0", "nvidiactl", "nvidia-uvm"] == names(nvidia, assigned)


def test_without_a_choice_all_are_ours(nvidia: Path) -> None:
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {})
    files = ["nvidia2", "nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-caps"]
    assert (files, BY_BUS) == (names(nvidia, assigned), assigned.env)


@pytest.mark.parametrize("chosen", [{}, {"CUDA_VISIBLE_DEVICES": "0,2"}])
def test_a_job_of_one_finds_the_first_alone(nvidia: Path, chosen: dict[str, str]) -> None:
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, chosen, most=1)
    first = {"CUDA_VISIBLE_DEVICES": "0", **BY_BUS}
    assert ["nvidia2", "nvidiactl", "nvidia-uvm"] == names(nvidia, assigned)
    assert first == assigned.env


def test_a_job_of_more_than_there_are_finds_all(nvidia: Path) -> None:
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {}, most=8)
    assert assigned_gpus(Vendor.NVIDIA, nvidia, {}) == assigned


def test_without_the_drivers_list_files_count_in_their_order(nvidia: Path) -> None:
    shutil.rmtree(nvidia / "proc")
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": "2"})
    assert ["nvidia2", "nvidiactl", "nvidia-uvm"] == names(nvidia, assigned)


def test_a_uuid_that_the_driver_has_not_learnt_yet_fits_nothing(nvidia: Path) -> None:
    for path in nvidia.glob("proc/driver/nvidia/gpus/*/information"):
        path.write_text(path.read_text().replace("GPU-", "GPU-????"))
    with pytest.raises(SandboxUnavailable, match="no GPU"):
        assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": UUIDS[0]})


def test_a_slice_is_shown_where_there_is_but_its_gpu(nvidia: Path) -> None:
    chosen = {"CUDA_VISIBLE_DEVICES": "MIG-11111111-2222"}
    with pytest.raises(SandboxUnavailable, match="slice"):
        assigned_gpus(Vendor.NVIDIA, nvidia, chosen)
    for several in ("MIG-11111111-2222,MIG-33333333", "0,MIG-11111111-2222"):
        with pytest.raises(SandboxUnavailable, match="but one slice"):
            assigned_gpus(Vendor.NVIDIA, nvidia, {"CUDA_VISIBLE_DEVICES": several})
    for minor in (0, 1):
        (nvidia / f"dev/nvidia{minor}").unlink()
    assigned = assigned_gpus(Vendor.NVIDIA, nvidia, chosen)
    assert (["nvidia2", "nvidiactl", "nvidia-uvm", "nvidia-caps"], {**chosen, **BY_BUS}) == (
        names(nvidia, assigned),
        assigned.env,
    )


@pytest.mark.parametrize(
    ("environment", "files", "numbers"),
    [
        ({"ROCR_VISIBLE_DEVICES": "0"}, ["dri/renderD136"], "0"),
        ({"HIP_VISIBLE_DEVICES": "1"}, ["dri/renderD128"], "1"),
        ({"ROCR_VISIBLE_DEVICES": "1,0"}, ["dri/renderD128", "dri/renderD136"], "1,0"),
        (
            {"ROCR_VISIBLE_DEVICES": "1,0", "HIP_VISIBLE_DEVICES": "1"},
            ["dri/renderD136"],
            "0",
        ),
        ({"ROCR_VISIBLE_DEVICES": "GPU-00000000000000b2"}, ["dri/renderD128"], "1"),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ["dri/renderD128"], "1"),
        ({"CUDA_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": ""}, ["dri/renderD128"], "1"),
        ({"CUDA_VISIBLE_DEVICES": "7", "HIP_VISIBLE_DEVICES": "1"}, ["dri/renderD128"], "1"),
    ],
)
def test_amds_gpus_are_chosen_by_variables_among_all_that_are_shown(
    amd: Path, environment: dict[str, str], files: list[str], numbers: str
) -> None:
    """Its runtime starts only where it can open all that the kernel lists."""
    assigned = assigned_gpus(Vendor.AMD, amd, environment)
    others = [file for file in ("dri/renderD136", "dri/renderD128") if file not in files]
    assert ([*files, *others, "kfd"], {"ROCR_VISIBLE_DEVICES": numbers}, len(others)) == (
        names(amd, assigned),
        assigned.env,
        len(assigned.others),
    )


def test_a_choice_that_amds_runtime_would_find_nothing_by_is_told(amd: Path) -> None:
    """Slurm sets both alike; the second one counts what the first has left."""
    environment = {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"}
    with pytest.raises(SandboxUnavailable, match=r"CUDA_VISIBLE_DEVICES names '1'.* There is: 0 "):
        assigned_gpus(Vendor.AMD, amd, environment)


def test_a_job_of_one_on_amds_is_told_the_first_and_shown_all(amd: Path) -> None:
    assigned = assigned_gpus(Vendor.AMD, amd, {}, most=1)
    assert (["dri/renderD136", "dri/renderD128", "kfd"], {"ROCR_VISIBLE_DEVICES": "0"}) == (
        names(amd, assigned),
        assigned.env,
    )
    (said,) = assigned.notes
    assert said.startswith("Authors' code can open 1 more of this machine's GPUs than the job's")


def test_where_others_can_be_hidden_from_amds_runtime_they_are(amd: Path) -> None:
    """Numbers are of what it will see then; a filter leaves it the render node of its own."""
    shown = gpu_access(Vendor.AMD, 1, can_filter=lambda: True, root=amd)
    files = [path for path in shown.devices if path.startswith(str(amd))]
    assert (["renderD136", "kfd"], "0", (136,), ()) == (
        [Path(path).name for path in files],
        shown.env["ROCR_VISIBLE_DEVICES"],
        shown.alone,
        shown.notes,
    )
    second = assigned_gpus(Vendor.AMD, amd, {"ROCR_VISIBLE_DEVICES": "1"}, hides_others=True)
    assert (["dri/renderD128", "kfd"], {"ROCR_VISIBLE_DEVICES": "0"}) == (
        names(amd, second),
        second.env,
    )


def test_nothing_is_filtered_where_there_is_nothing_to_hide(amd: Path, nvidia: Path) -> None:
    def never() -> bool:
        raise AssertionError("it needn't be asked")

    both = gpu_access(Vendor.AMD, can_filter=never, root=amd)
    one = gpu_access(Vendor.NVIDIA, 1, can_filter=never, root=nvidia)
    assert ((), ()) == (both.alone, one.alone)
    unfiltered = gpu_access(Vendor.AMD, 1, root=amd)
    assert ((), 1) == (unfiltered.alone, len(unfiltered.notes))


def test_whoever_has_all_is_told_nothing_of_others(amd: Path, nvidia: Path) -> None:
    given = assigned_gpus(Vendor.AMD, amd, {}), assigned_gpus(Vendor.NVIDIA, nvidia, {}, most=1)
    assert [(), ()] == [one.notes for one in given]


def test_on_windows_one_file_stands_for_all(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/dxg").touch()
    assigned = assigned_gpus(Vendor.NVIDIA, tmp_path, {}, most=1)
    assert (["dxg"], BY_BUS) == (names(tmp_path, assigned), assigned.env)


def test_amds_processors_and_screens_are_no_gpus(amd: Path) -> None:
    assert ["dri/renderD136", "dri/renderD128", "kfd"] == names(
        amd, assigned_gpus(Vendor.AMD, amd, {})
    )


def test_another_makers_screen_is_no_gpu_of_amds(amd: Path) -> None:
    shutil.rmtree(amd / "sys")
    assert () == gpu_nodes(Vendor.AMD, amd)


@pytest.mark.parametrize("vendor", [Vendor.NVIDIA, Vendor.AMD, Vendor.CPU])
def test_a_machine_without_gpus_has_none(tmp_path: Path, vendor: Vendor) -> None:
    assert () == gpu_nodes(vendor, tmp_path)


@pytest.fixture
def outside_of_tmp() -> Iterator[Path]:
    """Runners cover /tmp with their own."""
    root = Path(tempfile.mkdtemp(dir="/var/tmp"))
    root.chmod(0o755)
    yield make_nvidia(root)
    shutil.rmtree(root)


def test_in_the_sandbox_there_is_no_file_of_another_gpu(outside_of_tmp: Path) -> None:
    assigned = assigned_gpus(Vendor.NVIDIA, outside_of_tmp, {"CUDA_VISIBLE_DEVICES": "1"})
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, devices=assigned.paths, env=assigned.env))
    try:
        zygote.wait_ready(60)
        client = RunnerClient(zygote.connect())
        command = ["sh", "-c", f"ls {outside_of_tmp}/dev; echo $CUDA_VISIBLE_DEVICES"]
        seen = run_command(client, command, timeout_s=60).stdout
        client.close()
    finally:
        zygote.close()
    assert ["nvidia-uvm", "nvidia0", "nvidiactl", "0"] == seen.split()


STARTS = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).hipInit(0))"


@pytest.mark.exhaustive  # each run has test_in_the_sandbox_there_is_no_file_of_another_gpu
def test_amds_runtime_starts_in_the_sandbox(outside_of_tmp: Path, amd: Path) -> None:
    """Where a job has one of two GPUs, and no device control group hides the other from it."""
    root = outside_of_tmp
    shutil.copytree(amd, root, dirs_exist_ok=True)
    library = build_hip(root)
    files = [root / "dev/dri" / name for name in ("renderD128", "renderD136")]
    for file in files:
        file.chmod(0o666)
    (root / "listed").write_text("\n".join(map(str, files)))
    assigned = assigned_gpus(Vendor.AMD, root, {"ROCR_VISIBLE_DEVICES": "1"})
    beside = [str(root / name) for name in (library.name, "listed", "gpu")]
    config = ZygoteConfig(
        Flavour.BARE,
        devices=(*assigned.paths, *beside),
        folders=gpu_access(Vendor.AMD).folders,
        env=assigned.env,
    )
    zygote = Zygote.start(config)
    try:
        zygote.wait_ready(60)
        client = RunnerClient(zygote.connect())
        ended = run_command(client, ["python3", "-c", STARTS, str(library)], timeout_s=60)
        client.close()
    finally:
        zygote.close()
    assert "0" == ended.stdout.strip(), ended.stderr
