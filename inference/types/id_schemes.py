"""The schemes of tax and registration numbers that `x-id-scheme` may name: the modules of python-stdnum."""

import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import stdnum

PARTS = ("validate", "compact")
# Tools of the library, the arithmetic that schemes share, and a scheme under its former name.
NO_SCHEMES = ("exceptions", "numdb", "util", "iso7064", "luhn", "damm", "verhoeff", "iso9362")


@cache
def known_schemes() -> tuple[str, ...]:
    """Return the names of all schemes, such as "cn.uscc", "my.nric", "eu.vat" and "iban", without importing one."""
    return tuple(sorted(_schemes(list(stdnum.__path__), "")))


def _schemes(folders: list[str], prefix: str) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        if module.name in NO_SCHEMES:
            continue
        if module.ispkg:
            yield from _schemes([f"{folder}/{module.name}" for folder in folders], f"{prefix}{module.name}.")
        else:
            yield prefix + module.name


@cache
def scheme_module(scheme: str) -> ModuleType | None:
    """Return the module that knows a scheme, or None where there is none that checks numbers."""
    if scheme not in known_schemes():
        return None
    module: ModuleType = pkgutil.resolve_name(f"stdnum.{scheme}")
    return module if all(hasattr(module, part) for part in PARTS) else None
