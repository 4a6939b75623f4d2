//! Traces for an OpenTelemetry collector, as OTLP over gRPC.
//!
//! A span is added to a bounded queue on the thread that ended it. A thread of the library sends the spans in batches.
//! If the queue is full, spans are counted and dropped, so that no thread waits.

mod bounded;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::http::HeaderMap;
use headroom_config::process::Otlp;
use headroom_engine::TRACES;
use headroom_server::Traces;
use headroom_server::listen::Parents;
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider,
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::Registry;

use bounded::{Bounded, Counted, Room};

use crate::built;

/// Maximum number of spans that wait to be sent. A span takes about a kilobyte.
const SPANS_WAITING: usize = 8_192;
/// Maximum number of spans in a batch.
const SPANS_PER_BATCH: usize = 512;
/// Maximum time between two batches.
const SEND_EVERY: Duration = Duration::from_secs(1);
/// Maximum time for the collector to accept a batch.
const SEND_MAX: Duration = Duration::from_secs(10);

/// A layer that receives spans.
pub(super) type Listener = Box<dyn Layer<Registry> + Send + Sync>;

/// The sender of traces.
pub(super) struct Sending {
    provider: SdkTracerProvider,
    counts: Arc<Traces>,
}

/// Starts to send traces. The collector can be started later.
///
/// # Errors
/// When the address or certificate settings are invalid.
pub(super) fn begin(otlp: &Otlp) -> Result<(Listener, Sending)> {
    // If a provider is installed already, that provider is used.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let mut exporter =
        SpanExporter::builder().with_tonic().with_endpoint(&otlp.endpoint).with_timeout(SEND_MAX);
    if otlp.endpoint.starts_with("https://") {
        exporter = exporter.with_tls_config(ClientTlsConfig::new().with_enabled_roots());
    }
    let exporter = exporter.build().context("`otlp.endpoint` cannot be used")?;
    let counts = Arc::new(Traces::default());
    let room = Arc::new(Room::new(SPANS_WAITING, Arc::clone(&counts)));
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(SPANS_WAITING)
        .with_max_export_batch_size(SPANS_PER_BATCH)
        .with_scheduled_delay(SEND_EVERY);
    let batches = BatchSpanProcessor::builder(Counted::new(exporter, Arc::clone(&room)))
        .with_batch_config(config.build())
        .build();
    let sampler = Sampler::TraceIdRatioBased(otlp.sampling);
    let version = KeyValue::new("service.version", built::VERSION);
    let resource =
        Resource::builder().with_service_name("headroom").with_attribute(version).build();
    let provider = SdkTracerProvider::builder()
        .with_span_processor(Bounded::new(batches, room))
        .with_sampler(Sampler::ParentBased(Box::new(sampler)))
        .with_resource(resource)
        .build();
    let ours = filter_fn(|metadata| metadata.target() == TRACES);
    let listener = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("headroom"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_filter(ours.with_max_level_hint(LevelFilter::INFO));
    Ok((listener.boxed(), Sending { provider, counts }))
}

impl Sending {
    /// Returns the counts of spans by outcome.
    pub(super) fn counts(&self) -> Arc<Traces> {
        Arc::clone(&self.counts)
    }

    /// Returns the function that reads the parent trace of a request from `traceparent`.
    #[expect(clippy::unused_self, reason = "without an exporter, no trace continues")]
    pub(super) fn parents(&self) -> Parents {
        let propagator = TraceContextPropagator::new();
        Parents::new(move |span: &Span, headers: &HeaderMap| {
            let context = propagator.extract(&Headers(headers));
            if context.span().span_context().is_valid() {
                // This call fails only if no layer receives spans any more.
                let _ = span.set_parent(context);
            }
        })
    }

    /// Sends the waiting spans, and takes at most this time. Remaining spans are lost.
    pub(super) async fn end(self, most: Duration) {
        let provider = self.provider;
        let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(most));
        if let Ok(Ok(Err(error))) = tokio::time::timeout(most, ended).await {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// The headers of a request, for the library.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}
