//! `headroom kubernetes` on a real API server: the worked examples of the specification, and what users do.
//!
//! The tests need `HEADROOM_KUBERNETES`, and are skipped without it. They share one cluster and one scheduler.
#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values")]
#![allow(clippy::print_stdout, reason = "a skipped test prints why")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod devices;
mod examples;
mod gangs;
mod nodes;
mod order;
mod placement;
mod quotas;
mod restart;
#[path = "../../../kubernetes/tests/support/tools.rs"]
mod tools;
mod workloads;
mod world;

/// Gets the world, or ends a test that cannot run. `$guard` is held until the test ends.
macro_rules! lab {
    ($world:ident, $guard:ident) => {
        let Some($world) = $crate::world::world() else { return };
        let _guard = $world.$guard();
    };
}

pub(crate) use lab;
