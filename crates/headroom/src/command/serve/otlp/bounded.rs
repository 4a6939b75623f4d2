//! A bounded queue of spans that counts dropped spans. The queue of the library only logs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headroom_server::Traces;
use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// Capacity for waiting spans, and counts of all spans by outcome.
#[derive(Debug)]
pub(super) struct Room {
    waiting: AtomicUsize,
    most: usize,
    counts: Arc<Traces>,
}

impl Room {
    /// Returns capacity for `most` spans.
    pub(super) fn new(most: usize, counts: Arc<Traces>) -> Self {
        Self { waiting: AtomicUsize::new(0), most, counts }
    }

    /// Reserves capacity for one span. Returns whether there was capacity.
    fn take(&self) -> bool {
        let more = |waiting| (waiting < self.most).then_some(waiting + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, count: usize) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
    }
}

/// A processor that passes spans to a queue while the queue has capacity.
#[derive(Debug)]
pub(super) struct Bounded<P> {
    queue: P,
    room: Arc<Room>,
}

impl<P> Bounded<P> {
    /// Returns a processor in front of this queue.
    pub(super) const fn new(queue: P, room: Arc<Room>) -> Self {
        Self { queue, room }
    }
}

impl<P: SpanProcessor> SpanProcessor for Bounded<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.queue.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.room.take() {
            self.queue.on_end(span);
        } else {
            self.room.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.queue.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.queue.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.queue.set_resource(resource);
    }
}

/// An exporter that counts the spans of the queue by outcome.
#[derive(Debug)]
pub(super) struct Counted<E> {
    exporter: E,
    room: Arc<Room>,
}

impl<E> Counted<E> {
    /// Returns an exporter that sends through this one.
    pub(super) const fn new(exporter: E, room: Arc<Room>) -> Self {
        Self { exporter, room }
    }
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        self.room.give_back(count);
        let sent = self.exporter.export(batch).await;
        let Traces { exported, failed, .. } = &*self.room.counts;
        let what = if sent.is_ok() { exported } else { failed };
        what.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    /// Stores all ended spans.
    #[derive(Clone, Debug, Default)]
    struct Held(Arc<Mutex<Vec<SpanData>>>);

    impl SpanProcessor for Held {
        fn on_start(&self, _: &mut Span, _: &Context) {}

        fn on_end(&self, span: SpanData) {
            self.0.lock().unwrap().push(span);
        }

        fn force_flush(&self) -> OTelSdkResult {
            Ok(())
        }

        fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
            Ok(())
        }
    }

    /// A collector that accepts all spans, or none.
    #[derive(Debug)]
    struct Collector(bool);

    impl SpanExporter for Collector {
        async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
            if self.0 { Ok(()) } else { Err(OTelSdkError::InternalFailure("it is gone".into())) }
        }
    }

    #[tokio::test]
    async fn what_has_no_room_is_dropped_and_what_is_sent_makes_room() {
        let counts = Arc::new(Traces::default());
        let room = Arc::new(Room::new(2, Arc::clone(&counts)));
        let held = Held::default();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(Bounded::new(held.clone(), Arc::clone(&room)))
            .build();
        let tracer = provider.tracer("test");
        let make = |count: usize| (0..count).for_each(|_| tracer.start("one").end());
        let counted = || {
            [&counts.exported, &counts.failed, &counts.dropped]
                .map(|count| count.load(Ordering::Relaxed))
        };
        for (made, takes, expected) in
            [(5, true, [2, 0, 3]), (1, false, [2, 1, 3]), (4, true, [4, 1, 5])]
        {
            make(made);
            let batch = std::mem::take(&mut *held.0.lock().unwrap());
            let counting = Counted::new(Collector(takes), Arc::clone(&room));
            assert_eq!(counting.export(batch).await.is_ok(), takes);
            assert_eq!(counted(), expected);
        }
    }
}
