"""The whole product under `serve`: it answers, its children are replaced, an upload is whole or absent, it stops."""

import http.client
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.house import House, children_of, free_port
from tests.review.conftest import picture

BOUNDARY = "stet"


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def child_with(serve: subprocess.Popen[str], word: str) -> int | None:
    return next((pid for pid in children_of(serve.pid) if word in command_line(pid)), None)


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def form(data: bytes) -> bytes:
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="document_type"\r\n\r\nreceipt\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="scan.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    )
    return head.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()


def headers(house: House, length: int) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {house.token}",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Content-Length": str(length),
        "Idempotency-Key": "0123456789",
    }


def upload(house: House, port: int, data: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = form(data)
    try:
        connection.request("POST", "/api/v1/projects/p/documents/", body, headers(house, len(body)))
        return connection.getresponse().status
    finally:
        connection.close()


def half_an_upload(house: House, port: int, data: bytes) -> socket.socket:
    """Send all but the end of an upload; the server waits for the rest."""
    body = form(data)
    lines = [f"{name}: {value}" for name, value in headers(house, len(body)).items()]
    request = "\r\n".join(["POST /api/v1/projects/p/documents/ HTTP/1.1", f"Host: 127.0.0.1:{port}", *lines, "", ""])
    line = socket.create_connection(("127.0.0.1", port), timeout=10)
    line.sendall(request.encode() + body[: len(body) // 2])
    return line


def test_serve_from_first_answer_to_clean_stop(house: House) -> None:
    port = free_port()
    serve = house.start("serve", "--port", str(port), "--workers", "1")
    house.wait_for(lambda: answers(port), "the web server answers")
    house.wait_for(lambda: f"http://127.0.0.1:{port}/" in house.logs(), "the address is printed")

    # The web server is killed in the middle of an upload: nothing was accepted, and it comes back.
    web = child_with(serve, "uvicorn")
    assert web is not None
    with half_an_upload(house, port, picture("half", kind="PNG", size=(900, 900))):
        time.sleep(0.5)
        os.kill(web, signal.SIGKILL)
    house.wait_for(lambda: child_with(serve, "uvicorn") not in (None, web) and answers(port), "the web comes back")
    assert house.count("document") == 0
    assert not any(path.is_file() for path in (house.folder / "media").rglob("*"))

    # The same upload, with the same key, is accepted and read, though the workers were killed as well.
    work = child_with(serve, "manage.py")
    assert work is not None
    os.kill(work, signal.SIGKILL)
    assert upload(house, port, picture("half", kind="PNG", size=(900, 900))) == 201
    house.wait_until_finished(1)
    assert house.statuses() == {"scan.jpg": "stored"}
    assert house.count("routingdecision") == 1

    serve.send_signal(signal.SIGTERM)
    assert serve.wait(60) == 0
    assert house.alive() == []
    assert house.count("workerheartbeat") == 0
    assert not answers(port)


def test_killing_serve_itself_leaves_no_orphan(house: House) -> None:
    port = free_port()
    serve = house.start("serve", "--port", str(port), "--workers", "1")
    house.wait_for(lambda: answers(port), "the web server answers")
    serve.kill()
    serve.wait()
    house.wait_for(lambda: house.alive() == [], "children end with their parent")


def test_a_taken_port_is_named_with_the_remedy(house: House) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = house.run("serve", "--port", str(port))
    assert refused.returncode == 1
    assert str(port) in refused.stderr
    assert "--port" in refused.stderr
    assert house.alive() == []


@pytest.mark.parametrize(("arguments", "said"), [(["--port", "99999"], "65535"), (["--workers", "-1"], "0 or more")])
def test_an_impossible_option_is_one_line(house: House, arguments: list[str], said: str) -> None:
    refused = house.run("serve", *arguments)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_full_disk_refuses_the_file_and_keeps_nothing_of_it(house: House) -> None:
    """The kernel lets no file of this process grow above 3 MB: a disk that is full, as far as it can tell."""
    inbox = house.folder / "inbox"
    inbox.mkdir()
    # What follows the end of a PNG is nobody's business.
    (inbox / "large").write_bytes(picture("x", kind="PNG") + os.urandom(4_000_000))
    command = ["ingest", str(inbox), "--project", "p", "--type", "receipt", "--settle-seconds", "0"]
    refused = house.run(*command, preexec_fn=limit_file_size)
    assert refused.returncode == 1
    assert "storage is full" in refused.stderr
    assert house.count("document") == 0
    assert not any(path.is_file() for path in (house.folder / "media").rglob("*"))
    assert list((house.folder / "incoming").iterdir()) == []
    assert house.rows("SELECT count(*) FROM django_q_ormq") == [(0,)]
    # Once there is space, the same file is accepted.
    assert house.run(*command).returncode == 0
    assert house.count("document") == 1


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
