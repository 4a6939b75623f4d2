//! The scheduler as a process.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::tools::Running;

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
        let kubeconfig = cluster.folder.join("kubeconfig-unchecked");
        std::fs::write(&kubeconfig, cluster.unchecked_kubeconfig()).unwrap();
        let (output, log) =
            (cluster.folder.join("headroom.out"), cluster.folder.join("headroom.log"));
        let child = Command::new(env!("CARGO_BIN_EXE_headroom"))
            .args(["kubernetes", "--namespace", "default", "--listen", "127.0.0.1:0"])
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .stdin(Stdio::null())
            .stdout(File::create(&output).unwrap())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        // For the guard of the cluster, if the test ends without a kill.
        std::fs::write(cluster.folder.join("headroom.pid"), child.id().to_string()).unwrap();
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
            let address =
                output.split("://").nth(1).and_then(|rest| rest.split([' ', ',', '\n']).next());
            if let Some(address) = address.filter(|_| output.contains('\n')) {
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
