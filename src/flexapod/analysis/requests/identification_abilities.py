"""Abilities of the verbs of identification: rows of the table of `abilities`.

See `flexapod.analysis.requests.abilities` for how conditions are written.
"""

from __future__ import annotations

from collections.abc import Mapping

Row = Mapping[str, str]
ANY = ""

DEFLECTIONS = (
    "{verb}: {robot} has flexible bodies, and its forces depend on deflections that no actuator measures; name file parameters "
    "to fp.identify(robot, data, parameters=[...]) instead, which fits them with the elastic model"
)
COLUMNLESS = (
    "{verb}: {robot} has force elements, preloads, bump stops, or dampers at its drives, which the regressor leaves out; use "
    "the robot without them, or fp.identify, which subtracts their forces"
)
NAMED = "{option}: not available with named parameters, which are fitted to the forces directly; leave it out"
INSTRUMENTS = "instruments: give them together with method='iv', and only then"
INDEPENDENT = (
    "{verb}: {robot} has {driven} for {mobility} degrees of freedom; they cannot be moved one by one. Give the "
    "motion of its platform, or a robot with as many actuators as degrees of freedom"
)
RIGID_RUN = (
    "{verb}: available for rigid robots, and {robot} has {part}; use simulate, and add noise to its result"
)


def identification_rows(underactuated: str) -> dict[str, dict[str, Row]]:
    """Verb -> option -> condition -> reason.

    Args:
        underactuated: why a robot with fewer actuators than degrees of freedom has no inverse dynamics.

    Checked by: tests/analysis/test_abilities.py.
    """
    linear: Row = {"unmeasured deflections": DEFLECTIONS, "under-actuated": underactuated}
    return {
        "regressor": {ANY: linear, "friction": {}, "legs": {}, "loads": {}},
        "base_parameters": {ANY: linear, "friction": {}, "legs": {}, "seed": {}},
        "exciting_motion": {
            ANY: {**linear, "forces outside the regressor": COLUMNLESS, "redundant actuators": INDEPENDENT},
            "period": {}, "harmonics": {}, "rate": {}, "legs": {}, "friction": {}, "passes": {}, "seed": {},
        },
        "simulated_measurement": {
            ANY: {"flexible platform": RIGID_RUN, "flexible legs": RIGID_RUN, "other actuators than DOF": INDEPENDENT},
            "controller": {}, "rate": {}, "resolution": {}, "force_noise": {}, "step": {}, "seed": {},
        },
        "identify": {
            ANY: {
                "no parameters & unmeasured deflections": DEFLECTIONS, "under-actuated": underactuated,
            },
            **{name: {} for name in ("parameters", "cutoff", "decimate", "friction", "prior", "least", "validate", "on_bad")},
            **{
                name: {"with parameters": NAMED}
                for name in ("legs", "gain", "payload", "delay", "physical", "drop_outliers", "least_speed", "base")
            },
            "method": {}, "method=iv": {"with parameters": NAMED, "no instruments": INSTRUMENTS},
            "method=robust": {"with parameters": NAMED},
            "instruments": {"with parameters": NAMED, **{f"method={name}": INSTRUMENTS for name in ("wls", "ols", "robust")}},
            "offset": {"gain=find": "offset: not together with gain='find'; leave one of them out"},
            "backlash": {
                "with parameters": NAMED,
                "redundant actuators":
                    "backlash: {robot} has {actuators} actuators for {mobility} degrees of freedom; a gap of one of them does "
                    "not move the platform alone. Leave it out",
            },
        },
        "identify_modes": {
            name: {} for name in (
                "state", "sigma", "spread", "damping", "damping_sigma", "shapes", "shape_coordinates", "actuators", "prestress",
            )
        },
        "export_payload_estimator": {ANY: {**linear, "forces outside the regressor": COLUMNLESS}},
    }  # fmt: skip
