"""Errors of rejected requests."""

from __future__ import annotations

from typing import Any

import httpx


class HeadroomError(Exception):
    """A rejected request. ``code`` names the rule; ``detail`` has the problem and an action."""

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
    """401: the request has no known identity."""


class Forbidden(HeadroomError):
    """403: the caller may not do this."""


class NotFound(HeadroomError):
    """404: the tenant or task does not exist, or the caller cannot see it."""


class Conflict(HeadroomError):
    """409: the request conflicts with the current state."""


class Gone(HeadroomError):
    """410: the events after that record are no longer stored. List again."""


class PreconditionFailed(HeadroomError):
    """412: another client made a change first. ``etag`` has the current version."""


class Invalid(HeadroomError):
    """422: a value is invalid, or the request can never succeed."""


class PreconditionRequired(HeadroomError):
    """428: the request has no version."""


class TooManyRequests(HeadroomError):
    """429: a limit of waiting tasks or of requests is reached. Retry after ``retry_after`` seconds."""


class Unavailable(HeadroomError):
    """503: the server is starting, or accepts no changes at the moment."""


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
    """Raise the error of a response, if the request was rejected."""
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
