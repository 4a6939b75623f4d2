"""Frames of a stream of events, from the lines that arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx

from ._amounts import FROM_SERVER
from .models import Bye, Hello, TenantEvent


class _Frames:
    """Puts frames together, line by line."""

    def __init__(self) -> None:
        self.hello: Hello | None = None
        """The first message of the server. Every event after its ``sequence`` follows."""
        self.bye: Bye | None = None
        """Why the server ended the stream, if the server sent a reason."""
        self.last_id: int | None = None
        """The last complete record. Resume after it."""
        self._name = ""
        self._data: list[str] = []
        self._id: int | None = None

    def _take(self, line: str) -> TenantEvent | None:
        """Take a line; the event that it completes, if it does."""
        if line:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
            elif field == "id" and value.isdigit():
                self._id = int(value)
            return None
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        if self._id is not None:
            self.last_id, self._id = self._id, None
        if name == "hello":
            self.hello = Hello.model_validate_json(data)
        elif name == "bye":
            self.bye = Bye.model_validate_json(data)
        elif name == "event":
            return TenantEvent.model_validate_json(data, context=FROM_SERVER)
        return None


class Events(_Frames):
    """What happens to a tenant, event by event, until the server ends the stream."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self._lines = response.iter_lines()

    def __iter__(self) -> Iterator[TenantEvent]:
        return self

    def __next__(self) -> TenantEvent:
        for line in self._lines:
            event = self._take(line)
            if event is not None:
                return event
        raise StopIteration


class AsyncEvents(_Frames):
    """The same, for asyncio."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self._lines = response.aiter_lines()

    def __aiter__(self) -> AsyncIterator[TenantEvent]:
        return self

    async def __anext__(self) -> TenantEvent:
        async for line in self._lines:
            event = self._take(line)
            if event is not None:
                return event
        raise StopAsyncIteration
