"""Programs and their stages: expressions with loops, their graph, its signature, the tape of operations.

`program`, `control_flow`: what equations are written in. `graph`, `walking`: straight-line code with loops as nodes. `tape`,
`specialised`, `operations`: the final operations and their count. `tangent`: the directional derivative of a tape.
"""
