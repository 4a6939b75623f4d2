//! `cargo bench -p headroom --features kubernetes --bench kubernetes`: BK, scheduling pods on a real API server.
//!
//! Needs `HEADROOM_KUBERNETES`. `HEADROOM_PEER` can name the command of another scheduler for `yunikorn`. Words after
//! `--` select parts: `throughput`, `latency`, `pending`, `pending-nodes`, `memory`, `large`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod cluster;
mod scheduler;
#[path = "../../../kubernetes/tests/support/tools.rs"]
mod tools;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use crate::cluster::{Bound, Client, Cluster, pod};
use crate::scheduler::{Kind, Scheduler};
use crate::tools::TOOLS;

/// Time within which the next pod must get its node.
const NEXT_MAX: Duration = Duration::from_mins(2);

fn main() -> Result<()> {
    let Some(tools) = std::env::var_os(TOOLS).map(PathBuf::from) else {
        println!("skipped: {TOOLS} names no folder of tools that start a cluster");
        return Ok(());
    };
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|one| !one.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|one| one == part);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        if is_wanted("throughput") {
            throughput(&Cluster::start(&tools, "throughput", 500)?, number("PODS", 5_000)?).await?;
        }
        if is_wanted("latency") {
            latency(&Cluster::start(&tools, "latency", 500)?, Short::Quota, &[0]).await?;
        }
        if is_wanted("pending") {
            let few_and_many = [500, number("PENDING", 50_000)?];
            let cluster = Cluster::start(&tools, "pending", 500)?;
            latency(&cluster, Short::Quota, &few_and_many).await?;
        }
        if is_wanted("pending-nodes") {
            let few_and_many = [500, number("PENDING", 50_000)?];
            let cluster = Cluster::start(&tools, "pending-nodes", 500)?;
            latency(&cluster, Short::Nodes, &few_and_many).await?;
        }
        if is_wanted("memory") {
            memory(&Cluster::start(&tools, "memory", 500)?, number("PODS", 20_000)?).await?;
        }
        if is_wanted("large") {
            large(
                &Cluster::start(&tools, "large", number("NODES", 5_000)?)?,
                number("PODS", 100_000)?,
            )
            .await?;
        }
        Ok(())
    })
}

/// Returns the number in an environment variable whose name begins with `HEADROOM_BENCH_`.
fn number(name: &str, default: usize) -> Result<usize> {
    match std::env::var(format!("HEADROOM_BENCH_{name}")) {
        Ok(text) => text.parse().with_context(|| format!("HEADROOM_BENCH_{name} is no number")),
        Err(_) => Ok(default),
    }
}

fn path_of(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods")
}

/// Returns the name that the tools give a node.
fn node_name(number: usize) -> String {
    format!("node-{:04}", number + 1)
}

/// Creates pods of ten applications.
async fn create(client: &Client, namespace: &str, count: usize, scheduler: &str) -> Result<()> {
    let path = path_of(namespace);
    let pods = (0..count).map(|number| {
        let application = format!("app-{}", number % 10);
        (path.clone(), pod(&format!("p{number}"), scheduler, &application, "10m"))
    });
    client.post_all(pods).await
}

/// Binds pods by hand, one node after the other.
async fn bind(client: &Client, namespace: &str, count: usize, nodes: usize) -> Result<()> {
    let path = path_of(namespace);
    let binds = (0..count).map(|number| {
        let (pod, node) = (format!("p{number}"), node_name(number % nodes));
        let target = json!({"kind": "Node", "name": node});
        let body = json!({"metadata": {"name": pod}, "target": target});
        (format!("{path}/{pod}/binding"), body)
    });
    client.post_all(binds).await
}

async fn next(bound: &mut UnboundedReceiver<Bound>) -> Result<Bound> {
    timeout(NEXT_MAX, bound.recv()).await.context("no pod gets a node")?.context("the watch ended")
}

fn config_map(queues: &Value) -> Value {
    let file = json!({"partitions": [{
        "name": "default",
        "placementrules": [{"name": "tag", "value": "namespace", "create": true}],
        "queues": [{"name": "root", "submitacl": "*", "queues": queues}]
    }]});
    let data = json!({"queues.yaml": file.to_string()});
    json!({"metadata": {"name": "yunikorn-configs"}, "data": data})
}

/// Writes the queue file.
async fn configure(client: &Client, queues: &Value) -> Result<()> {
    client.post("/api/v1/namespaces/default/configmaps", &config_map(queues)).await
}

