"""The equation of any robot in numbers: kernels, closed states, dynamics, statics and small motions.

| equations | file |
|---|---|
| Briot 2014 (41)-(44): inverse and forward dynamics of flexible legs | `leg_dynamics`, `general_dynamics` |
| Briot 2014 (43) at rest: static deflection | `quasi_static`, `leg_statics`, `held_pose`, `held_actuators` |
| Long 2014: flexible platform on closed-form legs | `flexible_dynamics`, `flexible_kinematics`, `elastic_motion` |
| Kim 2002 (20)-(34): reactions and friction by loads | `rigid_dynamics`, `general_dynamics`, `contributions` |
| M x'' + D x' + K x = 0: small motions | `small_motions`, `vibration`, `moving_linear` |
"""
