"""The client, for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx

from . import _calls as calls
from ._amounts import Amounts
from ._calls import Call, Version
from ._events import AsyncEvents
from .errors import raise_for
from .models import (
    AuditRecord,
    Kind,
    LedgerVerified,
    NewTask,
    Page,
    Quota,
    QuotaCheck,
    Task,
    TaskState,
    Tenant,
    TenantDefaults,
    Usage,
    WaitingList,
    WaitingTask,
)

Answer = TypeVar("Answer")


class AsyncHeadroom:
    """Tenants and tasks of one server.

    ``url`` defaults to ``HEADROOM_SERVER``, else ``http://127.0.0.1:9080``, as on the command line. ``token`` is sent
    as a bearer token and defaults to ``HEADROOM_TOKEN``. Without a token, the server is open or knows a certificate of
    ``http``. Every refusal is raised as an error of ``headroom_client.errors``.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(timeout=timeout) if http is None else http
        self._url = calls.server(url)
        self._headers = calls.headers(token)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncHeadroom:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _do(self, call: Call[Answer]) -> Answer:
        headers = {**self._headers, **call.headers}
        response = await self._http.request(
            call.method, self._url + call.path, json=call.json, headers=headers, params=call.params
        )
        return call.read(response)

    async def create_tenant(self, tenant: Tenant) -> Tenant:
        """Create a tenant."""
        return await self._do(calls.create_tenant(tenant))

    async def list_tenants(
        self,
        *,
        kind: Kind | None = None,
        parent: str | None = None,
        over_quota: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Tenant]:
        """The tenants that the caller sees, by name."""
        return await self._do(calls.list_tenants(kind, parent, over_quota, limit, cursor))

    async def get_tenant(self, tenant: str) -> Tenant:
        """Return a tenant."""
        return await self._do(calls.get_tenant(tenant))

    async def put_tenant(self, tenant: Tenant, *, version: Version | None) -> Tenant:
        """Replace all settings of a tenant at this version. With ``None``, create the tenant."""
        return await self._do(calls.put_tenant(tenant, version))

    async def patch_tenant(self, tenant: str, patch: dict[str, Any], *, version: Version) -> Tenant:
        """Change some settings, with a merge patch."""
        return await self._do(calls.patch_tenant(tenant, patch, version))

    async def delete_tenant(self, tenant: str, *, version: Version, drain: bool = False) -> Tenant | None:
        """Delete a tenant. Return the tenant if it still drains, else ``None``."""
        return await self._do(calls.delete_tenant(tenant, version, drain))

    async def get_quota(self, tenant: str) -> Quota:
        """Return the quota of a tenant."""
        return await self._do(calls.get_quota(tenant))

    async def put_quota(self, tenant: str, quota: Quota, *, version: Version, dry_run: bool = False) -> Quota:
        """Replace the quota of a tenant, or with ``dry_run`` return only the effects."""
        return await self._do(calls.put_quota(tenant, quota, version, dry_run))

    async def check(self, tenant: str, task: NewTask) -> QuotaCheck:
        """Predict whether a task starts, waits, or is rejected. Change nothing."""
        return await self._do(calls.check(tenant, task))

    async def get_defaults(self) -> TenantDefaults:
        """Return the settings of tenants without their own."""
        return await self._do(calls.get_defaults())

    async def put_defaults(self, defaults: TenantDefaults, *, version: Version) -> TenantDefaults:
        """Replace the defaults."""
        return await self._do(calls.put_defaults(defaults, version))

    async def usage(self, tenant: str) -> Usage:
        """Return the quota, usage, and waiting demand of a tenant."""
        return await self._do(calls.usage(tenant))

    @asynccontextmanager
    async def events(self, tenant: str, *, after: int | None = None) -> AsyncIterator[AsyncEvents]:
        """What happens to a tenant, those below it and their tasks, as it happens; behind this record if one is named.

        Silence for as long as ``timeout`` is an error of ``httpx``: the server sends something every 15 seconds.
        """
        path, headers = calls.events(tenant, after)
        async with self._http.stream("GET", self._url + path, headers={**self._headers, **headers}) as response:
            if response.is_error:
                await response.aread()
                raise_for(response)
            yield AsyncEvents(response)

    async def submit(self, tenant: str, task: NewTask, *, key: str | None = None) -> Task:
        """Submit a task; under the same key once, however often it is sent."""
        return await self._do(calls.submit(tenant, task, key))

    async def list_tasks(
        self,
        tenant: str,
        *,
        state: TaskState | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Task]:
        """The tasks of a tenant, in order of submission."""
        return await self._do(calls.list_tasks(tenant, state, limit, cursor))

    async def get_task(self, task: str) -> Task:
        """A task."""
        return await self._do(calls.get_task(task))

    async def confirm(self, task: str) -> Task:
        """Report that a task runs on its node."""
        return await self._do(calls.confirm(task))

    async def release(
        self,
        task: str,
        outcome: Literal["succeeded", "failed"] = "succeeded",
        *,
        key: str | None = None,
    ) -> Task:
        """Report that a task has ended, or was stopped."""
        return await self._do(calls.release(task, outcome, key))

    async def cancel(self, task: str) -> Task:
        """Cancel a task."""
        return await self._do(calls.cancel(task))

    async def resize(self, task: str, resources: Amounts) -> Task:
        """Change the size of a task."""
        return await self._do(calls.resize(task, resources))

    async def measured(self, task: str, resources: Amounts) -> Task:
        """Report the measured usage of a task. It is shown, and decides nothing."""
        return await self._do(calls.measured(task, resources))

    async def waiting(
        self,
        tenant: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> WaitingList:
        """What waits, in the order in which it starts, and why."""
        return await self._do(calls.waiting(tenant, limit, cursor))

    async def waiting_task(self, tenant: str, task: str) -> WaitingTask:
        """A task that waits, its place and why."""
        return await self._do(calls.waiting_task(tenant, task))

    async def rank(
        self,
        tenant: str,
        task: str,
        *,
        priority: int | None = None,
        deadline: datetime | None = None,
    ) -> Task:
        """Make a task that waits more urgent, or less."""
        return await self._do(calls.rank(tenant, task, priority, None if deadline is None else deadline.isoformat()))

    async def audit(
        self,
        tenant: str | None = None,
        *,
        type: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[AuditRecord]:
        """Who did what, the oldest first; of one tenant if one is named, from ``start`` on and before ``end``."""
        return await self._do(calls.audit(tenant, type, (start, end), limit, cursor))

    async def verify(self) -> LedgerVerified:
        """What is counted of all tenants, compared with what their tasks have."""
        return await self._do(calls.verify())
