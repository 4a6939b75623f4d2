//! The life of the server: it opens its port, reads the journal, accepts requests, and stops.

use std::future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use headroom_config::BUILT_IN;
use headroom_config::process::Process;
use headroom_engine::users::Users;
use headroom_engine::{AUDIT_FOLDER, Engine, Origin, Retention, Settings, SystemClock};
use headroom_journal::disk::Folder;
use headroom_journal::{FileStore, NoStore};
use headroom_server::auth::Authenticator;
use headroom_server::grpc::Interface;
use headroom_server::listen::{Gate, Listening, Serving, assemble};
use headroom_server::rest::{Cors, RestSettings};
use headroom_server::{
    About, Assembly, LogLevels, Parts, QueueFile, Service, Settings as WholeSettings, WatchedFiles,
    begin_with_queue_file, watch_queue_file,
};
use headroom_sim::nodes::NodeSpec;
use tokio::sync::{Notify, oneshot};

use super::logging::{self, Observability};
use super::otlp::Sending;
use super::recovery::{Told, progress};
use super::signals::{self, Ends};
use super::{Plays, kubernetes};
use crate::{built, output};

/// Maximum time for the whole shutdown.
const END_MAX: Duration = Duration::from_millis(4_400);
/// Maximum time for current requests to end.
const REQUESTS_END_MAX: Duration = Duration::from_secs(1);
/// Maximum time for event streams to receive their last message.
const STREAMS_END_MAX: Duration = Duration::from_millis(200);
/// Maximum time for a collector to accept the last traces.
const TRACES_END_MAX: Duration = Duration::from_millis(200);

/// Number of threads that create responses and read files. More threads would compete with the writer, and each takes
/// memory.
pub(super) const ANSWERS_AT_ONCE: usize = 16;

/// Serves until a signal stops the server.
///
/// # Errors
/// When the server cannot start.
pub(super) fn run(process: Process, plays: Plays) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(ANSWERS_AT_ONCE)
        .build();
    let runtime = runtime.context("cannot start threads")?;
    let ended = runtime.block_on(serve(process, plays));
    // A file can still be being read, but its result is no longer needed.
    runtime.shutdown_background();
    ended
}

async fn serve(mut process: Process, plays: Plays) -> Result<ExitCode> {
    let Observability { levels, traces } = logging::begin(&process)?;
    let mut ends = Ends::new().context("cannot listen for signals")?;
    allow_connections(&mut process.limits.connections);
    // The watch starts before the files are read, so that no change is lost.
    let watched = |path: Option<&PathBuf>| WatchedFiles::new(path.into_iter().cloned().collect());
    let queues = watched(process.queues.as_ref());
    let tokens = watched(process.auth.tokens.as_ref());
    let auth = Authenticator::new(&process)?;
    let serving = Listening::bind(&process)?;
    let serving = serving.start().context("cannot listen")?;
    let users = Arc::new(Users::default());
    let stores = !matches!(plays, Plays::Kubernetes(_));
    let engine = tokio::select! {
        engine = start_engine(&process, stores, Arc::clone(&users)) => engine?,
        // The server has accepted no request yet, so nothing must be stored.
        _ = ends.next() => return Ok(ExitCode::SUCCESS),
    };
    let service = begin(&process, stores, &engine, users).await?;
    let instance = &service.about.instance;
    let gate = Gate::new(&process, auth, engine.handle(), instance);
    let gate = Arc::new(gate.going_on_with(traces.as_ref().map(Sending::parents)));
    if let Some(traces) = &traces {
        service.live().tell_traces_by(traces.counts());
    }
    let Assembly { routers, interface, .. } = whole(&process, &service, &levels);
    serving.open(assemble(&process, &gate, routers));
    welcome(&process, serving.addresses())?;
    watch(&process, &service, queues)?;
    tokio::spawn(follow_tokens(Arc::clone(&gate), tokens));
    let ended = play(&process, plays, (serving.addresses(), &interface), &levels)?;
    let result = tokio::select! {
        signal = ends.next() => {
            tracing::info!(signal, "ending");
            Ok(())
        }
        result = end_of(ended) => result,
    };
    tokio::spawn(async move {
        let signal = ends.next().await;
        tracing::warn!(signal, "stopping immediately, without a snapshot");
        std::process::exit(1);
    });
    interface.shut_down();
    let code = end(serving, engine, traces).await?;
    result.map(|()| code)
}

/// Returns all interfaces of the service.
fn whole(process: &Process, service: &Service, levels: &Arc<LogLevels>) -> Assembly {
    let cors = if process.cors_any { Cors::Any } else { Cors::Auto };
    let rest = RestSettings { cors, identities: process.has_auth(), ..RestSettings::default() };
    let whole = Assembly::of(service, levels, &WholeSettings { rest, ..Default::default() });
    debug_assert!(whole.lacking.is_empty(), "nobody answers {:?}", whole.lacking);
    whole
}

