//! An engine with a journal on a disk, as a server runs it, and those who send it commands.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit};
use headroom_engine::{Begin, Engine, Handle, NoticeKind, Outcome, Settings, SystemClock};
use headroom_journal::FileStore;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::cluster::b1_configuration;

/// A folder on the disk that is measured, which goes with its value. `HEADROOM_BENCH_DIR` says
/// where; else where temporary files are.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// One of its own.
    pub fn new(name: &str) -> Self {
        let above = std::env::var_os("HEADROOM_BENCH_DIR").map(PathBuf::from);
        let above = above.unwrap_or_else(std::env::temp_dir);
        let path = above.join(format!("headroom-bench-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is a disk to measure");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its files as they are now, which is what a killed process leaves behind.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub fn copy(&self, name: &str) -> io::Result<Self> {
        let copy = Self::new(name);
        for file in fs::read_dir(&self.0)? {
            let file = file?;
            fs::copy(file.path(), copy.0.join(file.file_name()))?;
        }
        Ok(copy)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How long this disk takes to make 4 KiB durable at the end of a file, sorted.
///
/// # Errors
/// When it cannot.
pub fn flushes(folder: &Folder, count: usize) -> io::Result<Vec<Duration>> {
    let path = folder.path().join("flushes");
    let mut file = fs::File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        file.write_all(&[7; 4_096])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    fs::remove_file(path)?;
    Ok(times)
}

/// A running engine.
#[derive(Debug)]
pub struct Served {
    runtime: Runtime,
    /// None once it has ended.
    engine: Option<Engine>,
    handle: Handle,
}

impl Served {
    /// Go on with the journal in a folder.
    ///
    /// # Panics
    /// When it cannot.
    pub fn start(folder: &Path, snapshot_every: u64) -> Self {
        let store = FileStore::open_folder(folder).expect("the journal is whole");
        let mut settings = Settings::with(SystemClock);
        settings.retention.entries = 1 << 20;
        settings.retention.snapshot_every = snapshot_every;
        let engine = Engine::start(Box::new(store), settings).expect("the journal can be read");
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let (runtime, handle) = (runtime.expect("there are threads"), engine.handle());
        Self { runtime, engine: Some(engine), handle }
    }

    /// Nodes with room for so many asks in all, and an application in each of two queues.
    pub fn furnish(&self, nodes: u64, room: u64) {
        let partition = Name::new("default");
        let mut commands = vec![Command::Configure(Box::new(b1_configuration()))];
        let each = i64::try_from(room / nodes + 1).expect("few asks");
        commands.extend((0..nodes).map(|number| {
            Command::AddNode(AddNode {
                partition: partition.clone(),
                node: Name::from(format!("node-{number:06}")),
                capacity: Amounts::from([("memory", 10 * each), ("vcore", each)]),
                schedulable: true,
                ..AddNode::default()
            })
        }));
        commands.extend(["a", "b"].map(|queue| {
            Command::Submit(Submit {
                partition: partition.clone(),
                application: Name::from(format!("app-{queue}")),
                queue: Name::from(format!("root.{queue}")),
                user: Name::new("user"),
                ..Submit::default()
            })
        }));
        self.send(commands);
    }

    /// How it began.
    ///
    /// # Panics
    /// Never: it ends with this value.
    pub fn begin(&self) -> &Begin {
        self.engine.as_ref().expect("it runs").begin()
    }

    /// Send commands at once, and wait until all are durable.
    ///
    /// # Panics
    /// When one is refused.
    pub fn send(&self, commands: Vec<Command>) {
        self.runtime.block_on(send(self.handle.clone(), commands));
    }

    /// Have something done with the engine, and wait for what comes of it.
    pub fn run<T, F: Future<Output = T>>(&self, work: impl FnOnce(Handle) -> F) -> T {
        self.runtime.block_on(work(self.handle.clone()))
    }

    /// Have something done with the engine while other things are.
    pub fn spawn_with<F>(&self, work: impl FnOnce(Handle) -> F) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.runtime.spawn(work(self.handle.clone()))
    }

    /// Send asks in batches, so many batches at the same time, and wait for all answers.
    pub fn ask(&self, asks: u64, batch: u64, at_once: usize) -> Vec<Duration> {
        self.runtime.block_on(ask(&self.handle, asks, batch, at_once))
    }

    /// As [`Served::ask`], and wait until all of them are allocated and everybody can see it.
    ///
    /// # Panics
    /// When the engine stops.
    pub fn ask_and_place(&self, asks: u64, batch: u64, at_once: usize) {
        let handle = &self.handle;
        self.runtime.block_on(async {
            let mut follower = handle.feed().follow(handle.feed().newest() + 1);
            let placed = tokio::spawn(async move {
                let mut placed = 0;
                while placed < asks {
                    let entries = follower.next().await.expect("all entries are retained");
                    let entries = entries.expect("the engine runs");
                    let news = entries.iter().flat_map(|entry| &entry.notices);
                    let news = news.filter(|one| matches!(one.news, NoticeKind::Allocated(_)));
                    placed += news.count() as u64;
                }
            });
            ask(handle, asks, batch, at_once).await;
            placed.await.expect("the follower does not fail");
        });
    }

    /// A result counts only if the books balance.
    ///
    /// # Panics
    /// When they do not.
    pub fn check(&self) {
        let view = self.runtime.block_on(self.handle.views().at_least(0));
        view.books.check().expect("the books balance");
    }
}

/// It ends with a last snapshot, so that nothing runs during the next measurement.
impl Drop for Served {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.runtime.block_on(engine.stop()).expect("it ends as it should");
        }
    }
}

async fn send(handle: Handle, commands: Vec<Command>) -> Duration {
    let start = Instant::now();
    let submissions = commands.into_iter().map(Into::into).collect();
    let outcomes: Vec<Outcome> = handle.submit_all(submissions).await.expect("the engine runs");
    assert!(outcomes.iter().all(Result::is_ok), "a benchmark's commands are legal");
    start.elapsed()
}

/// How long each batch waited for its answer, sorted.
async fn ask(handle: &Handle, asks: u64, batch: u64, at_once: usize) -> Vec<Duration> {
    let room = Arc::new(Semaphore::new(at_once));
    let mut waiting = Vec::new();
    for first in (0..asks).step_by(usize::try_from(batch).expect("a small batch")) {
        let permit = Arc::clone(&room).acquire_owned().await.expect("it is not closed");
        let commands = (first..asks.min(first + batch)).map(ask_of).collect();
        let sent = send(handle.clone(), commands);
        waiting.push(tokio::spawn(async move {
            let took = sent.await;
            drop(permit);
            took
        }));
    }
    let mut times = Vec::new();
    for one in waiting {
        times.push(one.await.expect("no client fails"));
    }
    times.sort_unstable();
    times
}

fn ask_of(number: u64) -> Command {
    let queue = if number.is_multiple_of(2) { "a" } else { "b" };
    Command::Ask(Ask {
        partition: Name::new("default"),
        application: Name::from(format!("app-{queue}")),
        key: Name::from(format!("{queue}-{number}")),
        resources: Amounts::from([("memory", 10), ("vcore", 1)]),
        ..Ask::default()
    })
}
