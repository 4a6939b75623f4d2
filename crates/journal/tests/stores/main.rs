//! What every store owes, and what the one in files owes on a bad disk.

mod faults;
mod flips;
mod kit;
mod owes;
mod repair;
