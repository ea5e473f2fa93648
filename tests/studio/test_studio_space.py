"""The workspace's surface cut by a plane."""

import numpy as np
import trimesh

from flexapod.views.studio.panel_space import RESOLUTIONS, clipped

ROUNDING = 1e-12
"""[m]: points where edges meet a plane."""


def test_nothing_lies_beyond_the_plane_and_all_before_it_stays() -> None:
    box = trimesh.creation.box(extents=(2.0, 4.0, 6.0))
    vertices, faces = clipped(np.array(box.vertices), np.array(box.faces), 2, 1.0)
    assert vertices[:, 2].max() <= 1.0 + ROUNDING
    assert vertices[:, 2].min() == -3.0
    left = trimesh.Trimesh(vertices=vertices, faces=faces, process=False)
    assert np.isclose(left.area, 2 * 4 + 2 * (2 + 4) * 4.0), "four sides to the plane and the floor, no lid"
    assert len(clipped(np.array(box.vertices), np.array(box.faces), 0, -2.0)[1]) == 0


def test_pictures_become_finer() -> None:
    assert list(RESOLUTIONS) == sorted(set(RESOLUTIONS))
