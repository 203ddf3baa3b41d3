import socket

import pytest
from django.core.management import CommandError

from review.management.ports import refuse_taken_port


def test_a_free_port_is_accepted() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    refuse_taken_port("127.0.0.1", port)


def test_a_port_where_somebody_listens_is_refused_with_another_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"port {port}: .* --port \d+"):
            refuse_taken_port("127.0.0.1", port)
