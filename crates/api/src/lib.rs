//! The wire contract of Headroom.
//!
//! - [`wsv1`]: bodies of `/ws/v1`, as clients of `YuniKorn` know them.
//! - [`si`]: the scheduler interface, `si.v1` and our session beside it.
//!
//! Nothing here knows the core: whoever serves converts. So the wire stays as it is while the
//! core is reworked, and the core is never bent to suit a message.

pub mod si;
pub mod wsv1;
