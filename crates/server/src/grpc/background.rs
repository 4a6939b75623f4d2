//! Background tasks.

use tokio::runtime::Handle;

/// Runs this work in parallel. If the runtime has ended, drops the work. Streams are dropped then too, which reports
/// the end.
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(work);
    }
}
