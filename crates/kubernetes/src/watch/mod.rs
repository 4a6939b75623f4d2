//! Lists the objects of one kind, and follows their changes.
//!
//! A [`Watch`] never ends. It opens a watch at the version of the last event again when the connection ends, and lists
//! again when the API server has forgotten that version. After a new list, the differences come as ordinary changes,
//! deletions first. A change that no field of the lean object shows is not reported.
//!
//! Memory: one table entry for each object, which it shares with the consumer.

mod event;
pub(crate) mod pause;
mod source;
mod table;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use headroom_pods::object::Text;
use tokio::time::Instant;

use crate::client::{Api, Fault, Lines, Refusal};

pub use source::{Need, Object, Source};

use event::{Event, Page, read_line, read_page};
use pause::Pauses;
use table::Table;

/// Seconds after which the API server ends a watch, and the random seconds in addition. So watches do not all end at
/// once.
const WATCH_SECONDS: (u64, u64) = (300, 300);
/// Time without any event. The API server sends a bookmark about once per minute.
const IDLE: Duration = Duration::from_mins(3);
/// Time without any object of a list.
const LIST_IDLE: Duration = Duration::from_secs(30);
/// Objects in a page of a list.
const PAGE_OBJECTS: usize = 500;
/// Time until a kind is tried again that the API server does not have, or that may not be read.
const ABSENT_PAUSE: Duration = Duration::from_mins(1);
/// A watch that ends earlier without any event counts as a failure.
const SHORT: Duration = Duration::from_secs(2);
/// Failures in a row after which the last version is not used any more.
const RESUMES_MAX: u32 = 4;

/// What a watch reports.
#[derive(Debug)]
pub enum Change<T> {
    /// All objects, once at the start.
    Listed(Vec<Arc<T>>),
    /// An object was created or changed.
    Applied(Arc<T>),
    /// An object was deleted.
    Deleted(Arc<T>),
}

/// A list and its changes.
#[derive(Debug)]
pub struct Watch<T> {
    api: Api,
    source: Source,
    table: Table<T>,
    /// Changes that are not reported yet.
    ready: VecDeque<Change<T>>,
    state: State,
    pauses: Pauses,
    /// When the next request can be sent.
    not_before: Option<Instant>,
    listing: Listing,
    /// Whether the absence of the kind was logged.
    is_absence_logged: bool,
}

#[derive(Debug)]
enum State {
    /// The objects must be listed.
    Unlisted,
    /// A watch is to be opened at this version.
    Listed { version: String },
    /// A watch is open.
    Open { version: String, lines: Lines, since: Instant, events: u64 },
}

/// How objects are listed.
#[derive(Clone, Copy, Debug)]
enum Listing {
    /// As the first events of a watch.
    Stream,
    /// In pages of this many objects.
    Pages(usize),
}

impl<T: Object> Watch<T> {
    /// Creates a watch. The first request is sent by [`Watch::next`].
    pub fn new(api: Api, source: Source) -> Self {
        Self {
            api,
            source,
            table: Table::default(),
            ready: VecDeque::new(),
            state: State::Unlisted,
            pauses: Pauses::default(),
            not_before: None,
            listing: Listing::Stream,
            is_absence_logged: false,
        }
    }

    /// Lists in pages from the start, as for an API server without streaming lists.
    #[must_use]
    pub fn in_pages(mut self, objects: usize) -> Self {
        self.listing = Listing::Pages(objects.max(1));
        self
    }