/// Measures pods per second, processor time, and events of each scheduler, and what the API server can do at most.
async fn throughput(cluster: &Cluster, pods: usize) -> Result<()> {
    println!("{pods} pods on 500 nodes");
    let client = cluster.client();
    configure(&client, &json!([])).await?;
    client.namespace("by-hand").await?;
    create(&client, "by-hand", pods, "nobody").await?;
    let begin = Instant::now();
    bind(&client, "by-hand", pods, 500).await?;
    let ceiling = rate(pods, begin.elapsed());
    println!("binding ceiling of the API server: {ceiling:.0}/s");
    client.clear("by-hand").await?;
    let peer = std::env::var("HEADROOM_PEER").ok().map(Kind::Other);
    for kind in [Kind::Headroom, Kind::KubeScheduler].into_iter().chain(peer) {
        let namespace = kind.name().to_ascii_lowercase();
        client.namespace(&namespace).await?;
        create(&client, &namespace, pods, kind.scheduler_name()).await?;
        let events = client.requests("events", &["POST", "PATCH"]).await?;
        let mut bound = client.follow(&namespace).await?;
        let start = Instant::now();
        let scheduler = Scheduler::start(&kind, cluster)?;
        let first = next(&mut bound).await?.at;
        let mut last = first;
        for _ in 1..pods {
            last = next(&mut bound).await?.at;
        }
        let per_second = rate(pods, last - first);
        // Events and conditions come after the bindings.
        tokio::time::sleep(Duration::from_secs(5)).await;
        let processor = scheduler.processor_ms()?;
        let (now, peak) = scheduler.memory()?;
        let events = client.requests("events", &["POST", "PATCH"]).await? - events;
        println!(
            "{}: {per_second:.0} pods/s ({:.2} of the ceiling), first after {} ms, {:.2} ms of processor time and \
             {:.2} events a pod, {now} MiB now, {peak} MiB at most",
            kind.name(),
            per_second / ceiling,
            (first - start).as_millis(),
            ratio(processor, pods),
            ratio(events, pods),
        );
        drop(scheduler);
        client.clear(&namespace).await?;
    }
    Ok(())
}

/// What waiting pods wait for.
#[derive(Clone, Copy)]
enum Short {
    /// Their quota.
    Quota,
    /// A larger node.
    Nodes,
}

/// Time from the creation of a pod to its binding on a quiet server, while so many pods wait.
async fn latency(cluster: &Cluster, short: Short, pending: &[usize]) -> Result<()> {
    let client = cluster.client();
    let (queues, cpu) = match short {
        Short::Quota => (json!([{"name": "full", "resources": {"max": {"vcore": "1m"}}}]), "10m"),
        Short::Nodes => (json!([]), "1000"),
    };
    configure(&client, &queues).await?;
    client.namespace("full").await?;
    client.namespace("free").await?;
    let _scheduler = Scheduler::start(&Kind::Headroom, cluster)?;
    let mut waiting = 0;
    for (round, count) in pending.iter().enumerate() {
        let path = path_of("full");
        let pods = (waiting..*count).map(|number| {
            let application = format!("app-{}", number % 10);
            (path.clone(), pod(&format!("p{number}"), "yunikorn", &application, cpu))
        });
        client.post_all(pods).await?;
        waiting = *count;
        settled(&client).await?;
        let Times { created, shown, bound, after } =
            one_by_one(&client, &format!("round{round}")).await?;
        println!(
            "{count} pods wait; a pod that can run is bound within {} ms (median), {} ms (p99), {} ms (worst of {}), \
             and after a watch shows it within {}, {}, {} ms; the API server alone creates it within {}, {}, {} ms, and \
             shows it in a watch within {}, {}, {} ms",
            at(&bound, 50),
            at(&bound, 99),
            at(&bound, 100),
            bound.len(),
            at(&after, 50),
            at(&after, 99),
            at(&after, 100),
            at(&created, 50),
            at(&created, 99),
            at(&created, 100),
            at(&shown, 50),
            at(&shown, 99),
            at(&shown, 100),
        );
    }
    Ok(())
}

/// Waits until nobody writes the status of pods: the scheduler its conditions, and the kubelets that pods run.
async fn settled(client: &Client) -> Result<()> {
    let mut written = 0;
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let now = client.requests("pods", &["PATCH"]).await?;
        if now == written {
            return Ok(());
        }
        written = now;
    }
}

/// Times of pods that were created one after the other, in ms, sorted.
#[derive(Default)]
struct Times {
    /// The creation.
    created: Vec<u128>,
    /// From there until a watch shows the pod.
    shown: Vec<u128>,
    /// From the creation until a watch shows the binding.
    bound: Vec<u128>,
    /// From when a watch shows the pod until it shows the binding.
    after: Vec<u128>,
}

