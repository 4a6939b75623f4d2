"""What is sent and answered, as of the document at ``/headroom/v1/openapi.json``.

Amounts are what people write: ``{"vcore": 4}``, ``"4"``, and ``"4000m"`` are four cores, and ``"200G"`` is memory.
Answers have them as texts of the same form, and ``units`` of each is its number of millicores or bytes. Fields that a
newer server adds are in ``model_extra``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel

from ._amounts import Amount, Amounts, Resources

TaskState = Literal[
    "WAITING",
    "STARTING",
    "RUNNING",
    "CANCELLING",
    "EVICTING",
    "SUCCEEDED",
    "FAILED",
    "CANCELLED",
    "EVICTED",
    "EXPIRED",
]
Strategy = Literal["fifo", "fifo-backfill", "priority", "urgency"]
Kind = Literal["user", "project", "department"]


class Model(BaseModel):
    """Names as in Python here, as in JSON on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    def body(self) -> dict[str, Any]:
        """Return the JSON body, without fields that were not set."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


class _OfType(Model):
    """Amounts of one type, which are fields of their own."""

    type: str

    @model_validator(mode="before")
    @classmethod
    def _read(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        amounts = {name for name, field in cls.model_fields.items() if field.annotation in (Amount, Amount | None)}
        return {
            name: Amount.of(str(fields.get("type")), value) if name in amounts and type(value) is int else value
            for name, value in fields.items()
        }


class Victim(Model):
    """A task that is stopped when a quota is lowered."""

    task: str
    key: str
    priority: int
    resources: Resources


class Quota(Model):
    """What a tenant may use at once."""

    resources: Amounts | None = None
    instances: int | None = None
    max_waiting: int | None = None
    max_applications: int | None = None
    display: dict[str, str] | None = None
    over_quota: bool | None = None
    excess: Resources | None = None
    victims: list[Victim] | None = None
    remains: Resources | None = None


class WaitingPolicy(Model):
    """In which order tasks start."""

    strategy: Strategy = "fifo"
    aging_interval_seconds: int | None = None
    aging_step: int | None = None
    aging_max: int | None = None
    max_overtakes: int | None = None
    max_head_wait_seconds: int | None = None
    max_wait_seconds: int | None = None


class OnLower(Model):
    """What becomes of tasks when a quota is lowered below the use."""

    action: Literal["block", "preempt", "refuse"] = "block"
    grace_seconds: int | None = None


class Mapping(Model):
    """What a tenant is in its partition."""

    mode: Literal["queue", "limit"] = "queue"
    queue: str | None = None
    user: str | None = None
    group: str | None = None


class Tenant(Model):
    """A unit of isolation with a quota."""

    id: str
    display_name: str | None = None
    kind: Kind = "project"
    parent: str | None = None
    state: Literal["active", "suspended"] = "active"
    quota: Quota | None = None
    guaranteed: Amounts | None = None
    strict_sum: bool = False
    waiting: WaitingPolicy | None = None
    on_lower: OnLower | None = None
    oversized: Literal["reject", "park"] | None = None
    mapping: Mapping | None = None
    labels: dict[str, str] | None = None
    version: int = 0
    draining: bool = False


class TenantDefaults(Model):
    """The settings of tenants without their own."""

    quota: Quota | None = None
    waiting: WaitingPolicy | None = None
    on_lower: OnLower | None = None
    oversized: Literal["reject", "park"] | None = None
    version: int = 0


class WaitingSum(Model):
    """What of a tenant waits."""

    tasks: int
    resources: Resources
    oldest_seconds: int


class AncestorLimit(Model):
    """A tenant above, and whether it leaves less than the tenant's own quota."""

    tenant: str
    limited: bool


class MeasuredSum(Model):
    """What of the tasks of a tenant was measured."""

    tasks: int
    resources: Resources


