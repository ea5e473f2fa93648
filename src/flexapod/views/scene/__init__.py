"""The scene: the drawing of a robot, from its file alone, in the studio, the report, the gallery and `show --plot`.

`frames` places the links, `shapes` says which rods, pins, balls and plates they are drawn by, `meshes` are their surfaces,
`arrows` the forces beside them; `plotly_scene` turns a scene into a Plotly figure, the studio into nodes of its page.
"""
