"""Amounts of resources: as people write them, and as the server answers them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, PlainSerializer, PlainValidator, ValidationInfo
from pydantic_core import core_schema

FROM_SERVER = {"from_server": True}
"""The validation context of answers, in which integers are core units."""

_MEANT = {
    **dict.fromkeys(["cpu", "cpus", "core", "cores", "vcpu", "vcpus", "vcore", "vcores", "millicores"], "vcore"),
    **dict.fromkeys(["mem", "ram", "memory", "memory_mb", "memory-mb", "mem_mb"], "memory"),
}
"""Names in lower case that stand for one of the two types with a unit, as ``headroom validate`` knows them."""

_SUFFIXES = [
    (1, ""),
    *((1000**power, suffix) for power, suffix in enumerate("kMGTP", start=1)),
    *((1024**power, suffix + "i") for power, suffix in enumerate("KMGTP", start=1)),
]


class Amount(str):
    """An amount as people write it: ``"4"`` and ``"500m"`` of ``vcore``, ``"200G"`` and ``"64Gi"`` of ``memory``.

    ``units`` is the same in core units, for arithmetic: thousandths of a core, bytes, or a count.
    """

    units: int

    @classmethod
    def of(cls, resource: str, units: int) -> Amount:
        """The shortest text that says exactly this."""
        amount = cls(_shortest(resource, units))
        amount.units = units
        return amount

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.is_instance_schema(cls)


def _shortest(resource: str, units: int) -> str:
    if resource == "vcore":
        return f"{units}m" if units % 1000 else str(units // 1000)
    if resource != "memory" or units == 0:
        return str(units)
    return min((f"{units // factor}{suffix}" for factor, suffix in _SUFFIXES if units % factor == 0), key=len)


def _sent(resource: str, amount: object) -> str:
    """An amount that somebody wrote, as text: 4 of ``vcore`` are four cores, as ``"4"`` is."""
    meant = _MEANT.get(resource.lower())
    if meant is not None and resource != meant:
        raise ValueError(f"there is no resource type {resource!r}: did you mean {meant}?")
    if isinstance(amount, str):
        return str(amount)
    if isinstance(amount, int) and not isinstance(amount, bool):
        return str(amount)
    if isinstance(amount, float) and math.isfinite(amount):
        # The shortest text of a float is what somebody wrote: 1.001 has no exact double, 1.001 * 1000 is no integer.
        written = Decimal(repr(amount))
        if written == written.to_integral_value():
            return str(int(written))
        if resource == "vcore" and written * 1000 == (written * 1000).to_integral_value():
            return f"{int(written * 1000)}m"
    raise ValueError(f"{resource} is {amount!r}; write a whole number, or a text such as '4', '500m', or '200G'")


def sent(amounts: object) -> dict[str, str]:
    """Amounts that somebody wrote, as they are sent."""
    if not isinstance(amounts, Mapping):
        raise ValueError(f"{amounts!r} is not a mapping of resource types to amounts")
    return {str(name): _sent(str(name), amount) for name, amount in amounts.items()}


def read(amounts: object) -> dict[str, Amount]:
    """Amounts that the server answered."""
    if not isinstance(amounts, Mapping):
        raise ValueError(f"{amounts!r} is not a mapping of resource types to amounts")
    return {name: amount if isinstance(amount, Amount) else Amount.of(name, int(amount)) for name, amount in amounts.items()}


def _either(amounts: object, info: ValidationInfo) -> Mapping[str, str]:
    return read(amounts) if (info.context or {}).get("from_server") else sent(amounts)


Amounts = Annotated[Mapping[str, int | float | str], PlainValidator(_either), PlainSerializer(sent)]
"""Amounts that a request may have: ``{"vcore": 4, "memory": "8G"}``."""

Resources = Annotated[dict[str, Amount], PlainValidator(read)]
"""Amounts that only answers have."""


def patched(patch: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch of a tenant with its amounts as they are sent; ``None`` removes a bound."""
    changed = dict(patch)
    if isinstance(changed.get("quota"), Mapping):
        changed["quota"] = _bounds(changed["quota"], "resources")
    return _bounds(changed, "guaranteed")


def _bounds(patch: Mapping[str, Any], field: str) -> dict[str, Any]:
    bounds = patch.get(field)
    if not isinstance(bounds, Mapping):
        return dict(patch)
    removed = {name: None for name, amount in bounds.items() if amount is None}
    given = {name: amount for name, amount in bounds.items() if amount is not None}
    return {**patch, field: {**removed, **sent(given)}}
