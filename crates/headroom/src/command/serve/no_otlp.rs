//! The replacement for the trace sender in builds without the feature `otlp`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use headroom_config::process::Otlp;
use headroom_server::Traces;
use headroom_server::listen::Parents;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::Registry;

/// A layer that receives spans.
pub(super) type Listener = Box<dyn Layer<Registry> + Send + Sync>;

/// The sender of traces, which does not exist in this build.
pub(super) enum Sending {}

/// Fails, because this build cannot send traces.
///
/// # Errors
/// Always.
pub(super) fn begin(_: &Otlp) -> Result<(Listener, Sending)> {
    bail!(
        "`otlp.endpoint` is set, but this program was built without the feature `otlp`. Remove the setting, \
         or build with the feature."
    )
}

impl Sending {
    pub(super) fn counts(&self) -> Arc<Traces> {
        match *self {}
    }

    pub(super) fn parents(&self) -> Parents {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "the real sender waits here")]
    pub(super) async fn end(self, _: Duration) {
        match self {}
    }
}
