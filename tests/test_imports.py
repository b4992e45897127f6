"""Which modules import which; contracts of import-linter hold the rest."""

from graphlib import TopologicalSorter

import grimp


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even inside functions: whoever reads one of them would have to read all."""
    graph = grimp.build_graph("kernelbot", exclude_type_checking_imports=True, cache_dir=None)
    imported = {one: graph.find_modules_directly_imported_by(one) for one in graph.modules}
    TopologicalSorter(imported).prepare()  # raises CycleError, which names them
