"""A four-bar with a wheel geared to its crank, a joint spring and a force element: what only few files have."""

GEARED = """
flexapod: 1
name: geared
source: written for this test
plane: xy
gravity: [0, -9.81, 0]
home: {position: [0, 0.1, 0]}
platform: {body: a.coupler}
legs:
  each:
    a:
      joints:
        one: {type: revolute, from: base, to: crank, axis: [0, 0, 1], start: 90 deg, actuated: true}
        two: {type: revolute, from: crank, to: coupler, at: [0.1, 0, 0], axis: [0, 0, 1], start: -90 deg}
        three: {type: revolute, from: base, to: rocker, at: [0.25, 0, 0], axis: [0, 0, 1], start: 63 deg,
                stiffness: 7, rest: 50 deg}
        four: {type: revolute, from: rocker, to: coupler, at: [0.1118033988749895, 0, 0], on: [0.3, 0, 0], axis: [0, 0, 1]}
        five: {type: revolute, from: base, to: wheel, at: [0, -0.2, 0], axis: [0, 0, 1], start: 0}
      bodies:
        crank: {mass: 1, com: [0.05, 0, 0], inertia: {diagonal: [0.002, 0.002, 0.003]}}
        coupler: {mass: 1, com: [0.15, 0, 0], inertia: {diagonal: [0.002, 0.002, 0.003]}}
        rocker: {mass: 1, com: [0.05, 0, 0], inertia: {diagonal: [0.002, 0.002, 0.003]}}
        wheel: {mass: 2, com: [0.01, 0, 0], inertia: {diagonal: [0.002, 0.002, 0.003]}}
couplings:
  gear: {a.one: 2, a.five: 1}
forces:
  spring: {from: base, at: [0.1, 0.4, 0], to: a.coupler, on: [0.15, 0.02, 0], stiffness: 40, length: 0.2, preload: 3}
"""
