"""Names of packages are loaded on first use, from the list in their stubs."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import flexapod as fp


@pytest.mark.parametrize("package", [fp, fp.motions, fp.flexible], ids=lambda package: package.__name__)
def test_every_name_of_a_stub_is_there(package: ModuleType) -> None:
    assert len(package.__all__) > 10
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing


def test_a_name_is_loaded_once_and_no_other() -> None:
    code = (
        "import sys, flexapod.motions as m; before = set(sys.modules); m.cosine; "
        "sys.exit('flexapod.motions.paths' in sys.modules or 'cosine' not in vars(m) or len(before) >= len(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
