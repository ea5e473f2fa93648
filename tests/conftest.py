"""Makes `support` importable from every test folder. One BLAS thread: `make test` runs a process per core, and small matrices
wait for each other's threads longer than they compute."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
