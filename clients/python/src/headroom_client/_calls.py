"""Every route of tenants and tasks: what is sent, and what the answer is read as."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter

from ._amounts import FROM_SERVER, Amounts, patched, sent
from .errors import raise_for
from .models import (
    AuditRecord,
    LedgerVerified,
    NewTask,
    Page,
    Quota,
    QuotaCheck,
    Task,
    Tenant,
    TenantDefaults,
    Usage,
    WaitingList,
    WaitingTask,
)

Answer = TypeVar("Answer")

ANY: Literal["*"] = "*"
"""Whatever version there is: for role ``admin``."""

Version = int | Literal["*"]


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A request, and how its answer is read."""

    reads: TypeAdapter[Answer]
    method: str
    path: str
    json: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)

    def read(self, response: httpx.Response) -> Answer:
        """The answer, or an error."""
        raise_for(response)
        return self.reads.validate_python(response.json() if response.content else None, context=FROM_SERVER)


def server(url: str | None) -> str:
    """The address of the server: ``HEADROOM_SERVER`` where none is given."""
    return (url or os.environ.get("HEADROOM_SERVER") or "http://127.0.0.1:9080").rstrip("/")


def headers(token: str | None) -> dict[str, str]:
    """The headers of every request, with the token of ``HEADROOM_TOKEN`` where none is given."""
    token = token or os.environ.get("HEADROOM_TOKEN")
    same_site = {"X-Headroom-Request": "1"}
    return same_site if not token else {**same_site, "Authorization": f"Bearer {token.strip()}"}


def _at(*parts: str) -> str:
    return "/headroom/v1/" + "/".join(quote(part, safe="") for part in parts)