/// Raises the limit of open files to one for each connection. If the system allows fewer, lowers `connections` to the
/// limit, so that further connections are refused instead of failing.
fn allow_connections(connections: &mut usize) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let wanted = u64::try_from(*connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES);
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    if soft < wanted.min(hard) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard);
    }
    let Some(fits) = fitting(*connections, hard) else { return };
    if *connections == CONNECTIONS {
        // This is the default, which no user requested.
        tracing::debug!(files = hard, connections = fits, "the system allows fewer connections");
    } else {
        let asked = *connections;
        tracing::warn!(
            "the system allows {hard} open files, too few for {asked} connections. The server accepts {fits}. Raise \
             the limit (`ulimit -Hn {wanted}`), or lower `limits.connections`."
        );
    }
    *connections = fits;
}

/// Number of files for the journal and other purposes.
const OTHER_FILES: u64 = 256;

/// Default of `limits.connections`.
const CONNECTIONS: usize = 20_000;

/// Returns how many connections this many files allow, if fewer than `connections`.
fn fitting(connections: usize, files: u64) -> Option<usize> {
    let fits = usize::try_from(files.saturating_sub(OTHER_FILES).max(1)).ok()?;
    (fits < connections).then_some(fits)
}

/// Opens the journal, and starts the engine after its last record. If `stores` is false, no record is
/// stored.
async fn start_engine(process: &Process, stores: bool, users: Arc<Users>) -> Result<Engine> {
    let path = process.journal.path.clone();
    let mut settings = Settings::with(SystemClock);
    settings.commands_waiting = process.limits.commands;
    settings.users = Some(users);
    settings.awaits_nodes = true;
    settings.retention = Retention {
        records: process.event.ring_buffer_capacity,
        snapshot_every: process.journal.snapshot_every,
        ..Retention::default()
    };
    let began = Instant::now();
    // Reading can take a while, and the server answers requests meanwhile.
    let started = tokio::task::spawn_blocking(move || {
        if !stores {
            let store = Box::new(NoStore::default());
            return Ok(Engine::start_telling(store, settings, &mut progress())?);
        }
        let store = FileStore::open_folder(&path)
            .with_context(|| format!("cannot open the journal in {}", path.display()))?;
        // The lock of the journal also protects the audit log: only one process writes both.
        let audit = path.join(AUDIT_FOLDER);
        let folder = Folder::new(&audit);
        let folder = folder.with_context(|| format!("cannot create {}", audit.display()))?;
        settings.audit = Some(Arc::new(folder));
        anyhow::Ok(Engine::start_telling(Box::new(Told(store)), settings, &mut progress())?)
    });
    let engine = started.await.context("the journal cannot be read")??;
    let begin = engine.begin();
    for warning in &begin.warnings {
        tracing::warn!("{warning}");
    }
    tracing::info!(
        sequence = begin.sequence,
        replayed = begin.replayed,
        took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "journal read"
    );
    Ok(engine)
}

/// Creates the service, and applies the queue file.
async fn begin(
    process: &Process,
    stores: bool,
    engine: &Engine,
    users: Arc<Users>,
) -> Result<Service> {
    let folder = stores.then(|| process.journal.path.clone());
    let handle = engine.handle();
    // The scheduler clock, not the system clock, because times are compared with times of the journal.
    let clock = Arc::new(handle.clock().clone());
    let queue_file =
        QueueFile::resume(handle.clone(), clock.clone(), Arc::clone(&users), folder).await;
    queue_file.set_base(process.extra.clone());
    let is_first = queue_file.in_force().checksum.is_empty();
    let about = About::this(built::facts())?;
    let service = Service::new(Parts { engine: handle, clock, users, queue_file, about });
    match &process.queues {
        Some(path) => begin_with_queue_file(&service, path).await?,
        None if is_first => {
            let origin = Origin { identity: "built-in".to_owned(), ..Origin::default() };
            service.queue_file.apply(origin, BUILT_IN).await?;
        }
        None => {}
    }
    Ok(service)
}

/// Watches the queue file, and reloads it on SIGHUP.
fn watch(process: &Process, service: &Service, queues: WatchedFiles) -> Result<()> {
    let at_once = Arc::new(Notify::new());
    let mut hangup = signals::hangup().context("cannot listen for signals")?;
    let notified = Arc::clone(&at_once);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            tracing::info!("SIGHUP: reloading the queue file");
            notified.notify_one();
        }
    });
    if let Some(path) = process.queues.clone() {
        let service = service.clone();
        tokio::spawn(async move { watch_queue_file(service, path, queues, &at_once).await });
    }
    Ok(())
}

