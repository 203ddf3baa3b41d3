"""Whether a port is free to be listened on."""

import socket

from django.core.management.base import CommandError


def refuse_taken_port(host: str, port: int) -> None:
    """End the command when somebody listens there already: what answers would not be ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}, port {port}: {error.strerror}. "
                f"Stop what uses it, or name another port: --port {port % 65535 + 1}."
            ) from None