    /// Returns the next change. The first one is [`Change::Listed`].
    pub async fn next(&mut self) -> Change<T> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return change;
            }
            if let Some(at) = self.not_before {
                tokio::time::sleep_until(at).await;
                self.not_before = None;
            }
            if let Err(fault) = self.step().await {
                self.recover(&fault);
            }
        }
    }

    /// Sends one request, or reads one line.
    async fn step(&mut self) -> Result<(), Fault> {
        match &mut self.state {
            State::Unlisted => match self.listing {
                Listing::Stream => self.list_by_stream().await,
                Listing::Pages(objects) => self.list_by_pages(objects).await,
            },
            State::Listed { version } => {
                let path = format!("{}&resourceVersion={version}", watch_path(&self.source));
                let lines = self.api.stream(&path).await?;
                let version = std::mem::take(version);
                self.state = State::Open { version, lines, since: Instant::now(), events: 0 };
                Ok(())
            }
            State::Open { version, lines, since, events } => {
                let Some(line) = lines.next(IDLE).await? else {
                    let is_failure = *events == 0 && since.elapsed() < SHORT;
                    let version = std::mem::take(version);
                    self.state = State::Listed { version };
                    return if is_failure { Err(ended()) } else { Ok(()) };
                };
                *events += 1;
                let (event, at) = read_line::<T>(&line, &self.source)?;
                *version = at;
                self.pauses.succeeded();
                match event {
                    Event::Applied(object) => self.ready.extend(self.table.apply(object)),
                    Event::Deleted(object) => self.ready.extend(self.table.delete(object)),
                    Event::Unreadable | Event::Bookmark { .. } => {}
                }
                Ok(())
            }
        }
    }

    /// Lists by the first events of a watch, and goes on with that watch.
    async fn list_by_stream(&mut self) -> Result<(), Fault> {
        let path = format!(
            "{}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            watch_path(&self.source)
        );
        let mut lines = self.api.stream(&path).await?;
        let mut objects = HashMap::new();
        loop {
            let Some(line) = lines.next(LIST_IDLE).await? else { return Err(ended()) };
            match read_line::<T>(&line, &self.source)? {
                (Event::Applied(object), _) => {
                    objects.insert(object.metadata().uid.clone(), object);
                }
                (Event::Deleted(object), _) => {
                    objects.remove(&object.metadata().uid);
                }
                (Event::Bookmark { ends_list: true }, version) => {
                    self.adopt(objects);
                    self.state = State::Open { version, lines, since: Instant::now(), events: 1 };
                    return Ok(());
                }
                (Event::Bookmark { ends_list: false } | Event::Unreadable, _) => {}
            }
        }
    }

    /// Lists in pages.
    async fn list_by_pages(&mut self, count: usize) -> Result<(), Fault> {
        let mut objects = HashMap::new();
        let mut position = String::new();
        loop {
            let path = format!("{}&limit={count}{position}", self.source.list_path());
            let text: Bytes = self.api.page(&path).await?;
            let Page { version, rest } = read_page(&text, &self.source, |object: Arc<T>| {
                objects.insert(object.metadata().uid.clone(), object);
            })?;
            if rest.is_empty() {
                self.adopt(objects);
                self.state = State::Listed { version };
                return Ok(());
            }
            position = format!("&continue={}", crate::client::path::encoded(&rest));
        }
    }

    fn adopt(&mut self, objects: HashMap<Text, Arc<T>>) {
        self.pauses.succeeded();
        self.is_absence_logged = false;
        self.ready.extend(self.table.replace(objects));
    }

    /// Decides how to go on after a failure.
    fn recover(&mut self, fault: &Fault) {
        let kind = &self.source.name;
        let is_listed = !matches!(self.state, State::Unlisted);
        let failures = self.pauses.failed();
        match (fault, self.listing) {
            (Fault::Refused(Refusal { code: 410, .. }), _) => {
                tracing::debug!(kind, "listed again: {fault}");
                self.state = State::Unlisted;
                if failures == 1 {
                    return;
                }
            }
            (Fault::Refused(Refusal { code: 400 | 422, .. }), Listing::Stream) if !is_listed => {
                tracing::info!(
                    kind,
                    "listed in pages, because there are no streaming lists: {fault}"
                );
                self.listing = Listing::Pages(PAGE_OBJECTS);
                return;
            }
            (Fault::Late(_), Listing::Stream) if !is_listed => {
                self.listing = Listing::Pages(PAGE_OBJECTS);
            }
            (Fault::TooLarge(_), Listing::Pages(objects)) if !is_listed && objects > 1 => {
                self.listing = Listing::Pages(objects / 2);
                return;
            }
            (Fault::Refused(Refusal { code: 403 | 404, .. }), _)
                if self.source.need == Need::Optional =>
            {
                if !self.is_absence_logged {
                    tracing::warn!(kind, "treated as empty: {fault}");
                    self.is_absence_logged = true;
                }
                // What is known stays, because a lost right is not a deletion.
                if !self.table.is_listed() {
                    self.ready.extend(self.table.replace(HashMap::new()));
                }
                self.state = State::Unlisted;
                self.not_before = Some(Instant::now() + ABSENT_PAUSE);
                return;
            }
            (Fault::Late(_), _) if is_listed => tracing::debug!(kind, "watched again: {fault}"),
            (_, _) => {
                self.api.counters().watch_failed(kind);
                tracing::warn!(kind, "watched again after a pause: {fault}");
            }
        }
        self.state = match std::mem::replace(&mut self.state, State::Unlisted) {
            // A version that the API server refuses again and again is of no use.
            State::Listed { version } | State::Open { version, .. }
                if failures < RESUMES_MAX
                    && (fault.is_transient() || matches!(fault, Fault::Unreadable(_))) =>
            {
                State::Listed { version }
            }
            State::Unlisted | State::Listed { .. } | State::Open { .. } => State::Unlisted,
        };
        self.not_before = Some(Instant::now() + self.pauses.pause(fault.retry_after()));
    }
}

fn watch_path(source: &Source) -> String {
    let (least, random) = WATCH_SECONDS;
    let seconds = least + rand::random_range(0..random);
    format!("{}&watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}", source.list_path())
}

fn ended() -> Fault {
    Fault::Unreachable("the watch ended at once".into())
}
