"""Block triangular form of a square pattern: in which order, and how many together, equations can be solved."""

from __future__ import annotations

from collections.abc import Sequence

Pattern = Sequence[Sequence[bool]]
Block = tuple[tuple[int, ...], tuple[int, ...]]


class StructurallySingularError(ValueError):
    """Raised if some rows of a pattern have too few columns between them."""


def blocks(pattern: Pattern) -> list[Block]:
    """Blocks (rows, columns) in solving order: each needs only columns of earlier ones.

    A matching of rows and columns (augmenting paths), then the strongly connected components of the rows (Tarjan): the
    Dulmage-Mendelsohn decomposition of a square matrix of full structural rank.

    Raises:
        StructurallySingularError: no matching covers all rows.
    Checked by: tests/robot/test_blocks.py.
    """
    column_of = _matching(pattern)
    n = len(pattern)
    needs = [[s for s in range(n) if s != r and pattern[r][column_of[s]]] for r in range(n)]
    return [(tuple(sorted(c)), tuple(sorted(column_of[r] for r in c))) for c in _components(needs)]


def _matching(pattern: Pattern) -> list[int]:
    """The column of each row."""
    n = len(pattern)
    row_of = [-1] * n

    def augment(row: int, seen: set[int]) -> bool:
        for column in range(n):
            if pattern[row][column] and column not in seen:
                seen.add(column)
                if row_of[column] < 0 or augment(row_of[column], seen):
                    row_of[column] = row
                    return True
        return False

    for row in range(n):
        if not augment(row, set()):
            raise StructurallySingularError(f"row {row} finds no column of its own")
    return [row_of.index(row) for row in range(n)]


def _components(needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, each after those that it needs."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    result: list[list[int]] = []

    def visit(r: int) -> None:
        order[r] = low[r] = len(order)
        stack.append(r)
        for s in needs[r]:
            if s not in order:
                visit(s)
                low[r] = min(low[r], low[s])
            elif s in stack:
                low[r] = min(low[r], order[s])
        if low[r] == order[r]:
            component = stack[stack.index(r) :]
            del stack[stack.index(r) :]
            result.append(component)

    for r in range(len(needs)):
        if r not in order:
            visit(r)
    return result
