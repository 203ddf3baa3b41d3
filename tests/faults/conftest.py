"""A house for each test, copied from one that is laid out once."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.house import House


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> House:
    """An installation that nobody has used yet."""
    house = House(tmp_path_factory.mktemp("house"))
    house.lay_out()
    return house


@pytest.fixture
def house(laid_out: House, tmp_path: Path) -> Iterator[House]:
    """A copy of it; whatever runs in it at the end is ended."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    shutil.copytree(laid_out.folder, tmp_path / "house")
    copy = House(tmp_path / "house", laid_out.token)
    copy.script()
    yield copy
    copy.close()
