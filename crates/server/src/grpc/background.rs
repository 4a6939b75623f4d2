//! Work that nobody waits for.

use tokio::runtime::Handle;

/// Do this in parallel with everything else. Where the process ends and nothing runs any more, it is not
/// done: streams are dropped then as well, which reports the end.
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(work);
    }
}
