//! Panics anywhere in the process, in tasks and threads that nobody waits for too.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Do something, and see that nothing panics meanwhile, even if the panic would have been caught.
///
/// # Panics
/// When something did.
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
