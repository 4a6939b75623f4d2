//! The real server as a process of its own, as it is shipped.
#![allow(dead_code, reason = "each benchmark needs a part of it")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use headroom_api::client::Client;
use headroom_benches::durable::Folder;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// A server that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    _folder: Folder,
}

/// What a server takes of memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) now: u64,
    /// At most since it was [forgotten](Server::forget_peak).
    pub(crate) peak: u64,
}

/// Have as many files open as this process may: clients need one for each connection.
pub(crate) fn allow_files() -> Result<u64> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(hard)
}

impl Server {
    /// Start on an empty journal on the disk of the benchmarks, and wait until it says where it is.
    pub(crate) fn start() -> Result<Self> {
        let folder = Folder::new("server");
        let log = File::create(folder.path().join("log"))?;
        let mut child = Command::new(env!("CARGO_BIN_EXE_headroom"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn"])
            .args(["--health-check-interval", "0s"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let said = child.stdout.take().context("its output is ours")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        let address = line.split("://").nth(1).and_then(|rest| rest.split([' ', ',']).next());
        let address = address.and_then(|address| address.trim().parse().ok());
        let address = address.with_context(|| format!("it says {line:?}"))?;
        Ok(Self { child, address, _folder: folder })
    }

    /// A result counts only if the books balance.
    pub(crate) async fn check(&self) -> Result<()> {
        let client = Client::builder(format!("http://{}", self.address)).build()?;
        let health = client.get_health_check().await?;
        // The client of the benchmark has gone by now, which is a finding of its own.
        let checks = health.health_checks.iter();
        let of_books = checks.filter(|check| check.name != "Resource managers");
        let failed: Vec<_> = of_books.filter(|check| !check.succeeded).collect();
        ensure!(failed.is_empty(), "the books do not balance: {failed:?}");
        Ok(())
    }

    /// What it takes.
    pub(crate) fn memory(&self) -> Result<Memory> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_ascii_whitespace().next());
            let kib = number.and_then(|number| number.parse::<u64>().ok());
            kib.map(|kib| kib << 10).context("the server has ended")
        };
        Ok(Memory { now: bytes("VmRSS:")?, peak: bytes("VmHWM:")? })
    }

    /// Begin the peak anew. Source: `proc(5)`, `/proc/pid/clear_refs`.
    pub(crate) fn forget_peak(&self) -> Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
