from kernelbot.harness.judge.build.ptxas import parse_kernels

_OUTPUT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z3addPf' for 'sm_90a'
ptxas info    : Function properties for _Z3addPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]
ptxas info    : Compiling entry function '_Z3mulPf' for 'sm_90a'
ptxas info    : Used 7 registers
"""


def test_every_kernel_is_a_row_of_its_figures() -> None:
    expected = (
        {
            "name": "_Z3addPf",
            "arch": "sm_90a",
            "stack_bytes": "16",
            "spill_store_bytes": "8",
            "spill_load_bytes": "12",
            "registers": "10",
            "shared_bytes": "1024",
            "constant_bytes": "380",
            "barriers": "1",
        },
        {"name": "_Z3mulPf", "arch": "sm_90a", "registers": "7"},
    )
    assert expected == parse_kernels(_OUTPUT)


def test_output_without_kernels_gives_no_rows() -> None:
    assert () == parse_kernels("g++: warning: Used 7 registers\n")


def test_a_million_digits_hold_nobody_up() -> None:
    # Read digit by digit from each of them, they would take days.
    output = f"Compiling entry function 'a' for 'b'\n{'1' * 1_000_000}\nUsed 7 registers\n"
    assert ({"name": "a", "arch": "b", "registers": "7"},) == parse_kernels(output)
