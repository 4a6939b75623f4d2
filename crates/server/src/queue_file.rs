//! The active queue file, and its replacement by another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::{fs, io};

use headroom_config::{Diagnostics, Loaded, Style};
use headroom_core::books::Books;
use headroom_core::config::Configuration;
use headroom_core::plan::{Reach, plan};
use headroom_core::{Command, Rejection, Timestamp};
use headroom_engine::users::{ResolverError, ResolverWarning, Resolvers, Users};
use headroom_engine::{Clock, Handle, Origin, Submission, Unavailable, WriterState};

use crate::convert;
use crate::planning::Plans;
use crate::rest::EventSettings;

/// Name of the file with the checksum of the followed file when it was last applied.
const TAKEN: &str = "queues-taken";

/// An active queue file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InForce {
    /// Text of the file, as supplied.
    pub text: String,
    /// SHA-256 of the text, as stored in the books.
    pub checksum: String,
    /// Settings next to the queue file, by key.
    pub extra: BTreeMap<String, String>,
}

/// Reason why a queue file was not applied. The previous file stays active.
#[derive(Debug, thiserror::Error)]
pub enum QueueFileError {
    /// The file has faults.
    #[error("{}", .0.render("queues.yaml", Style::Plain))]
    Faulty(Diagnostics),
    /// The file requires a directory of users that does not exist.
    #[error(transparent)]
    Resolver(#[from] ResolverError),
    /// The file conflicts with the current state of the scheduler.
    #[error("{0}")]
    Rejected(Rejection),
    /// The engine accepts no commands.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The effect of the file would differ from the announced plan.
    #[error(
        "the request expects plan {announced}, but on record {sequence} the plan is {found}: the scheduler \
         state or the file has changed. Make and review a new plan, or apply the file with `force`."
    )]
    Moved {
        /// Digest of the announced plan.
        announced: String,
        /// Digest of the plan on the current books.
        found: String,
        /// Last record of the books on which that plan was computed.
        sequence: u64,
    },
    /// The effect of the file could not be computed, which is a bug.
    #[error(
        "the server could not compute the effect of the queue file. See the log of the server."
    )]
    Failed,
    /// The text of the file cannot be stored with the journal.
    #[error("the text of the queue file cannot be stored in {}", path.display())]
    Keep {
        /// Path of the stored text.
        path: PathBuf,
        /// I/O error of the file system.
        #[source]
        source: io::Error,
    },
}

/// Condition for applying a queue file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// No condition.
    Always,
    /// The plan of the file must have this digest at that moment.
    Says(String),
}

/// The result of the application of a queue file.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// SHA-256 of the text, as stored in the books.
    pub checksum: String,
    /// Number of the record that activated the file. If the file was already active, the number of the last record.
    pub sequence: u64,
    /// Findings on settings that are allowed, but probably not intended.
    pub warnings: Diagnostics,
    /// Unknown directories of users, and what is used instead.
    pub resolvers: Vec<ResolverWarning>,
}

/// The active queue file. The books have its meaning; this type has its text, for requests, and its settings of
/// users.
///
/// Texts are stored in a folder under their checksums. After a restart, the text is found by the checksum in the
/// journal.
#[derive(Debug)]
pub struct QueueFile {
    engine: Handle,
    clock: Arc<dyn Clock>,
    users: Arc<Users>,
    folder: Option<PathBuf>,
    in_force: RwLock<Arc<InForce>>,
    /// The server's own settings next to the queue file.
    base: OnceLock<BTreeMap<String, String>>,
    /// Path of the watched file on disk. `None` without a watched file.
    watched: OnceLock<PathBuf>,
    plans: Plans,
    /// Serializes changes in the order of arrival.
    applying: tokio::sync::Mutex<()>,
}

