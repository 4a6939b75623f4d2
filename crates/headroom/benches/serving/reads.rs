//! Who reads: requests that are due at a steady rate, whether or not those before are answered.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use reqwest::Client;
use tokio::time::{Instant, sleep_until};

use crate::decisions::{APPLICATIONS, STUCK, application, stuck};

/// No body is larger, in bytes.
const BODY_MAX: usize = 64 << 10;

/// What is read, in turn, and where it is.
type Kind = (&'static str, fn(u64) -> String);

const KINDS: [Kind; 4] = [
    ("queue trees", |_| "ws/v1/partition/default/queues".to_owned()),
    ("applications", |number| {
        format!("ws/v1/partition/default/application/{}", application(number % APPLICATIONS).0)
    }),
    ("users", |number| {
        format!("ws/v1/partition/default/usage/user/{}", application(number % APPLICATIONS).1)
    }),
    ("explanations", |number| {
        let waiting = stuck(number % STUCK);
        format!("headroom/v1/partitions/default/explain/applications/{waiting}")
    }),
];

/// Read so often a second for so long; of each kind what each read took, sorted.
pub(crate) async fn run(
    address: SocketAddr,
    per_second: u64,
    how_long: Duration,
) -> Result<Vec<(&'static str, Vec<Duration>)>> {
    let client = Client::builder().no_proxy().build()?;
    let (begin, count) = (Instant::now(), per_second * how_long.as_secs());
    let mut reading = Vec::new();
    for number in 0..count {
        let due = begin + how_long.mul_f64(as_ratio(number, count));
        sleep_until(due).await;
        let kind = usize::try_from(number)? % KINDS.len();
        let path = KINDS[kind].1(number.wrapping_mul(7));
        let url = format!("http://{address}/{path}");
        reading.push((kind, tokio::spawn(read(client.clone(), url, due))));
    }
    let mut times = KINDS.map(|(name, _)| (name, Vec::new()));
    for (kind, one) in reading {
        times[kind].1.push(one.await??);
    }
    for (_, times) in &mut times {
        times.sort_unstable();
    }
    Ok(times.into())
}

#[expect(clippy::cast_precision_loss, reason = "a moment in a run of seconds")]
fn as_ratio(number: u64, count: u64) -> f64 {
    number as f64 / count as f64
}

async fn read(client: Client, url: String, due: Instant) -> Result<Duration> {
    let response = client.get(&url).send().await?;
    ensure!(response.status().is_success(), "{url}: {}", response.status());
    let body = response.bytes().await.with_context(|| url.clone())?;
    ensure!(!body.is_empty() && body.len() <= BODY_MAX, "{url}: {} bytes", body.len());
    Ok(due.elapsed())
}
