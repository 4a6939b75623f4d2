//! Nothing but tests: see `tests/replay`.