impl QueueFile {
    /// Returns the file that is active according to the books. If `folder` contains its text, reads the text. After a
    /// first start, no file is active.
    pub async fn resume(
        engine: Handle,
        clock: Arc<dyn Clock>,
        users: Arc<Users>,
        folder: Option<PathBuf>,
    ) -> Self {
        let view = engine.views().at_least(0).await;
        let checksum = view.books.checksum().to_string();
        let text = folder.as_deref().filter(|_| !checksum.is_empty());
        let text = text.and_then(|folder| fs::read_to_string(path_of(folder, &checksum)).ok());
        let text = text.filter(|text| headroom_config::checksum(text) == checksum);
        let loaded = text.as_deref().and_then(|text| headroom_config::read(text).ok());
        if let Some(resolvers) = loaded.and_then(|loaded| Resolvers::of(&loaded.configuration).ok())
        {
            users.configure(&resolvers, clock.now());
        }
        let text = text.unwrap_or_default();
        let in_force = InForce { text, checksum, extra: BTreeMap::new() };
        let in_force = RwLock::new(Arc::new(in_force));
        let (watched, applying) = (OnceLock::new(), tokio::sync::Mutex::default());
        let plans = Plans::default();
        let base = OnceLock::new();
        Self { engine, clock, users, folder, in_force, base, watched, plans, applying }
    }

    /// Returns the path of the watched file, which is applied again after each change.
    pub fn watched(&self) -> Option<&Path> {
        self.watched.get().map(PathBuf::as_path)
    }

    pub(crate) fn follow(&self, path: &Path) {
        self.watched.get_or_init(|| path.to_owned());
    }

    /// Stores the checksum of the watched file at its last application, for the next start.
    ///
    /// If this fails, the next start applies the file again.
    pub(crate) fn note_taken(&self, checksum: &str) {
        if let Some(folder) = &self.folder
            && let Err(error) = write_durably(&folder.join(TAKEN), checksum.as_bytes())
        {
            tracing::warn!(%error, "the text of the active queue file was not stored, so the next \
                                    start applies the configured queue file again");
        }
    }

    /// Returns whether another file was applied after the watched file, and the watched file has not changed since.
    pub(crate) fn is_overruled(&self, checksum: &str) -> bool {
        let taken =
            self.folder.as_ref().and_then(|folder| fs::read_to_string(folder.join(TAKEN)).ok());
        let in_force = self.in_force();
        taken.as_deref() == Some(checksum)
            && !in_force.checksum.is_empty()
            && in_force.checksum != checksum
    }

    pub(crate) const fn plans(&self) -> &Plans {
        &self.plans
    }

    /// Returns the active queue file.
    pub fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the server's own settings next to the queue file. Later settings of an RM override these settings. Only the
    /// first call has an effect.
    pub fn set_base(&self, base: BTreeMap<String, String>) {
        self.base.get_or_init(|| base);
        self.set_extra(BTreeMap::new());
    }

    /// Replaces the settings that an RM sends next to the queue file. A key that the RM omits has the server's own
    /// value. The settings include the maximum number of stored events.
    pub fn set_extra(&self, settings: BTreeMap<String, String>) {
        let mut extra = self.base.get().cloned().unwrap_or_default();
        extra.extend(settings);
        self.engine.watched().resize(EventSettings::of(&extra).capacity);
        self.update(|in_force| in_force.extra = extra);
    }

    /// Applies a queue file. A file without partitions means the built-in file.
    ///
    /// # Errors
    /// If the file has faults or conflicts with the current state, or if the engine accepts no commands. Nothing
    /// changes then.
    pub async fn apply(&self, origin: Origin, text: &str) -> Result<Applied, QueueFileError> {
        self.apply_if(origin, text, Condition::Always).await
    }

