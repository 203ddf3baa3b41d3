"""What runs a model in this process is part of what its answers depend on."""

from importlib.metadata import version

import pytest

from inference.serving.libraries import RUNNING, differences, installed, libraries_for


@pytest.mark.parametrize("quantisation", ["", "half", "half+offload"])
def test_plain_weights_are_run_by_three_libraries(quantisation: str) -> None:
    assert libraries_for(quantisation) == ("torch", "transformers", "xgrammar") == RUNNING


@pytest.mark.parametrize("quantisation", ["8bit", "4bit", "8bit+offload"])
def test_quantised_weights_are_run_by_one_more(quantisation: str) -> None:
    assert libraries_for(quantisation) == (*RUNNING, "bitsandbytes")


def test_what_is_not_installed_has_no_version() -> None:
    assert installed(["numpy", "no-such-library"]) == {"numpy": version("numpy")}


def test_the_declared_libraries_are_the_right_ones() -> None:
    assert differences({"numpy": version("numpy"), "another": "1"}, ["numpy"]) == []


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"numpy": "0.1"}, f"numpy {version('numpy')} is installed, 0.1 was declared"),
        ({}, f"numpy {version('numpy')} is installed, none was declared"),
    ],
)
def test_other_libraries_than_the_declared_are_named(declared: dict[str, str], said: str) -> None:
    assert differences(declared, ["numpy"]) == [said]


def test_a_library_that_is_not_there_is_named() -> None:
    assert differences({"no-such-library": "1"}, ["no-such-library"]) == [
        "no-such-library (none) is installed, 1 was declared"
    ]
