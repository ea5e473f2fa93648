"""Integrators and the compiled loop over rows of time.

| method | file |
|---|---|
| Runge-Kutta 4, Dormand-Prince 5(4) | `rk4`, `dopri` |
| Gauss and Radau IIA collocation | `collocation`, `implicit`, `implicit_row` |
| many coordinates: the same steps in NumPy | `numeric_rows`, `numeric_steps`, `second_order_steps` |
| CVODE as a reference | `cvode` |
"""
