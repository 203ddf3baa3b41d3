"""The socket: who may listen, what arrives, what a reconnect brings, and when it ends."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from ocrsite.asgi import application
from review.live import consumers, relay
from review.live.consumers import CLOSE_FAILED, CLOSE_NO_ACCESS, CLOSE_OVERRUN
from review.live.urls import urlpatterns
from review.models import Event, Membership, Project, User
from tests import factories
from tests.review.live.conftest import Write

PATH = "/ws/projects/receipts/events/"

Listen = Callable[..., AbstractAsyncContextManager[WebsocketCommunicator]]


def communicator(user: User | AnonymousUser, path: str = PATH) -> WebsocketCommunicator:
    made = WebsocketCommunicator(URLRouter(urlpatterns), path)
    made.scope["user"] = user
    return made


@pytest.fixture
def listen(viewer: User) -> Listen:
    @asynccontextmanager
    async def open_socket(after: int | None = None, user: User | None = None) -> AsyncIterator[WebsocketCommunicator]:
        socket = communicator(user or viewer, PATH if after is None else f"{PATH}?after={after}")
        connected, _protocol = await socket.connect(timeout=10)
        assert connected
        yield socket
        await socket.disconnect(timeout=10)

    return open_socket


async def hear(socket: WebsocketCommunicator, n: int) -> list[dict[str, Any]]:
    return [await socket.receive_json_from(timeout=10) for _ in range(n)]


async def closed_with(socket: WebsocketCommunicator) -> int:
    output = await socket.receive_output(timeout=10)
    assert output["type"] == "websocket.close"
    return int(output["code"])


async def is_refused(socket: WebsocketCommunicator) -> bool:
    connected, _code = await socket.connect(timeout=10)
    return not connected


# --- who ---------------------------------------------------------------------------------------------------------


async def test_member_who_may_only_read_hears_events(project: Project, listen: Listen, write: Write) -> None:
    async with listen(after=0) as socket:
        number = await write(project, document_id=7)
        [message] = await hear(socket, 1)
    assert message == {
        "id": number,
        "name": "document.routed",
        "payload": {"document_id": 7, "status": "stored", "band": "auto", "n_pages": 1, "n_pages_read": 1},
    }


async def test_stranger_is_refused(project: Project, stranger: User) -> None:
    assert await is_refused(communicator(stranger))


async def test_anonymous_is_refused(project: Project) -> None:
    assert await is_refused(communicator(AnonymousUser()))


async def test_project_that_does_not_exist_is_refused_like_a_foreign_one(viewer: User) -> None:
    assert await is_refused(communicator(viewer, "/ws/projects/nowhere/events/"))


async def test_deactivated_user_is_refused(viewer: User) -> None:
    await database_sync_to_async(User.objects.filter(pk=viewer.pk).update)(is_active=False)
    assert await is_refused(communicator(viewer))


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 30, "٣"])
async def test_an_after_that_is_no_id_is_refused(viewer: User, after: str) -> None:
    assert await is_refused(communicator(viewer, f"{PATH}?after={after}"))


async def test_membership_removed_closes_the_socket(
    viewer: User, listen: Listen, write: Write, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    async with listen(after=0) as socket:
        await write(project)
        await hear(socket, 1)
        await database_sync_to_async(Membership.objects.filter(user=viewer).delete)()
        assert await closed_with(socket) == CLOSE_NO_ACCESS


async def test_removed_member_is_found_out_while_events_keep_coming(
    viewer: User, listen: Listen, write: Write, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.0)
    async with listen(after=0) as socket:
        await database_sync_to_async(Membership.objects.filter(user=viewer).delete)()
        for _ in range(3):
            await write(project)
        output: dict[str, Any] = {"type": ""}
        while output["type"] != "websocket.close":
            output = await socket.receive_output(timeout=10)
        assert output["code"] == CLOSE_NO_ACCESS


# --- what --------------------------------------------------------------------------------------------------------


async def test_without_after_only_what_comes_is_sent(project: Project, listen: Listen, write: Write) -> None:
    await write(project, document_id=1)
    async with listen() as socket:
        await write(project, document_id=2)
        [message] = await hear(socket, 1)
        assert message["payload"]["document_id"] == 2
        assert await socket.receive_nothing()


@pytest.mark.sqlite
async def test_reconnect_misses_nothing_and_repeats_nothing(project: Project, listen: Listen, write: Write) -> None:
    async with listen(after=0) as socket:
        heard = [await write(project, document_id=number) for number in range(3)]
        assert [message["id"] for message in await hear(socket, 3)] == heard
    missed = [await write(project, document_id=number) for number in range(3, 8)]
    async with listen(after=heard[-1]) as socket:
        later = await write(project, document_id=9)
        assert [message["id"] for message in await hear(socket, 6)] == [*missed, later]
        assert await socket.receive_nothing()


@pytest.mark.postgres
async def test_an_event_committed_late_reaches_a_client_that_was_away(
    project: Project, listen: Listen, write: Write
) -> None:
    late = (await write(project, document_id=1)) + 1
    await database_sync_to_async(Event.objects.create)(pk=late + 1, project=project, name="early")
    async with listen(after=0) as socket:
        assert [message["id"] for message in await hear(socket, 2)] == [late - 1, late + 1]
    await database_sync_to_async(Event.objects.create)(pk=late, project=project, name="late")
    async with listen(after=late + 1) as socket:
        again = {message["id"]: message["name"] for message in await hear(socket, 2)}
    assert again == {late - 1: "document.routed", late: "late"}


async def test_a_long_absence_is_sent_batch_by_batch(
    project: Project, listen: Listen, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "BATCH", 2)
    written = [await write(project, document_id=number) for number in range(7)]
    async with listen(after=written[0]) as socket:
        assert [message["id"] for message in await hear(socket, 6)] == written[1:]


async def test_events_of_other_projects_are_not_sent(project: Project, listen: Listen, write: Write) -> None:
    other = await database_sync_to_async(factories.make_project)("other")
    await write(other)
    async with listen(after=0) as socket:
        await write(other)
        number = await write(project)
        assert [message["id"] for message in await hear(socket, 1)] == [number]
        assert await socket.receive_nothing()


async def test_what_a_client_says_is_ignored(project: Project, listen: Listen, write: Write) -> None:
    async with listen(after=0) as socket:
        await socket.send_to(text_data="not even json")
        await socket.send_to(bytes_data=b"\x00")
        number = await write(project)
        assert [message["id"] for message in await hear(socket, 1)] == [number]


async def test_chinese_text_travels_as_it_is(project: Project, listen: Listen) -> None:
    await database_sync_to_async(Event.objects.create)(project=project, name="test", payload={"holder": "李雷"})
    async with listen(after=0) as socket:
        assert "李雷" in await socket.receive_from(timeout=10)


# --- when it ends ------------------------------------------------------------------------------------------------


async def test_a_socket_too_far_behind_is_told_to_come_again(
    project: Project, listen: Listen, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "QUEUE_SIZE", 1)
    monkeypatch.setattr(relay, "POLL_SECONDS", 0.2)
    async with listen() as socket:
        for _ in range(4):
            await database_sync_to_async(Event.objects.create)(project=project, name="burst")
        output: dict[str, Any] = {"type": ""}
        while output["type"] != "websocket.close":
            output = await socket.receive_output(timeout=10)
        assert output["code"] == CLOSE_OVERRUN


async def test_a_failure_closes_the_socket_instead_of_leaving_it_silent(
    project: Project, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise OSError("away")

    monkeypatch.setattr(consumers, "events_for", fail)
    async with listen(after=0) as socket:
        assert await closed_with(socket) == CLOSE_FAILED


async def test_leaving_ends_the_poll(project: Project, listen: Listen, write: Write) -> None:
    async with listen() as socket:
        await write(project)
        await hear(socket, 1)
        assert relay.relay_of_this_process().is_polling
    assert not relay.relay_of_this_process().is_polling


# --- through the whole application -------------------------------------------------------------------------------


@pytest.fixture
def signed_in(viewer: User) -> Client:
    client = Client()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    return client


def over_http(client: Client, origin: str = "http://localhost") -> WebsocketCommunicator:
    cookie = f"{django_settings.SESSION_COOKIE_NAME}={client.session.session_key}"
    headers = [(b"cookie", cookie.encode()), (b"origin", origin.encode()), (b"host", b"localhost")]
    return WebsocketCommunicator(application, PATH + "?after=0", headers=headers)


async def test_session_cookie_opens_the_socket(project: Project, signed_in: Client, write: Write) -> None:
    socket = await database_sync_to_async(over_http)(signed_in)
    connected, _protocol = await socket.connect(timeout=10)
    assert connected
    number = await write(project)
    assert [message["id"] for message in await hear(socket, 1)] == [number]
    await socket.disconnect()


async def test_signing_out_closes_the_socket(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    socket = await database_sync_to_async(over_http)(signed_in)
    connected, _protocol = await socket.connect(timeout=10)
    assert connected
    await database_sync_to_async(signed_in.logout)()
    assert await closed_with(socket) == CLOSE_NO_ACCESS


async def test_a_new_password_closes_the_socket(
    signed_in: Client, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    socket = await database_sync_to_async(over_http)(signed_in)
    connected, _protocol = await socket.connect(timeout=10)
    assert connected
    viewer.set_password("another long password")
    await database_sync_to_async(viewer.save)()
    assert await closed_with(socket) == CLOSE_NO_ACCESS


async def test_another_sites_page_cannot_open_the_socket(signed_in: Client) -> None:
    socket = await database_sync_to_async(over_http)(signed_in, origin="https://evil.example")
    assert await is_refused(socket)