def _expects(version: Version) -> dict[str, str]:
    return {"If-Match": "*" if version == ANY else f'"{version}"'}


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _given(**params: str | int | bool | None) -> dict[str, str]:
    given = {name: value for name, value in params.items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


_TENANT = TypeAdapter(Tenant)
_GONE = TypeAdapter(Tenant | None)
_TENANTS = TypeAdapter(Page[Tenant])
_QUOTA = TypeAdapter(Quota)
_CHECK = TypeAdapter(QuotaCheck)
_DEFAULTS = TypeAdapter(TenantDefaults)
_USAGE = TypeAdapter(Usage)
_TASK = TypeAdapter(Task)
_TASKS = TypeAdapter(Page[Task])
_WAITING = TypeAdapter(WaitingList)
_WAITING_TASK = TypeAdapter(WaitingTask)
_AUDIT = TypeAdapter(Page[AuditRecord])
_VERIFIED = TypeAdapter(LedgerVerified)


def create_tenant(tenant: Tenant) -> Call[Tenant]:
    return Call(_TENANT, "POST", _at("tenants"), tenant.body())


def list_tenants(
    kind: str | None, parent: str | None, over_quota: bool | None, limit: int | None, cursor: str | None
) -> Call[Page[Tenant]]:
    params = _given(kind=kind, parent=parent, overQuota=over_quota, limit=limit, cursor=cursor)
    return Call(_TENANTS, "GET", _at("tenants"), params=params)


def get_tenant(tenant: str) -> Call[Tenant]:
    return Call(_TENANT, "GET", _at("tenants", tenant))


def put_tenant(tenant: Tenant, version: Version | None) -> Call[Tenant]:
    headers = {"If-None-Match": "*"} if version is None else _expects(version)
    return Call(_TENANT, "PUT", _at("tenants", tenant.id), tenant.body(), headers)


def patch_tenant(tenant: str, patch: dict[str, Any], version: Version) -> Call[Tenant]:
    headers = {**_expects(version), "Content-Type": "application/merge-patch+json"}
    return Call(_TENANT, "PATCH", _at("tenants", tenant), patched(patch), headers)


def delete_tenant(tenant: str, version: Version, drain: bool) -> Call[Tenant | None]:
    mode = {"mode": "drain" if drain else "refuse"}
    return Call(_GONE, "DELETE", _at("tenants", tenant), headers=_expects(version), params=mode)


def get_quota(tenant: str) -> Call[Quota]:
    return Call(_QUOTA, "GET", _at("tenants", tenant, "quota"))


def put_quota(tenant: str, quota: Quota, version: Version, dry_run: bool) -> Call[Quota]:
    params = {"dryRun": "true"} if dry_run else {}
    path = _at("tenants", tenant, "quota")
    return Call(_QUOTA, "PUT", path, quota.body(), _expects(version), params)


def check(tenant: str, task: NewTask) -> Call[QuotaCheck]:
    return Call(_CHECK, "POST", _at("tenants", tenant, "quota", "check"), task.body())


def get_defaults() -> Call[TenantDefaults]:
    return Call(_DEFAULTS, "GET", _at("tenant-defaults"))


def put_defaults(defaults: TenantDefaults, version: Version) -> Call[TenantDefaults]:
    return Call(_DEFAULTS, "PUT", _at("tenant-defaults"), defaults.body(), _expects(version))


def usage(tenant: str) -> Call[Usage]:
    return Call(_USAGE, "GET", _at("tenants", tenant, "usage"))


def submit(tenant: str, task: NewTask, key: str | None) -> Call[Task]:
    return Call(_TASK, "POST", _at("tenants", tenant, "tasks"), task.body(), _key(key))


def list_tasks(
    tenant: str, state: str | None, limit: int | None, cursor: str | None
) -> Call[Page[Task]]:
    params = _given(state=state, limit=limit, cursor=cursor)
    return Call(_TASKS, "GET", _at("tenants", tenant, "tasks"), params=params)


def get_task(task: str) -> Call[Task]:
    return Call(_TASK, "GET", _at("tasks", task))


def confirm(task: str) -> Call[Task]:
    return Call(_TASK, "POST", _at("tasks", task, "confirm"))


def release(task: str, outcome: str, key: str | None) -> Call[Task]:
    return Call(_TASK, "POST", _at("tasks", task, "release"), {"outcome": outcome}, _key(key))


def cancel(task: str) -> Call[Task]:
    return Call(_TASK, "POST", _at("tasks", task, "cancel"))


def resize(task: str, resources: Amounts) -> Call[Task]:
    return Call(_TASK, "POST", _at("tasks", task, "resize"), {"resources": sent(resources)})


def measured(task: str, resources: Amounts) -> Call[Task]:
    return Call(_TASK, "POST", _at("tasks", task, "measured"), {"resources": sent(resources)})


def waiting(tenant: str, limit: int | None, cursor: str | None) -> Call[WaitingList]:
    params = _given(limit=limit, cursor=cursor)
    return Call(_WAITING, "GET", _at("tenants", tenant, "waiting"), params=params)


def waiting_task(tenant: str, task: str) -> Call[WaitingTask]:
    return Call(_WAITING_TASK, "GET", _at("tenants", tenant, "waiting", task))


def rank(tenant: str, task: str, priority: int | None, deadline: str | None) -> Call[Task]:
    body = {
        name: value
        for name, value in (("priority", priority), ("deadline", deadline))
        if value is not None
    }
    return Call(_TASK, "PATCH", _at("tenants", tenant, "waiting", task), body)


def audit(
    tenant: str | None,
    type: str | None,
    between: tuple[datetime | None, datetime | None],
    limit: int | None,
    cursor: str | None,
) -> Call[Page[AuditRecord]]:
    path = _at("audit") if tenant is None else _at("tenants", tenant, "audit")
    start, end = (None if at is None else at.isoformat() for at in between)
    params = _given(type=type, limit=limit, cursor=cursor, to=end)
    return Call(_AUDIT, "GET", path, params={**params, **({} if start is None else {"from": start})})


def verify() -> Call[LedgerVerified]:
    return Call(_VERIFIED, "POST", _at("ledger", "verify"))


def events(tenant: str, after: int | None) -> tuple[str, dict[str, str]]:
    headers = {"Accept": "text/event-stream"}
    return _at("tenants", tenant, "events"), headers | ({} if after is None else {"Last-Event-ID": str(after)})