/// Creates pods one after the other.
async fn one_by_one(client: &Client, prefix: &str) -> Result<Times> {
    let mut bound = client.follow("free").await?;
    let mut times = Times::default();
    let mut created = HashMap::new();
    for number in 0..500 {
        let name = format!("{prefix}-{number}");
        let begin = Instant::now();
        client.post(&path_of("free"), &pod(&name, "yunikorn", "one-by-one", "1m")).await?;
        times.created.push(begin.elapsed().as_millis());
        created.insert(name, Instant::now());
        let Bound { pod, seen, at } = next(&mut bound).await?;
        let since = created.get(&pod).context("a pod of this part")?;
        times.shown.push(seen.saturating_duration_since(*since).as_millis());
        times.bound.push(at.saturating_duration_since(*since).as_millis());
        times.after.push(at.saturating_duration_since(seen).as_millis());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for each in [&mut times.created, &mut times.shown, &mut times.bound, &mut times.after] {
        each.sort_unstable();
    }
    Ok(times)
}

/// Time from the start of the process until it is ready, with many pods that have nodes.
async fn large(cluster: &Cluster, pods: usize) -> Result<()> {
    let client = cluster.client();
    let nodes = number("NODES", 5_000)?;
    configure(&client, &json!([])).await?;
    client.namespace("many").await?;
    client.namespace("free").await?;
    stop_kubelets(cluster);
    create_placed(&client, "many", (pods, nodes), "yunikorn").await?;
    let (scheduler, ready) = start_with_probe(cluster, "probe").await?;
    let (now, peak) = scheduler.memory()?;
    println!(
        "{nodes} nodes, {pods} pods that have nodes: the first new pod is bound {} ms after the start, {} ms of processor \
         time, {now} MiB now, {peak} MiB at most",
        ready.as_millis(),
        scheduler.processor_ms()?
    );
    Ok(())
}

/// Memory of a scheduler that starts with pods that have nodes, for each pod.
async fn memory(cluster: &Cluster, pods: usize) -> Result<()> {
    let client = cluster.client();
    configure(&client, &json!([])).await?;
    for namespace in ["foreign", "own", "free"] {
        client.namespace(namespace).await?;
    }
    stop_kubelets(cluster);
    let empty = memory_at_rest(cluster, "empty").await?;
    create_placed(&client, "foreign", (pods, 500), "nobody").await?;
    let with_foreign = memory_at_rest(cluster, "with-foreign").await?;
    create_placed(&client, "own", (pods, 500), "yunikorn").await?;
    let with_own = memory_at_rest(cluster, "with-own").await?;
    println!(
        "500 nodes and no pods: {} MiB; a foreign pod: {:.2} KiB; an own pod: {:.2} KiB (each of {pods})",
        empty >> 10,
        ratio(with_foreign.saturating_sub(empty), pods),
        ratio(with_own.saturating_sub(with_foreign), pods),
    );
    Ok(())
}

/// Starts a scheduler, and returns its anonymous memory after it placed a pod, in KiB.
async fn memory_at_rest(cluster: &Cluster, probe: &str) -> Result<u64> {
    let (scheduler, _) = start_with_probe(cluster, probe).await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    scheduler.anonymous_kib()
}

/// Stops what changes pods by itself. The kubelets would set one pod after the other to Running, for longer than the
/// benchmark. A scheduler counts a pod with a node all the same. Without kubelets, the controllers would evict the pods.
fn stop_kubelets(cluster: &Cluster) {
    cluster.running.stop_part("kube-controller-manager");
    cluster.running.stop_part("kwok");
}

/// Creates pods with their nodes.
async fn create_placed(
    client: &Client,
    namespace: &str,
    (pods, nodes): (usize, usize),
    scheduler: &str,
) -> Result<()> {
    let path = path_of(namespace);
    let placed = (0..pods).map(|number| {
        let application = format!("app-{}", number % 10);
        let mut pod = pod(&format!("p{number}"), scheduler, &application, "10m");
        pod["spec"]["nodeName"] = node_name(number % nodes).into();
        (path.clone(), pod)
    });
    client.post_all(placed).await?;
    settled(client).await
}

/// Starts a scheduler, and waits until it places a pod that was created before. Returns the time until then.
async fn start_with_probe(cluster: &Cluster, name: &str) -> Result<(Scheduler, Duration)> {
    let client = cluster.client();
    let mut bound = client.follow("free").await?;
    client.post(&path_of("free"), &pod(name, "yunikorn", name, "1m")).await?;
    let start = Instant::now();
    let scheduler = Scheduler::start(&Kind::Headroom, cluster)?;
    let probe = next(&mut bound).await?;
    ensure!(probe.pod == name, "{} was bound", probe.pod);
    Ok((scheduler, probe.at - start))
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ratio(sum: u64, count: usize) -> f64 {
    sum as f64 / count as f64
}

/// Returns the time that so many percent of the sorted times do not exceed.
fn at(times: &[u128], percent: usize) -> u128 {
    times[(times.len() * percent).div_ceil(100).saturating_sub(1)]
}
