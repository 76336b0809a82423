"""Every policy that is shipped, and those of the test package, pass the conformance suite."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.policies import SAMPLES, check_policy
from tests.packages.installing import install

from gossamer.errors import PolicyError
from gossamer.policy.ask import FailedError
from gossamer.policy.doors import DOORS
from gossamer.policy.loader import find, installed

SHIPPED = [(door.name, cls.name) for door in DOORS.values() for cls in door.shipped]  # type: ignore[attr-defined]
OUTSIDE = {
    "pages": ["marking", "second"],
    "order": ["favoured"],
    "refresh": ["twice"],
    "hosts": ["lazy"],
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    target = install(tmp_path_factory.mktemp("site"))
    sys.path.insert(0, str(target))
    yield target
    sys.path.remove(str(target))


def test_the_samples_have_every_column() -> None:
    assert {door: set(columns) for door, columns in SAMPLES.items()} == {
        door.name: set(door.columns) for door in DOORS.values()
    }


@pytest.mark.parametrize(("door", "name"), SHIPPED)
def test_shipped(door: str, name: str) -> None:
    check_policy(door, name, {})


@pytest.mark.parametrize(
    ("door", "name"), [(door, name) for door, names in OUTSIDE.items() for name in names]
)
def test_of_a_package_outside_the_tree(package: Path, door: str, name: str) -> None:
    assert name in installed(door)
    assert Path(sys.modules[find(door, name).__module__].__file__ or "").is_relative_to(package)
    check_policy(door, name, {})


@pytest.mark.parametrize("door", list(DOORS))
def test_the_suite_can_fail(package: Path, door: str) -> None:
    for how in ("raise", "nonsense"):
        with pytest.raises(FailedError):
            check_policy(door, f"bad-{door}", {"how": how})


def test_the_names_of_a_package_are_suggested(package: Path) -> None:
    with pytest.raises(PolicyError, match=r"did you mean favoured\?"):
        find("order", "favored")