/// Runs the scheduler or the simulation of this server. If the simulation fails, the server continues. If it runs the
/// scheduler of a cluster, returns how this ends, because the server is useless without it.
fn play(
    process: &Process,
    plays: Plays,
    (addresses, interface): (&[SocketAddr], &Interface),
    levels: &Arc<LogLevels>,
) -> Result<Option<oneshot::Receiver<Result<()>>>> {
    match plays {
        Plays::Nothing => {}
        Plays::Kubernetes(cluster) => {
            return kubernetes::start(cluster, interface.clone(), Arc::clone(levels)).map(Some);
        }
        Plays::Nodes(nodes) => simulate(process, Simulated::Nodes(nodes), addresses),
        Plays::Scene => simulate(process, Simulated::Scene, addresses),
    }
    Ok(None)
}

/// Waits until the scheduler of a cluster ends. Without one, waits forever.
async fn end_of(scheduler: Option<oneshot::Receiver<Result<()>>>) -> Result<()> {
    let Some(ended) = scheduler else { return future::pending().await };
    let unexpected = |_| bail!("the scheduler of pods stopped unexpectedly. See the log");
    ended.await.unwrap_or_else(unexpected)
}

/// A simulated cluster.
enum Simulated {
    Nodes(Vec<NodeSpec>),
    Scene,
}

fn simulate(process: &Process, simulated: Simulated, addresses: &[SocketAddr]) {
    let Some(address) = addresses.iter().copied().find(|one| one.ip().is_loopback()) else {
        tracing::error!(
            "the demo needs a loopback address. Set `listen` to an address such as 127.0.0.1:9080"
        );
        return;
    };
    debug_assert!(process.tls.is_none() && !process.has_auth(), "it was refused before");
    tokio::spawn(async move {
        let played = match simulated {
            Simulated::Nodes(nodes) => crate::demo::bring(address, nodes).await,
            Simulated::Scene => crate::demo::run(address).await,
        };
        if let Err(error) = played {
            tracing::error!("the demo has ended: {error:#}");
        }
    });
}

/// Requests the keys of the issuer, and watches the token file.
async fn follow_tokens(gate: Arc<Gate>, mut watched: WatchedFiles) {
    let Some(auth) = gate.authenticator() else { return };
    auth.warm().await;
    let Some(tokens) = auth.tokens() else { return };
    let nobody = Notify::new();
    loop {
        watched.change(&nobody).await;
        match tokens.reload() {
            Ok(count) => tracing::info!(count, "tokens reloaded"),
            Err(error) => {
                tracing::error!("{:#}. The current tokens stay valid", anyhow::Error::new(error));
            }
        }
    }
}

/// Prints one line for the user who started the server.
fn welcome(process: &Process, addresses: &[SocketAddr]) -> Result<()> {
    let scheme = if process.tls.is_some() { "https" } else { "http" };
    let urls: Vec<String> = addresses.iter().map(|one| format!("{scheme}://{one}")).collect();
    let beyond = process.listen.iter().any(|address| !address.ip().is_loopback());
    let whom = match (process.has_auth(), beyond) {
        (true, _) => "authentication required",
        (false, false) => "no authentication: everyone on this machine has the role admin",
        (false, true) => "NO AUTHENTICATION: everyone who can reach the server has the role admin",
    };
    let version = built::VERSION;
    output::print(&format!("headroom {version} serves {} ({whom})\n", urls.join(", ")))
}

/// Shuts down: accepts no more connections, completes current requests, and closes the journal.
async fn end(serving: Serving, engine: Engine, traces: Option<Sending>) -> Result<ExitCode> {
    let began = Instant::now();
    serving.stop();
    serving.ended(REQUESTS_END_MAX).await;
    let left = END_MAX.saturating_sub(began.elapsed());
    if let Ok(stopped) = tokio::time::timeout(left, engine.stop()).await {
        stopped.context(
            "the journal failed before the server stopped; all answered requests are stored",
        )?;
    } else {
        // All answered requests are in the journal. Without a snapshot, only the next start takes longer.
        tracing::warn!(
            "the server stopped without a snapshot; the next start replays more records"
        );
    }
    serving.ended(STREAMS_END_MAX).await;
    serving.close().await;
    if let Some(traces) = traces {
        traces.end(TRACES_END_MAX).await;
    }
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(took_ms, "ended");
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use headroom_config::process::{Process, Sources};

    use super::{CONNECTIONS, fitting};

    #[test]
    fn fewer_files_allow_fewer_connections() {
        for (connections, files, expected) in [
            (20_000, 20_256, None),
            (20_000, 20_000, Some(19_744)),
            (20_000, 4_096, Some(3_840)),
            (20_000, 100, Some(1)),
            (1, 100, None),
        ] {
            assert_eq!(fitting(connections, files), expected, "{connections} {files}");
        }
        let process = Process::read(Sources::default()).expect("no setting is given");
        assert_eq!(process.limits.connections, CONNECTIONS);
    }
}
