//! In place of what sends traces, where the feature `otlp` was left out.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use headroom_config::process::Otlp;
use headroom_server::Traces;
use headroom_server::listen::Parents;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::Registry;

/// Hears spans.
pub(super) type Listener = Box<dyn Layer<Registry> + Send + Sync>;

/// Nothing sends traces.
pub(super) enum Sending {}

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

    #[expect(clippy::unused_async, reason = "the sender that it stands in for waits here")]
    pub(super) async fn end(self, _: Duration) {
        match self {}
    }
}
