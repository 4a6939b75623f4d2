//! Bodies that are too large, too deep, or grow.

use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use crate::attack::Counts;
use crate::connections::connect;

/// What a server takes of a body at most, in bytes.
const BODY_MAX: usize = 16 << 20;
const GIB: usize = 1 << 30;
const PIECE: usize = 64 << 10;

/// How a request says how long its body is.
#[derive(Clone, Copy)]
enum Told {
    Ahead(usize),
    Chunked,
}

/// A request with a body.
#[derive(Clone)]
struct Sent {
    route: &'static str,
    headers: &'static str,
    told: Told,
    /// Sent again and again.
    piece: Arc<Vec<u8>>,
    /// How many bytes are sent.
    bytes: usize,
}

const VALIDATE: &str = "POST /ws/v1/validate-conf";
const LEVELS: &str = "PUT /headroom/v1/log-level";
const JSON: &str = "X-Headroom-Request: 1\r\nContent-Type: application/json\r\n";

impl Sent {
    /// Send it, and count what is answered; one that is not complete waits for its end.
    async fn send(self, to: SocketAddr, number: usize, counts: &Counts) {
        let Ok(stream) = connect(to, number).await else {
            return counts.count("not taken in");
        };
        let (mut reader, mut writer) = stream.into_split();
        let length = match self.told {
            Told::Ahead(bytes) => format!("Content-Length: {bytes}"),
            Told::Chunked => "Transfer-Encoding: chunked".to_owned(),
        };
        let Self { route, headers, .. } = self;
        let head = format!("{route} HTTP/1.1\r\nHost: localhost\r\n{headers}{length}\r\n\r\n");
        let sending = async {
            writer.write_all(head.as_bytes()).await?;
            let mut sent = 0;
            while sent < self.bytes {
                let piece = &self.piece[..self.piece.len().min(self.bytes - sent)];
                if matches!(self.told, Told::Chunked) {
                    writer.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                }
                writer.write_all(piece).await?;
                if matches!(self.told, Told::Chunked) {
                    writer.write_all(b"\r\n").await?;
                }
                sent += piece.len();
                counts.add("MiB sent", u64::from(sent % (1 << 20) < piece.len()));
            }
            if matches!(self.told, Told::Chunked) {
                writer.write_all(b"0\r\n\r\n").await?;
            }
            std::future::pending::<std::io::Result<()>>().await
        };
        let answered = async {
            let mut answer = [0; 12];
            reader.read_exact(&mut answer).await.map(|_| answer)
        };
        tokio::select! {
            answer = answered => counts.count(&match answer {
                Ok(answer) => String::from_utf8_lossy(&answer[9..]).into_owned(),
                Err(_) => "broken off".to_owned(),
            }),
            _ = sending => counts.count("broken off while it was sent"),
        }
        let _ = timeout(Duration::from_millis(50), reader.read(&mut [0; 64])).await;
    }
}

/// Send these again and again, each from so many clients.
fn again(
    to: SocketAddr,
    counts: Counts,
    clients: usize,
    sent: Vec<Sent>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let one = async |number: usize| {
            loop {
                sent[number % sent.len()].clone().send(to, number, &counts).await;
                sleep(Duration::from_millis(10)).await;
            }
        };
        join_all((0..clients).map(one)).await;
    })
}

fn whole(route: &'static str, headers: &'static str, piece: Vec<u8>) -> Sent {
    let bytes = piece.len();
    Sent { route, headers, told: Told::Ahead(bytes), piece: Arc::new(piece), bytes }
}

/// 1 GiB from each of 16 clients, whose length is told ahead or not.
pub(crate) fn endless(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let piece = Arc::new(vec![b'#'; PIECE]);
    let sent =
        |told| Sent { route: VALIDATE, headers: "", told, piece: Arc::clone(&piece), bytes: GIB };
    again(to, counts, 16, vec![sent(Told::Ahead(GIB)), sent(Told::Chunked)])
}

