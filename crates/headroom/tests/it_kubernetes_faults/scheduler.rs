//! The scheduler as a process.

use std::fs::File;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::tools::{Running, address_in};

/// Time within which the scheduler must serve requests.
const READY_WITHIN: Duration = Duration::from_mins(2);

pub(crate) struct Scheduler {
    child: Child,
    output: PathBuf,
    log: PathBuf,
}

impl Scheduler {
    /// Starts the scheduler, and does not wait.
    pub(crate) fn start(cluster: &Running) -> Self {
        let (output, log) =
            (cluster.folder.join("headroom.out"), cluster.folder.join("headroom.log"));
        let child = cluster
            .scheduler(env!("CARGO_BIN_EXE_headroom"))
            .stdout(File::create(&output).unwrap())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        cluster.ends_with_cluster("headroom", &child);
        Self { child, output, log }
    }

    /// Kills the scheduler without a warning. It must have run until now.
    pub(crate) fn kill(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert!(ended.is_none(), "the scheduler ended by itself: {ended:?}\n{}", self.log());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the address of its server, when it serves.
    pub(crate) fn address(&mut self) -> String {
        let begin = Instant::now();
        loop {
            let output = std::fs::read_to_string(&self.output).unwrap();
            if let Some(address) = address_in(&output).filter(|_| output.contains('\n')) {
                return address.to_owned();
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the scheduler ended by itself: {ended:?}\n{}", self.log());
            assert!(begin.elapsed() < READY_WITHIN, "it does not serve\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}
