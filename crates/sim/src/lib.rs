//! Plays workloads against the core.
