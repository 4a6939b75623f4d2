//! Records as bytes: old ones stay readable, damaged ones are refused.

mod damage;
mod golden;
mod samples;
