"""Abilities of the verbs of the space of poses: rows of the table of `abilities`."""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]

NO_BOUNDS = (
    "{robot}: proofs over boxes of poses need as many actuators as degrees of freedom and legs that close one by one, without "
    "elastic parts and without a joint that slides on the platform. fp.workspace samples it instead"
)
ONE_ORIENTATION = (
    "{option}: of legs without a closed form, as those of {robot}, only positions at one orientation can be proven; "
    "choose the kind position"
)
NO_LINES = "{option}: available for six legs in closed form (UPS, PUS or RUS), which {robot} does not have; leave it out"
NO_DETERMINANT = (
    "{robot}: its actuators are redundant or too few ({actuators} for {mobility} degrees of freedom), so that no single "
    "determinant vanishes; see singularities"
)
OWN_TIME = (
    "{verb}: available for rigid legs that close one by one, not for the {part} of {robot}; time a version of the robot without "
    "the {part} (rigid, or with one link in place of a parallelogram), then check the motion with inverse_dynamics"
)
NOT_HELD = "{option}: {robot} is rigid, so that nothing in it deforms; make a part of it flexible, or leave {option} out"
ONLY_WITH = (
    "{option}: has an effect only together with `force`, the largest allowed actuator force; give it, or leave {option} out"
)


def space_rows(*, determines: str, drives: str, inverse: str) -> dict[str, dict[str, Row]]:
    """The rows; what other verbs refuse for the same reason has their texts.

    Args:
        determines: actuators do not determine the pose; drives: they cannot drive the platform.
        inverse: there is no inverse dynamics.
    """
    return {
        "singularities": {"length": {}, "on_error": {}},
        "singularity_locus": {"": {"no determinant": NO_DETERMINANT}, "orientation": {}, "cells": {}, "step": {}},
        "aspects": {"": {"no determinant": NO_DETERMINANT}, "orientation": {}, "limits": {}},
        "pave": {
            "": {"no proofs over boxes": NO_BOUNDS},
            "kind": {"legs without bounds & kind=orientation": ONE_ORIENTATION}, "clearance": {"legs without bounds": NO_LINES},
            "position": {"kind=position": "position: is varied by the paving; give it with kind='orientation', or a region"},
            **{
                name: {}
                for name in (
                    "region", "orientation", "strokes", "angles", "singularities", "undecided", "cut", "most", "progress",
                )
            },
        },
        "path_between": {
            "": {"under-actuated": determines}, "clearance": {"legs without bounds": NO_LINES},
            "limits": {}, "distance": {}, "attempts": {}, "seed": {},
        },
        "time_optimal": {
            "": {"under-actuated": drives, "flexible platform": OWN_TIME, "flexible legs": OWN_TIME},
            "limits": {}, "intervals": {}, "wrench": {}, "friction": {},
        },
        "workspace_solid": {
            "clearance": {"legs without bounds": NO_LINES}, "mounting": {"legs without bounds": NO_LINES},
            "mounting_axes": {"no mounting": "mounting_axes: has an effect with `mounting` only; give it as well"},
            "force": {"under-actuated": inverse}, "wrench": {"no force": ONLY_WITH}, "along": {"no force": ONLY_WITH},
            "stiffness": {"rigid": NOT_HELD}, "frequency": {"rigid": NOT_HELD},
            "position": {"kind=constant-orientation": "position: is varied by this kind; choose the kind orientation"},
            **{
                name: {}
                for name in (
                    "kind", "resolution", "region", "orientation", "tilt", "torsion", "orientations", "limits", "singularities",
                    "condition",
                )
            },
        },
    }  # fmt: skip
