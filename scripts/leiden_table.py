#!/usr/bin/env python3
"""What leidenalg reaches on the LFR graphs of the unit tests: the table with which these compare.

    mkdir /tmp/lfr
    PG_RAG_LFR=/tmp/lfr cargo test --no-default-features --lib -- by_leidenalg
    pip install leidenalg==0.12.0 igraph==1.0.0
    python3 scripts/leiden_table.py /tmp/lfr >src/graph/communities/tests/lfr.tsv

Of each graph the best modularity of ten seeds, each of which goes on until nothing gains any more.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import igraph
import leidenalg

SEEDS = 10


def main():
    print(f"# leidenalg {version('leidenalg')}, igraph {version('igraph')}: the best of {SEEDS} seeds")
    print("# seed\tedges\tmodularity")
    files = sorted(Path(sys.argv[1]).glob("*.txt"), key=lambda it: int(it.stem))
    for file in files:
        edges = [tuple(map(int, line.split())) for line in file.read_text().splitlines()]
        graph = igraph.Graph(n=1 + max(map(max, edges)), edges=edges)
        print(f"{file.stem}\t{len(edges)}\t{best(graph):.6f}")


def best(graph):
    def found(seed):
        return leidenalg.find_partition(
            graph, leidenalg.ModularityVertexPartition, n_iterations=-1, seed=seed
        )

    return max(found(seed).modularity for seed in range(SEEDS))


main()
