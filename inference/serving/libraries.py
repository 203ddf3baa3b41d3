"""The libraries that run a model in this process: their versions are part of an engine version (R2)."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

RUNNING = ("torch", "transformers", "xgrammar")
"""What generates, and what holds an answer to its schema."""

QUANTISING = "bitsandbytes"


def libraries_for(quantisation: str) -> tuple[str, ...]:
    """Return the names of the libraries that have a say in the answers of a model held in memory so."""
    is_quantised = {"8bit", "4bit"} & set(quantisation.split("+"))
    return (*RUNNING, QUANTISING) if is_quantised else RUNNING


def installed(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of those of the libraries that are installed here."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def differences(declared: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return, in words, where this process has other libraries than a version was declared for."""
    here = installed(names)
    return [
        f"{name} {here.get(name, '(none)')} is installed, {declared.get(name, 'none')} was declared"
        for name in names
        if here.get(name) != declared.get(name)
    ]
