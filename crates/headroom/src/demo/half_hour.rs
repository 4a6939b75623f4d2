//! Half an hour of the demo on the real server, with a manual clock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use headroom_api::client::Client;
use headroom_api::headroomv1::LogLevel;
use headroom_config::BUILT_IN;
use headroom_config::process::{Process, Sources};
use headroom_core::{Millis, Timestamp};
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Origin, Pace, Settings};
use headroom_journal::FileStore;
use headroom_server::listen::{Gate, Listening, Serving, assemble};
use headroom_server::{
    About, Assembly, LogLevels, Parts, QueueFile, Service, Settings as WholeSettings,
};

use super::rm::Player;

/// Duration of a step, in milliseconds.
const STEP: u64 = 2_000;
const HALF_HOUR: u64 = 30 * 60_000;
/// Time in which the demo fills the cluster, in milliseconds.
const BEGINNING: u64 = 2 * 60_000;
/// If no message arrives for this time, all messages of a step have arrived.
const SILENCE: Duration = Duration::from_millis(3);

/// 2026-01-01.
const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A folder of the test, in memory if possible, because flushes to disk would take most of the time.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self(parent.join(format!("headroom-half-hour-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Server {
    engine: Engine,
    clock: HandClock,
    client: Client,
    player: Player,
    /// Holds the interface open.
    _whole: (Serving, headroom_server::grpc::Interface),
    _folder: Folder,
}

impl Server {
    async fn start() -> Self {
        let folder = Folder::new();
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        settings.pace = Pace::ByHand;
        let store = FileStore::open_folder(&folder.0).expect("a folder of the test's own");
        let engine = Engine::start(Box::new(store), settings).expect("an empty journal");
        let flags = vec![("listen", "127.0.0.1:0".to_owned())];
        let process = Process::read(Sources { flags, ..Sources::default() }).expect("one flag");
        let (handle, users) = (engine.handle(), Arc::new(Users::default()));
        let of_queues = Arc::new(clock.clone());
        let queue_file =
            QueueFile::resume(handle.clone(), of_queues, Arc::clone(&users), None).await;
        let about = About::this(crate::built::facts()).expect("random numbers");
        let of_service = Arc::new(clock.clone());
        let service =
            Service::new(Parts { engine: handle, clock: of_service, users, queue_file, about });
        service.queue_file.apply(Origin::default(), BUILT_IN).await.expect("the built-in file");
        let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
        let Assembly { routers, interface, .. } =
            Assembly::of(&service, &levels, &WholeSettings::default());
        let serving = Listening::bind(&process).expect("a free port").start().expect("a socket");
        let gate = Gate::new(&process, None, engine.handle(), &service.about.instance);
        serving.open(assemble(&process, &Arc::new(gate), routers));
        let address = serving.addresses()[0];
        let client = Client::builder(format!("http://{address}")).build().expect("an address");
        let channel = super::connected(address).await.expect("the server is there");
        let player = Player::begin(channel, client.clone(), super::SEED).await;
        let player = player.expect("the demonstration begins");
        Self { engine, clock, client, player, _whole: (serving, interface), _folder: folder }
    }

    /// Lets time pass up to `now`.
    async fn step(&mut self, now: u64) {
        self.clock.advance(Millis::new(STEP));
        self.engine.handle().step(u32::MAX).await.expect("the engine goes on");
        while let Ok(heard) = tokio::time::timeout(SILENCE, self.player.hear(|| now)).await {
            assert!(heard.expect("no stream breaks"), "the server goes on");
        }
        self.player.send(now).await.expect("the streams go on");
        self.player.tenants(now).await.expect("no request of a tenant is refused");
    }

    async fn metrics(&self) -> BTreeMap<String, f64> {
        let text = self.client.get_all_metrics().await.expect("metrics");
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples
            .filter_map(|line| {
                let (series, value) = line.rsplit_once(' ')?;
                Some((series.to_owned(), value.parse().ok()?))
            })
            .collect()
    }
}

fn sum(metrics: &BTreeMap<String, f64>, start: &str) -> f64 {
    metrics.iter().filter(|(series, _)| series.starts_with(start)).map(|(_, value)| value).sum()
}

/// Returns the names of metrics in the queries of the dashboard.
fn of_dashboard() -> BTreeSet<String> {
    let board = include_str!("../../../../deploy/grafana/headroom.json");
    let queries = board.lines().filter(|line| line.trim_start().starts_with("\"expr\":"));
    let words = queries.flat_map(|line| {
        line.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
    });
    let prefixes = ["headroom_", "yunikorn_", "process_"];
    let named = words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
    named.map(str::to_owned).collect()
}

/// Checks the whole demo: no rejection, a small backlog, tenants with waiting tasks, and data for each panel.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_an_hour_has_no_refusal_a_small_backlog_and_data_for_each_panel() {
    let mut server = Server::start().await;
    let (mut backlogs, mut of_tenants) = (Vec::new(), Vec::new());
    for now in (0..=HALF_HOUR).step_by(usize::try_from(STEP).expect("it is small")) {
        server.step(now).await;
        if now >= BEGINNING && now % 30_000 == 0 {
            let metrics = server.metrics().await;
            backlogs.push(sum(&metrics, "headroom_waiting_asks{"));
            of_tenants.push(sum(&metrics, "headroom_tenant_waiting_tasks{"));
        }
    }
    let metrics = server.metrics().await;
    println!("asks that wait: {backlogs:?}; of tenants: {of_tenants:?}");
    let refusals: Vec<_> = metrics
        .iter()
        .filter(|(series, value)| series.starts_with("headroom_refusals_total{") && **value > 0.0)
        .collect();
    assert!(refusals.is_empty(), "{refusals:?}");
    assert!(metrics.contains_key("headroom_refusals_total{code=\"UNKNOWN_KEY\"}"));
    let failed: Vec<_> = metrics
        .keys()
        .filter(|series| series.starts_with("headroom_http_requests_total{"))
        .filter(|series| series.contains("status=\"4") || series.contains("status=\"5"))
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let rejected = "yunikorn_scheduler_application_submission_total{result=\"rejected\"}";
    assert_eq!(metrics.get(rejected), Some(&0.0));
    // The demo reaches a steady state: the number of waiting asks stays in the tens.
    let most = backlogs.iter().copied().fold(0.0, f64::max);
    assert!((10.0..=150.0).contains(&most), "{backlogs:?}");
    let waits = of_tenants.iter().filter(|tasks| **tasks > 0.0).count();
    assert!(waits * 10 > of_tenants.len() * 9, "{of_tenants:?}");
    let names: BTreeSet<&str> =
        metrics.keys().map(|series| series.split('{').next().unwrap_or_default()).collect();
    let asked = of_dashboard();
    assert!(asked.len() > 30, "{asked:?}");
    let missing: Vec<_> = asked.iter().filter(|name| !names.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "panels without data: {missing:?}");
    // Every rate that the dashboard shows is above 0.
    for counter in [
        "headroom_preemptions_total{",
        "headroom_tenant_started_total{",
        "headroom_tenant_throttled_total{",
        "headroom_tenant_ended_total{",
        "headroom_tenant_release_to_start_seconds_count{",
    ] {
        assert!(sum(&metrics, counter) > 0.0, "{counter}");
    }
}
