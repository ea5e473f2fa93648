"""Passes from a program to its tape, one per file, in the order in which `tape.tape` calls them.

`lowering`, `value_numbering` (which folds constants), `unrolling`, `dependence`, `invariants`, `hoisting`, `reciprocals`,
`factoring`, `scheduling`; `basic_blocks` says where straight-line code may be cut.
"""
