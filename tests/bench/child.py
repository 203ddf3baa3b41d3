"""The process of one benchmark: settings first, for they are read from the environment, then the benchmark."""

import importlib
import sys

import django


def main(name: str, arguments: list[str]) -> int:
    """Run `tests.bench.<name>.main`; return its exit status."""
    django.setup()
    return int(importlib.import_module(f"tests.bench.{name}").main(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