    /// Applies a queue file if a condition holds at the moment of its application.
    ///
    /// # Errors
    /// The same as [`QueueFile::apply`]. Also if the condition does not hold.
    pub async fn apply_if(
        &self,
        origin: Origin,
        text: &str,
        condition: Condition,
    ) -> Result<Applied, QueueFileError> {
        let _one_at_a_time = self.applying.lock().await;
        let mut text = text;
        let mut loaded = headroom_config::read(text).map_err(QueueFileError::Faulty)?;
        if loaded.is_empty() {
            text = headroom_config::BUILT_IN;
            loaded = headroom_config::read(text).map_err(QueueFileError::Faulty)?;
        }
        let Loaded { configuration, warnings } = loaded;
        let resolvers = Resolvers::of(&configuration)?;
        let checksum = configuration.checksum.to_string();
        let check = match condition {
            Condition::Always => None,
            Condition::Says(digest) => Some(self.check(digest, &configuration, text).await?),
        };
        // The text is stored before the record that refers to it.
        self.keep(&checksum, text)?;
        let command = Command::Configure(Box::new(configuration));
        let identity = origin.identity.clone();
        let submission = Submission { origin: Some(Arc::new(origin)), command };
        let outcome = match check {
            None => self.engine.submit(submission).await?,
            Some(check) => match self.engine.submit_if(submission, check).await? {
                Ok(outcome) => outcome,
                Err(moved) => {
                    if self.in_force().checksum != checksum {
                        self.forget(&checksum);
                    }
                    return Err(moved);
                }
            },
        };
        let accepted = outcome.map_err(QueueFileError::Rejected)?;
        self.users.configure(&resolvers, self.clock.now());
        let before = self.in_force().checksum.clone();
        self.update(|in_force| {
            text.clone_into(&mut in_force.text);
            in_force.checksum.clone_from(&checksum);
        });
        let (sequence, resolvers) = (accepted.sequence, resolvers.warnings);
        if before != checksum {
            self.forget(&before);
        }
        tracing::info!(from = %identity, checksum, sequence, "the queue file is active");
        Ok(Applied { checksum, sequence, warnings, resolvers })
    }

    /// Returns the check that the writer makes before it accepts the file. A plan is first computed in parallel, on the
    /// published books. If this plan differs from the announced plan, the writer is not delayed. If nothing changes
    /// before the writer's check, the plan is not computed again.
    async fn check(
        &self,
        announced: String,
        configuration: &Configuration,
        text: &str,
    ) -> Result<
        impl FnOnce(&WriterState<'_>) -> Result<(), QueueFileError> + Send + 'static,
        QueueFileError,
    > {
        let view = self.engine.views().at_least(0).await;
        let now = self.clock.now().max(view.time);
        let expected = Expected {
            announced,
            configuration: configuration.clone(),
            checksum: headroom_config::checksum(text),
        };
        let sequence = view.sequence;
        let first = tokio::task::spawn_blocking(move || {
            expected.compare(&view.books, now, view.sequence).map(|()| expected)
        });
        let expected = first.await.map_err(|_| QueueFileError::Failed)??;
        let clock = Arc::clone(&self.clock);
        Ok(move |moment: &WriterState<'_>| {
            if moment.sequence == sequence {
                return Ok(());
            }
            expected.compare(moment.books, clock.now().max(moment.time), moment.sequence)
        })
    }

    fn update(&self, change: impl FnOnce(&mut InForce)) {
        let mut in_force = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut in_force));
    }

    /// Stores a text for the next start.
    fn keep(&self, checksum: &str, text: &str) -> Result<(), QueueFileError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = path_of(folder, checksum);
        write_durably(&path, text.as_bytes())
            .map_err(|source| QueueFileError::Keep { path, source })
    }

    /// Removes the stored text of a file that is no longer active. A failure does no harm.
    fn forget(&self, checksum: &str) {
        if let Some(folder) = self.folder.as_deref().filter(|_| !checksum.is_empty()) {
            let _ = fs::remove_file(path_of(folder, checksum));
        }
    }
}

/// The announced plan of a file.
struct Expected {
    announced: String,
    configuration: Configuration,
    checksum: String,
}

impl Expected {
    fn compare(&self, books: &Books, now: Timestamp, sequence: u64) -> Result<(), QueueFileError> {
        let found = plan(books, now, &self.configuration, Reach::default());
        let found = found.map_err(QueueFileError::Rejected)?;
        let found = convert::plan::digest(&found, &self.checksum);
        if found == self.announced {
            return Ok(());
        }
        Err(QueueFileError::Moved { announced: self.announced.clone(), found, sequence })
    }
}

fn path_of(folder: &Path, checksum: &str) -> PathBuf {
    folder.join(format!("queues-{checksum}.yaml"))
}

/// Writes a file so that it is complete or absent after a power loss.
fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;

    let new_path = path.with_extension("new");
    let mut file = fs::File::create(&new_path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new_path, path)?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
