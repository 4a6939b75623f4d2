"""Why a request was refused."""

from __future__ import annotations

from typing import Any

import httpx


class HeadroomError(Exception):
    """A refusal: ``code`` is the rule, ``detail`` says both sides and what to do."""

    def __init__(self, response: httpx.Response) -> None:
        problem = _problem(response)
        self.status = response.status_code
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", response.text))
        self.request_id = str(problem.get("requestId", ""))
        self.etag = response.headers.get("etag")
        self.retry_after = _seconds(response.headers.get("retry-after"))
        super().__init__(f"{self.status} {self.code}: {self.detail}")


class Malformed(HeadroomError):
    """400: a parameter or the body cannot be read."""


class Unauthenticated(HeadroomError):
    """401: the request carries no identity that is known."""


class Forbidden(HeadroomError):
    """403: the caller may not do this."""


class NotFound(HeadroomError):
    """404: no such tenant or task, as far as the caller sees."""


class Conflict(HeadroomError):
    """409: what is there is in the way."""


class Gone(HeadroomError):
    """410: what happened behind that record is not kept any more; list anew."""


class PreconditionFailed(HeadroomError):
    """412: somebody else was faster; ``etag`` is the version in force."""


class Invalid(HeadroomError):
    """422: what is said cannot be, or never."""


class PreconditionRequired(HeadroomError):
    """428: the request says no version."""


class TooManyRequests(HeadroomError):
    """429: as much waits as may, or is asked; ``retry_after`` says in how many seconds to come again."""


class Unavailable(HeadroomError):
    """503: the server is starting, or takes no changes now."""


_KINDS: dict[int, type[HeadroomError]] = {
    400: Malformed,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    422: Invalid,
    428: PreconditionRequired,
    429: TooManyRequests,
    503: Unavailable,
}


def raise_for(response: httpx.Response) -> None:
    """Raise what a response says, if it is a refusal."""
    if response.status_code >= 400:
        raise _KINDS.get(response.status_code, HeadroomError)(response)


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _seconds(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
