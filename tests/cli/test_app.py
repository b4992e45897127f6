import typer.core
import typer.main

from kernelbot.cli.app import COMMANDS, command_tree


def test_each_module_registers_what_the_table_says() -> None:
    registered = {}
    for module in COMMANDS:
        group = typer.main.get_command(command_tree([module]))
        assert isinstance(group, typer.core.TyperGroup)
        registered[module] = set(group.commands)
    assert {module: set(names) for module, names in COMMANDS.items()} == registered