/// As much as may be from each of 64 clients, but for the last byte.
pub(crate) fn unfinished(
    to: SocketAddr,
    counts: Counts,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let piece = Arc::new(vec![b'#'; PIECE]);
    let told = Told::Ahead(BODY_MAX);
    let sent = Sent { route: VALIDATE, headers: "", told, piece, bytes: BODY_MAX - 1 };
    again(to, counts, 64, vec![sent])
}

/// Queue files of 16 MiB from 8 clients, made of many small things.
pub(crate) fn files(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let of = |begin: &str, part: &str| {
        let mut text = begin.to_owned();
        text.push_str(&part.repeat((BODY_MAX - begin.len()) / part.len()));
        whole(VALIDATE, "", text.into_bytes())
    };
    let queues = of(
        "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n",
        "    - {name: a}\n",
    );
    again(to, counts, 8, vec![queues, of("partitions: [", "a,"), of("", "a: b\n"), of("", "- ")])
}

/// 256 MiB of nothing, compressed, from 8 clients.
pub(crate) fn bombs(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const GZIP: &str =
        "Content-Encoding: gzip\r\nX-Headroom-Request: 1\r\nContent-Type: application/json\r\n";
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let nothing = vec![b' '; 1 << 20];
    for _ in 0..256 {
        packer.write_all(&nothing).expect("memory takes it");
    }
    let packed = packer.finish().expect("memory takes it");
    again(to, counts, 8, vec![whole(VALIDATE, GZIP, packed.clone()), whole(LEVELS, GZIP, packed)])
}

/// JSON that nests 1,000,000 deep, from 8 clients.
pub(crate) fn deep(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    const DEPTH: usize = 1_000_000;
    let lists = "[".repeat(DEPTH).into_bytes();
    let objects = r#"{"a":"#.repeat(DEPTH).into_bytes();
    let levels = [br#"{"level":"info","targets":"#, &objects[..]].concat();
    let (validate, set) = (|body| whole(VALIDATE, "", body), |body| whole(LEVELS, JSON, body));
    again(to, counts, 8, vec![validate(lists.clone()), set(lists), validate(objects), set(levels)])
}

const TENANTS: &str = "POST /headroom/v1/tenants";
const TASKS: &str = "POST /headroom/v1/tenants/lab/tasks";
const CHECK: &str = "POST /headroom/v1/tenants/lab/quota/check";

/// A tenant that may have one core, and whose larger tasks are refused.
async fn lab(to: SocketAddr, counts: &Counts) {
    let body = br#"{"id": "lab", "quota": {"resources": {"vcore": 1}}, "oversized": "reject"}"#;
    whole(TENANTS, JSON, body.to_vec()).send(to, 0, counts).await;
}

/// Checks of a task whose members and blocked nodes are each many, of 2 MB, from 4 clients.
pub(crate) fn members(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let nodes: Vec<String> = (0..400_000).map(|number| format!("\"{number:03}\"")).collect();
    let body = format!(
        r#"{{"resources": {{"vcore": 1}}, "members": 1000, "user": "ann", "blockedNodes": [{}]}}"#,
        nodes.join(",")
    );
    let all =
        vec![whole(CHECK, JSON, body.clone().into_bytes()), whole(TASKS, JSON, body.into_bytes())];
    Box::pin(async move {
        lab(to, &counts).await;
        again(to, counts, 4, all).await;
    })
}

/// Tasks that are refused, from 8 clients: each is written into the journal.
pub(crate) fn refusals(to: SocketAddr, counts: Counts) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let task = |number: usize| {
        let body = format!(
            r#"{{"id": "{number:0>240}", "resources": {{"vcore": 8}}, "members": 1000, "user": "ann"}}"#
        );
        whole(TASKS, JSON, body.into_bytes())
    };
    Box::pin(async move {
        lab(to, &counts).await;
        again(to, counts, 8, (0..8).map(task).collect()).await;
    })
}
