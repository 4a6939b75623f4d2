//! Nothing but tests: see `tests/pods`.
