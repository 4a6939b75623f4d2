"""Every route, sync and async, and every refusal that has a type of its own.

The server is that of ``HEADROOM_SERVER``, with one node of 128 cores and 256 GB and tenants switched on.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from headroom_client import (
    ANY,
    AsyncHeadroom,
    Conflict,
    Gone,
    Headroom,
    Invalid,
    Malformed,
    NewTask,
    NotFound,
    OnLower,
    PreconditionFailed,
    PreconditionRequired,
    Quota,
    Task,
    Tenant,
    TenantDefaults,
    TooManyRequests,
    WaitingPolicy,
)

SERVER = os.environ["HEADROOM_SERVER"]


@pytest.fixture
def client() -> Iterator[Headroom]:
    with Headroom(SERVER) as client:
        yield client


def tenant_of(name: str, vcore: str = "20", **more: object) -> Tenant:
    quota = Quota(resources={"vcore": vcore, "memory": "40G"}, max_waiting=3)
    return Tenant.model_validate({"id": name, "quota": quota, **more})


def until(client: Headroom, task: str, state: str) -> Task:
    for _ in range(400):
        found = client.get_task(task)
        if found.state == state:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{task} is {found.state}, not {state}")


def test_tenants_are_made_read_changed_and_removed(client: Headroom) -> None:
    made = client.create_tenant(tenant_of("p-made", kind="department", labels={"team": "x"}))
    assert (made.version, made.kind, made.labels) == (1, "department", {"team": "x"})
    assert client.get_tenant("p-made") == made
    below = client.put_tenant(Tenant(id="p-below", parent="p-made"), version=None)
    assert [one.id for one in client.list_tenants(parent="p-made").items] == ["p-below"]
    assert client.list_tenants(kind="department", over_quota=False, limit=1).items[0].id == "p-made"

    policy = WaitingPolicy(strategy="priority", aging_interval_seconds=60, aging_step=1, aging_max=20)
    changed = client.put_tenant(
        Tenant(id="p-below", parent="p-made", waiting=policy, on_lower=OnLower(action="refuse")),
        version=below.version,
    )
    assert changed.waiting is not None and changed.waiting.strategy == "priority"
    patched = client.patch_tenant("p-below", {"waiting": None}, version=changed.version)
    assert (patched.waiting, patched.version) == (None, 3)

    tried = client.put_quota("p-below", Quota(resources={"vcore": "5"}), version=3, dry_run=True)
    assert (tried.over_quota, client.get_quota("p-below").resources) == (False, None)
    client.put_quota("p-below", Quota(resources={"vcore": "5"}, instances=4), version=ANY)
    quota = client.get_quota("p-below")
    assert (quota.resources, quota.instances) == ({"vcore": "5"}, 4)

    defaults = client.get_defaults()
    said = TenantDefaults(oversized="reject", waiting=WaitingPolicy(strategy="fifo", max_wait_seconds=3600))
    assert client.put_defaults(said, version=defaults.version).version == defaults.version + 1
    assert client.delete_tenant("p-below", version=ANY) is None
    with pytest.raises(NotFound):
        client.get_tenant("p-below")
    client.delete_tenant("p-made", version=1, drain=True)


def test_tasks_wait_start_grow_and_end(client: Headroom) -> None:
    client.create_tenant(tenant_of("p-tasks"))
    first = client.submit("p-tasks", NewTask(id="p-t1", resources={"vcore": "15"}), key="k1")
    assert (first.state, first.node, first.resources["vcore"]) == ("STARTING", "n1", "15")
    assert client.submit("p-tasks", NewTask(id="p-t1", resources={"vcore": "15"}), key="k1").id == "p-t1"
    assert client.confirm("p-t1").state == "RUNNING"
    check = client.check("p-tasks", NewTask(resources={"vcore": "10"}))
    assert (check.fits, check.position, check.of) == (False, 1, 1)
    assert [one.short for one in check.reasons[0].types] == ["5"]
    assert client.check("p-tasks", NewTask(resources={"vcore": "5"})).fits
    second = client.submit("p-tasks", NewTask(id="p-t2", resources={"vcore": "10"}, priority=1))
    assert second.state == "WAITING" and second.first_throttled_at is not None
    usage = client.usage("p-tasks")
    assert (usage.used["vcore"], usage.free["vcore"], usage.waiting.tasks) == ("15", "5", 1)

    waits = client.waiting_task("p-tasks", "p-t2")
    assert waits.reason is not None and waits.reason.code == "TENANT_QUOTA"
    assert [(one.type, one.short) for one in waits.reason.types] == [("vcore", "5")]
    listed = client.waiting("p-tasks", limit=10)
    assert (listed.total, listed.items[0].position, listed.ledger_version > 0) == (1, 1, True)
    ranked = client.rank("p-tasks", "p-t2", priority=7, deadline=datetime(2030, 1, 1, tzinfo=timezone.utc))
    assert (ranked.priority, ranked.deadline) == (7, datetime(2030, 1, 1, tzinfo=timezone.utc))

    assert client.resize("p-t1", {"vcore": "10"}).resources["vcore"] == "10"
    measured = client.measured("p-t1", {"vcore": "2500m", "memory": "1G"}).measured
    assert measured is not None and measured.resources == {"vcore": "2500m", "memory": "1G"}
    total = client.usage("p-tasks").measured
    assert total is not None and (total.tasks, total.resources["vcore"]) == (1, "2500m")
    until(client, "p-t2", "STARTING")
    assert client.release("p-t1", "succeeded", key="e1").state == "SUCCEEDED"
    assert client.release("p-t1", "succeeded", key="e1").state == "SUCCEEDED"
    assert client.cancel("p-t2").state == "CANCELLING"
    assert client.release("p-t2", "failed").state == "CANCELLED"
    tasks = client.list_tasks("p-tasks", state="CANCELLED", limit=5)
    assert [one.id for one in tasks.items] == ["p-t2"]
    told = [one.type for one in client.audit("p-tasks").items]
    assert told[:3] == ["TENANT_CREATED", "TASK_SUBMITTED", "TASK_STARTED"]
    assert "TASK_THROTTLED" in told
    assert client.audit(type="TASK_ENDED", limit=1).items[0].hash != ""
    verified = client.verify()
    assert (verified.drift, verified.ledger_version > 0) == ([], True)
    day = datetime(2001, 1, 1, tzinfo=timezone.utc)
    assert client.audit("p-tasks", end=day).items == []
    assert len(client.audit("p-tasks", start=day).items) == len(told)


def test_what_happens_is_told_and_resumed(client: Headroom) -> None:
    client.create_tenant(tenant_of("p-events"))
    with client.events("p-events") as events:
        client.submit("p-events", NewTask(id="p-e1", resources={"vcore": "20"}))
        told = [next(events) for _ in range(2)]
        assert [(one.kind, one.task, one.state) for one in told] == [
            ("taskAdded", "p-e1", "WAITING"),
            ("allocationGranted", "p-e1", "STARTING"),
        ]
        assert events.hello is not None and events.hello.sequence < told[0].ledger_version
        assert (events.last_id, events.bye) == (told[1].ledger_version, None)
    version = client.get_tenant("p-events").version
    client.put_quota("p-events", Quota(resources={"vcore": "30"}), version=version)
    client.submit("p-events", NewTask(id="p-e2", resources={"vcore": "15"}))
    with client.events("p-events", after=events.last_id) as again:
        missed = [next(again) for _ in range(3)]
    assert [one.kind for one in missed] == ["tenantSet", "taskAdded", "taskThrottled"]
    assert missed[0].quota is not None and missed[0].quota.resources == {"vcore": "30"}
    assert missed[2].reason is not None and missed[2].reason.types[0].short == "5"
    with pytest.raises(Gone) as gone, client.events("p-events", after=1 << 40):
        pass
    assert (gone.value.status, gone.value.code) == (410, "GONE")
    with client.events("p-events") as last:
        client.cancel("p-e2")
        client.release("p-e1")
        client.delete_tenant("p-events", version=ANY)
        assert [one.kind for one in last][-1] == "tenantRemoved"
    assert last.bye is not None and last.bye.reason == "gone"


def test_refusals_have_types(client: Headroom) -> None:
    made = client.create_tenant(tenant_of("p-refused"))
    with pytest.raises(Conflict) as taken:
        client.create_tenant(tenant_of("p-refused"))
    assert (taken.value.status, taken.value.code) == (409, "TENANT_EXISTS")
    with pytest.raises(PreconditionFailed) as stale:
        client.put_quota("p-refused", Quota(instances=1), version=made.version + 1)
    assert (stale.value.status, stale.value.etag) == (412, f'"{made.version}"')
    with pytest.raises(Invalid) as never:
        client.submit("p-refused", NewTask(resources={"vcore": "21"}))
    assert (never.value.status, never.value.code) == (422, "EXCEEDS_QUOTA_ALWAYS")
    with pytest.raises(Invalid) as other:
        client.submit("p-refused", NewTask(resources={"vcore": "1"}), key="one")
        client.submit("p-refused", NewTask(resources={"vcore": "2"}), key="one")
    assert other.value.code == "IDEMPOTENCY_MISMATCH"
    with pytest.raises(TooManyRequests) as full:
        for _ in range(5):
            client.submit("p-refused", NewTask(resources={"vcore": "20"}))
    assert (full.value.code, full.value.retry_after) == ("WAITING_LIST_FULL", 5)
    with pytest.raises(NotFound):
        client.get_task("p-nobody")
    with pytest.raises(Malformed):
        client.list_tasks("p-refused", cursor="nonsense")


def test_a_change_without_a_version_is_refused(client: Headroom) -> None:
    from headroom_client._calls import Call, _QUOTA

    client.create_tenant(tenant_of("p-blind"))
    blind = Call(_QUOTA, "PUT", "/headroom/v1/tenants/p-blind/quota", {"instances": 1})
    with pytest.raises(PreconditionRequired) as refused:
        client._do(blind)
    assert refused.value.status == 428


def test_the_same_with_asyncio() -> None:
    async def story() -> None:
        async with AsyncHeadroom(SERVER) as client:
            made = await client.create_tenant(tenant_of("p-async"))
            assert (await client.get_tenant("p-async")) == made
            assert "p-async" in [one.id for one in (await client.list_tenants()).items]
            put = await client.put_tenant(tenant_of("p-async", "30"), version=made.version)
            await client.patch_tenant("p-async", {"displayName": "A"}, version=put.version)
            await client.put_quota("p-async", Quota(resources={"vcore": "30"}), version=ANY)
            assert (await client.get_quota("p-async")).resources == {"vcore": "30"}
            defaults = await client.get_defaults()
            await client.put_defaults(defaults, version=defaults.version)
            async with client.events("p-async") as events:
                task = await client.submit("p-async", NewTask(id="p-a1", resources={"vcore": "30"}))
                assert task.state == "STARTING"
                async for event in events:
                    if event.kind == "allocationGranted":
                        break
                assert events.last_id == event.ledger_version
            with pytest.raises(Gone):
                async with client.events("p-async", after=1 << 40):
                    pass
            assert not (await client.check("p-async", NewTask(resources={"vcore": "1"}))).fits
            await client.submit("p-async", NewTask(id="p-a2", resources={"vcore": "1"}), key="k")
            assert (await client.usage("p-async")).used["vcore"] == "30"
            assert (await client.waiting("p-async")).items[0].task == "p-a2"
            await client.rank("p-async", "p-a2", priority=1)
            assert (await client.waiting_task("p-async", "p-a2")).effective_priority == 1
            assert (await client.confirm("p-a1")).state == "RUNNING"
            await client.resize("p-a1", {"vcore": "29"})
            measured = (await client.measured("p-a1", {"vcore": "3"})).measured
            assert measured is not None and measured.resources == {"vcore": "3"}
            for _ in range(400):
                if (await client.get_task("p-a2")).state == "STARTING":
                    break
                await asyncio.sleep(0.01)
            assert (await client.cancel("p-a2")).state == "CANCELLING"
            assert (await client.release("p-a2", "failed")).state == "CANCELLED"
            assert (await client.release("p-a1", key="e")).state == "SUCCEEDED"
            assert len((await client.list_tasks("p-async")).items) == 2
            assert (await client.audit("p-async")).items[0].type == "TENANT_CREATED"
            assert (await client.verify()).drift == []
            with pytest.raises(NotFound):
                await client.get_task("p-nobody")
            assert await client.delete_tenant("p-async", version=ANY) is None

    asyncio.run(story())
