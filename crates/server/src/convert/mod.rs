//! From the wire to commands of the core, and from what the engine tells to the wire. Nothing
//! here does anything else: no waiting, no clock, no state.

pub mod si;
