"""The simulated system: robot, controller, loads and friction as a right-hand side; coordinates, start, signals.

| equations | file |
|---|---|
| Long 2014, Fig. 3: flexible platform | `flexible_plant` |
| Briot 2014 (41)-(44): flexible legs in independent coordinates | `independent`, `independent_rates`, `leg_terms` |
| forward dynamics in platform coordinates | `plant`, `right_hand_side` |
"""
