//! Reads and checks the queue file.
