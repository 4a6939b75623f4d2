//! Detects panics anywhere in the process, including detached tasks and threads.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Runs `work`, and checks that nothing panics meanwhile, even if the panic would be caught.
///
/// # Panics
/// If something panics.
pub(crate) fn watched<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            SEEN.fetch_add(1, Ordering::SeqCst);
            before(why);
        }));
    });
    let done = work();
    assert_eq!(SEEN.load(Ordering::SeqCst), 0, "something has panicked where nobody saw it");
    done
}