class Usage(Model):
    """What a tenant may use and uses, all of one moment."""

    tenant: str
    ledger_version: int
    as_of: datetime
    over_quota: bool
    quota: Resources
    used: Resources
    free: Resources
    excess: Resources | None = None
    waiting: WaitingSum
    by_ancestor: list[AncestorLimit]
    throttled_total: int = 0
    resource_seconds: Resources = {}
    measured: MeasuredSum | None = None


class LedgerDrift(_OfType):
    """An amount of a tenant that is counted as something else than its tasks have."""

    tenant: str
    counted: Amount
    found: Amount
    by: Amount


class LedgerVerified(Model):
    """What came of comparing what is counted of tenants with what their tasks have."""

    ledger_version: int
    as_of: datetime
    drift: list[LedgerDrift]


class NewTask(Model):
    """A task that is submitted."""

    resources: Amounts
    id: str | None = None
    user: str | None = None
    members: int = 1
    priority: int = 0
    deadline: datetime | None = None
    estimate_seconds: int | None = None
    preemptible: bool = True
    requeue: bool = False
    restarts: int = 0
    max_wait_seconds: int | None = None
    node_label: str | None = None
    blocked_nodes: list[str] | None = None


class Measured(Model):
    """The measured usage of a task, as reported by a client."""

    at: datetime
    resources: Resources


class Task(Model):
    """A task, as of one moment."""

    id: str
    tenant: str
    user: str
    state: TaskState
    members: int = 1
    resources: Resources
    priority: int
    deadline: datetime | None = None
    node: str | None = None
    nodes: list[str] = []
    submitted_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    restarted: int
    evicted: int
    first_throttled_at: datetime | None = None
    resource_seconds: Resources = {}
    measured: Measured | None = None
    ledger_version: int
    as_of: datetime


class ShortType(_OfType):
    """A type of which too little is left; figures of tenants above are left out."""

    used: Amount | None = None
    asked: Amount
    limit: Amount
    short: Amount | None = None


class Reason(Model):
    """Why a task waits."""

    code: str
    scope: str | None = None
    types: list[ShortType] = []
    sentence: str | None = None


class QuotaCheck(Model):
    """What would become of a task, were it submitted now."""

    tenant: str
    fits: bool
    position: int | None = None
    of: int | None = None
    reasons: list[Reason]
    ledger_version: int
    as_of: datetime


class Hello(Model):
    """First of a stream."""

    sequence: int
    epoch: str
    server_time: datetime


class Bye(Model):
    """Last of a stream that the server ends: ``slow``, ``stopping`` or ``gone``."""

    reason: str
    retry_after_millis: int


class TenantEvent(Model):
    """Something that happened to a tenant, or to a task of it.

    ``waiting_changed``: a list of what waits with a smaller ``ledger_version`` is old.
    """

    ledger_version: int
    at: datetime
    kind: str
    tenant: str
    task: str | None = None
    state: TaskState | None = None
    reason: Reason | None = None
    resources: Resources | None = None
    quota: Quota | None = None
    waiting_changed: bool


class WaitingTask(Model):
    """A task that waits."""

    task: str
    position: int
    of: int
    strategy: Strategy
    effective_priority: int
    waited_seconds: int
    resources: Resources
    reason: Reason | None = None
    first_throttled_at: datetime | None = None
    overtaken_by: int
    last_overtaken_by: str | None = None
    hold: bool
    unsatisfiable: bool


class WaitingList(Model):
    """A part of what waits, in order."""

    tenant: str
    ledger_version: int
    as_of: datetime
    items: list[WaitingTask]
    total: int
    cursor: str | None = None


class AuditRecord(Model):
    """What happened, in the chain of hashes."""

    seq: int
    at: datetime
    actor: str | None = None
    request_id: str | None = None
    type: str
    tenant: str | None = None
    task: str | None = None
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    reason: str | None = None
    ledger_version: int
    prev_hash: str
    hash: str


Item = TypeVar("Item")


class Page(Model, Generic[Item]):
    """A part of a list; ``cursor`` is for the next."""

    sequence: int
    epoch: str
    as_of: datetime
    items: list[Item]
    total: int | None = None
    cursor: str | None = None
    hidden: int = 0
