"""The client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx

from . import _calls as calls
from ._amounts import Amounts
from ._calls import Call, Version
from ._events import Events
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


class Headroom:
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
        http: httpx.Client | None = None,
    ) -> None:
        self._http = httpx.Client(timeout=timeout) if http is None else http
        self._url = calls.server(url)
        self._headers = calls.headers(token)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Headroom:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _do(self, call: Call[Answer]) -> Answer:
        headers = {**self._headers, **call.headers}
        response = self._http.request(
            call.method, self._url + call.path, json=call.json, headers=headers, params=call.params
        )
        return call.read(response)

    def create_tenant(self, tenant: Tenant) -> Tenant:
        """Create a tenant."""
        return self._do(calls.create_tenant(tenant))

    def list_tenants(
        self,
        *,
        kind: Kind | None = None,
        parent: str | None = None,
        over_quota: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Tenant]:
        """The tenants that the caller sees, by name."""
        return self._do(calls.list_tenants(kind, parent, over_quota, limit, cursor))

    def get_tenant(self, tenant: str) -> Tenant:
        """Return a tenant."""
        return self._do(calls.get_tenant(tenant))

    def put_tenant(self, tenant: Tenant, *, version: Version | None) -> Tenant:
        """Replace all settings of a tenant at this version. With ``None``, create the tenant."""
        return self._do(calls.put_tenant(tenant, version))

    def patch_tenant(self, tenant: str, patch: dict[str, Any], *, version: Version) -> Tenant:
        """Change some settings, with a merge patch."""
        return self._do(calls.patch_tenant(tenant, patch, version))

    def delete_tenant(self, tenant: str, *, version: Version, drain: bool = False) -> Tenant | None:
        """Delete a tenant. Return the tenant if it still drains, else ``None``."""
        return self._do(calls.delete_tenant(tenant, version, drain))

    def get_quota(self, tenant: str) -> Quota:
        """Return the quota of a tenant."""
        return self._do(calls.get_quota(tenant))

    def put_quota(self, tenant: str, quota: Quota, *, version: Version, dry_run: bool = False) -> Quota:
        """Replace the quota of a tenant, or with ``dry_run`` return only the effects."""
        return self._do(calls.put_quota(tenant, quota, version, dry_run))

    def check(self, tenant: str, task: NewTask) -> QuotaCheck:
        """Predict whether a task starts, waits, or is rejected. Change nothing."""
        return self._do(calls.check(tenant, task))

    def get_defaults(self) -> TenantDefaults:
        """Return the settings of tenants without their own."""
        return self._do(calls.get_defaults())

    def put_defaults(self, defaults: TenantDefaults, *, version: Version) -> TenantDefaults:
        """Replace the defaults."""
        return self._do(calls.put_defaults(defaults, version))

    def usage(self, tenant: str) -> Usage:
        """Return the quota, usage, and waiting demand of a tenant."""
        return self._do(calls.usage(tenant))

    @contextmanager
    def events(self, tenant: str, *, after: int | None = None) -> Iterator[Events]:
        """What happens to a tenant, those below it and their tasks, as it happens; behind this record if one is named.

        Silence for as long as ``timeout`` is an error of ``httpx``: the server sends something every 15 seconds.
        """
        path, headers = calls.events(tenant, after)
        with self._http.stream("GET", self._url + path, headers={**self._headers, **headers}) as response:
            if response.is_error:
                response.read()
                raise_for(response)
            yield Events(response)

    def submit(self, tenant: str, task: NewTask, *, key: str | None = None) -> Task:
        """Submit a task; under the same key once, however often it is sent."""
        return self._do(calls.submit(tenant, task, key))

    def list_tasks(
        self,
        tenant: str,
        *,
        state: TaskState | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Task]:
        """The tasks of a tenant, in order of submission."""
        return self._do(calls.list_tasks(tenant, state, limit, cursor))

    def get_task(self, task: str) -> Task:
        """A task."""
        return self._do(calls.get_task(task))

    def confirm(self, task: str) -> Task:
        """Report that a task runs on its node."""
        return self._do(calls.confirm(task))

    def release(
        self,
        task: str,
        outcome: Literal["succeeded", "failed"] = "succeeded",
        *,
        key: str | None = None,
    ) -> Task:
        """Report that a task has ended, or was stopped."""
        return self._do(calls.release(task, outcome, key))

    def cancel(self, task: str) -> Task:
        """Cancel a task."""
        return self._do(calls.cancel(task))

    def resize(self, task: str, resources: Amounts) -> Task:
        """Change the size of a task."""
        return self._do(calls.resize(task, resources))

    def measured(self, task: str, resources: Amounts) -> Task:
        """Report the measured usage of a task. It is shown, and decides nothing."""
        return self._do(calls.measured(task, resources))

    def waiting(self, tenant: str, *, limit: int | None = None, cursor: str | None = None) -> WaitingList:
        """What waits, in the order in which it starts, and why."""
        return self._do(calls.waiting(tenant, limit, cursor))

    def waiting_task(self, tenant: str, task: str) -> WaitingTask:
        """A task that waits, its place and why."""
        return self._do(calls.waiting_task(tenant, task))

    def rank(
        self,
        tenant: str,
        task: str,
        *,
        priority: int | None = None,
        deadline: datetime | None = None,
    ) -> Task:
        """Make a task that waits more urgent, or less."""
        return self._do(calls.rank(tenant, task, priority, None if deadline is None else deadline.isoformat()))

    def audit(
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
        return self._do(calls.audit(tenant, type, (start, end), limit, cursor))

    def verify(self) -> LedgerVerified:
        """What is counted of all tenants, compared with what their tasks have."""
        return self._do(calls.verify())
