"""Amounts are what people write, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from headroom_client import Amount, Headroom, NewTask, Quota, Tenant
from headroom_client._amounts import FROM_SERVER, patched, sent
from headroom_client.models import ShortType


@pytest.mark.parametrize(
    ("resource", "given", "expected"),
    [
        ("vcore", 4, "4"),
        ("vcore", "4", "4"),
        ("vcore", "500m", "500m"),
        ("vcore", 0.5, "500m"),
        ("vcore", 4.0, "4"),
        ("memory", "8G", "8G"),
        ("nvidia.com/gpu", 2, "2"),
    ],
)
def test_amounts_are_sent_as_texts(resource: str, given: int | float | str, expected: str) -> None:
    assert sent({resource: given}) == {resource: expected}
    assert NewTask(resources={resource: given}).body() == {"resources": {resource: expected}}
    assert Quota(resources={resource: given}).body() == {"resources": {resource: expected}}


def test_each_whole_number_of_millicores_may_be_written_as_cores() -> None:
    for units in range(1, 20_000):
        expected = str(Amount.of("vcore", units))
        assert sent({"vcore": units / 1000}) == {"vcore": expected}


@pytest.mark.parametrize("given", [True, 0.0001, float("nan"), float("inf"), None, [4]])
def test_what_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="write a whole number"):
        NewTask(resources={"vcore": given})


@pytest.mark.parametrize(("wrong", "meant"), [("cpu", "vcore"), ("CPU", "vcore"), ("vcores", "vcore"), ("Vcore", "vcore"), ("mem", "memory"), ("Memory", "memory")])
def test_a_type_of_another_system_is_refused(wrong: str, meant: str) -> None:
    said = f"did you mean {meant}"
    with pytest.raises(ValueError, match=said):
        NewTask(resources={wrong: 4})
    with pytest.raises(ValueError, match=said):
        patched({"quota": {"resources": {wrong: 4}}})
    with Headroom("http://127.0.0.1:1") as client:
        with pytest.raises(ValueError, match=said):
            client.resize("task", {wrong: 4})
        with pytest.raises(ValueError, match=said):
            client.measured("task", {wrong: 4})


def test_answers_print_as_people_write_and_can_be_sent_back() -> None:
    answered = {"id": "lab", "quota": {"resources": {"vcore": 4_500, "memory": 64 << 30}}, "guaranteed": {"vcore": 2_000}}
    tenant = Tenant.model_validate(answered, context=FROM_SERVER)
    assert tenant.quota is not None
    assert tenant.quota.resources == {"vcore": "4500m", "memory": "64Gi"}
    assert str(tenant.guaranteed) == "{'vcore': '2'}"
    assert tenant.body()["quota"] == {"resources": {"vcore": "4500m", "memory": "64Gi"}}
    short = ShortType.model_validate({"type": "vcore", "asked": 4_000, "limit": 2_500}, context=FROM_SERVER)
    assert (short.asked, short.limit, short.asked.units, short.used) == ("4", "2500m", 4_000, None)


def test_a_patch_has_the_same_amounts() -> None:
    patch = {"quota": {"resources": {"vcore": 4, "memory": None}, "instances": 3}, "guaranteed": {"vcore": 0.5}}
    expected = {"quota": {"resources": {"memory": None, "vcore": "4"}, "instances": 3}, "guaranteed": {"vcore": "500m"}}
    assert patched(patch) == expected
    assert patched({"waiting": None, "quota": None}) == {"waiting": None, "quota": None}


@pytest.mark.parametrize(
    ("resource", "units", "expected"),
    [
        ("vcore", 100_000, "100"),
        ("vcore", 500, "500m"),
        ("vcore", 0, "0"),
        ("memory", 200_000_000_000, "200G"),
        ("memory", 64 << 30, "64Gi"),
        ("memory", 1_001, "1001"),
        ("memory", 0, "0"),
        ("nvidia.com/gpu", 8_000, "8000"),
    ],
)
def test_an_amount_prints_as_on_the_command_line(resource: str, units: int, expected: str) -> None:
    amount = Amount.of(resource, units)
    assert (str(amount), amount.units) == (expected, units)
