"""Write src/flexapod/robots/catalogue.json: the rows of `flexapod robots`; tests/views/test_catalogue_table.py checks it.

Run: python tools/make_catalogue_table.py, after a robot file was added or changed.
"""

from __future__ import annotations

import flexapod as fp
from flexapod.views.catalogue_table import FILE, table_text


def main() -> None:
    """Write the table."""
    path = next(iter(fp.catalogue().values())).with_name(FILE)
    path.write_text(table_text(), encoding="utf-8")
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
