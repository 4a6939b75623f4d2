//! A cluster with pretended kubelets, for tests and benchmarks of several crates.
//!
//! The tools are `start.sh DIR PORT --kwok N`, which writes `DIR/kubeconfig`, and `stop.sh DIR [PART]`.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Environment variable with the folder of the tools.
pub const TOOLS: &str = "HEADROOM_KUBERNETES";

/// Stops the processes of `*.pid`, then the cluster, when its input is closed.
const GUARD: &str = r#"trap "" INT; read -r _
for pid in "$1"/*.pid; do kill "$(cat "$pid")"; done
"$0" "$1"; rm -rf "$1""#;

/// Starts a process that nobody waits for, as the tools do: file of its ID, log, command.
const LAUNCH: &str = r#"log=$1; shift; setsid "$@" >>"$log" 2>&1 </dev/null & echo $! >"$0""#;

/// A running cluster.
pub struct Running {
    /// Folder with data, logs, and `bin/kubectl`. A process with a file `NAME.pid` here also stops with the cluster.
    pub folder: PathBuf,
    /// Port of the API server. etcd has the next one.
    pub port: u16,
    /// Number of nodes with pretended kubelets. `None` if there are neither kubelets nor controllers.
    nodes: Option<usize>,
    sizes: Vec<(&'static str, &'static str)>,
    tools: PathBuf,
    /// Stops everything when this value or process has ended, however it ends: then its input is closed.
    _guard: Child,
}

impl Running {
    /// Starts a cluster. `name` is part of the name of its folder. `sizes` are variables such as `NODE_CPU`.
    pub fn start(
        tools: &Path,
        name: &str,
        nodes: usize,
        sizes: &[(&'static str, &'static str)],
    ) -> Self {
        Self::start_as(tools, name, Some(nodes), sizes)
    }

    /// Starts only etcd and the API server: nothing but the test and its scheduler changes objects.
    pub fn start_bare(tools: &Path, name: &str) -> Self {
        Self::start_as(tools, name, None, &[])
    }

    fn start_as(
        tools: &Path,
        name: &str,
        nodes: Option<usize>,
        sizes: &[(&'static str, &'static str)],
    ) -> Self {
        let folder = std::env::temp_dir().join(format!("headroom-{name}-{}", std::process::id()));
        let guard = Command::new("sh")
            .args(["-c", GUARD])
            .args([tools.join("stop.sh"), folder.clone()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (tools, sizes) = (tools.to_owned(), sizes.to_vec());
        let running = Self { folder, port: free_port(), nodes, sizes, tools, _guard: guard };
        running.start_parts();
        running
    }

    /// Starts every part that does not run.
    pub fn start_parts(&self) {
        let mut command = Command::new(self.tools.join("start.sh"));
        command.arg(&self.folder).arg(self.port.to_string());
        match self.nodes {
            Some(nodes) => command.args(["--kwok", &*nodes.to_string()]),
            None => command.arg("--bare"),
        };
        run(command.envs(self.sizes.iter().copied()));
    }

    /// Stops a part, such as `kube-apiserver`.
    pub fn stop_part(&self, part: &str) {
        run(Command::new(self.tools.join("stop.sh")).arg(&self.folder).arg(part));
    }

    /// Stops a part, and starts it again with more arguments.
    pub fn start_part_with(&self, part: &str, more: &[String]) {
        let pid_file = self.folder.join("pids").join(part);
        let pid = std::fs::read_to_string(&pid_file).unwrap();
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap();
        let words = String::from_utf8(words).unwrap();
        self.stop_part(part);
        let log = self.folder.join("logs").join(part).with_extension("log");
        let mut command = Command::new("sh");
        command.args(["-c", LAUNCH]).args([&pid_file, &log]);
        run(command.args(words.split_terminator('\0')).args(more));
    }

    /// Sends a signal, such as `STOP`, to a part.
    pub fn signal_part(&self, part: &str, signal: &str) {
        let pid = std::fs::read_to_string(self.folder.join("pids").join(part)).unwrap();
        run(Command::new("kill").arg(format!("-{signal}")).arg(pid.trim()));
    }

    /// Returns the path of the kubeconfig of an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// Returns the command that schedules this cluster with a binary of `headroom`.
    pub fn scheduler(&self, binary: &str) -> Command {
        let kubeconfig = self.folder.join("kubeconfig-unchecked");
        std::fs::write(&kubeconfig, self.unchecked_kubeconfig()).unwrap();
        Self::scheduler_as(binary, &kubeconfig)
    }

    /// Returns the command that schedules a cluster with the account of a kubeconfig.
    pub fn scheduler_as(binary: &str, kubeconfig: &Path) -> Command {
        let mut command = Command::new(binary);
        command.args(["kubernetes", "--namespace", "default", "--listen", "127.0.0.1:0"]);
        command.arg("--kubeconfig").arg(kubeconfig).stdin(Stdio::null());
        command
    }

    /// Lets a process end with the cluster, also if its owner is never dropped.
    pub fn ends_with_cluster(&self, name: &str, process: &Child) {
        let file = self.folder.join(format!("{name}.pid"));
        std::fs::write(file, process.id().to_string()).unwrap();
    }

    /// Returns the text of a kubeconfig without a check of the server's certificate.
    ///
    /// The tools make a certificate that also is a certificate authority, which only Go's TLS accepts.
    pub fn unchecked_kubeconfig(&self) -> String {
        let text = std::fs::read_to_string(self.kubeconfig()).unwrap();
        let is_authority = |line: &&str| line.contains("certificate-authority-data:");
        let authority = text.lines().find(is_authority).unwrap();
        text.replace(authority, "    insecure-skip-tls-verify: true")
    }
}

/// Returns the address in the first line that a server prints, as `127.0.0.1:9080`.
pub fn address_in(line: &str) -> Option<&str> {
    line.split("://").nth(1)?.split([' ', ',', '\n']).next()
}

/// Runs a command, which must succeed.
pub fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}

/// Returns the first of three free ports.
fn free_port() -> u16 {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    // Below the ports that systems give to clients.
    let start = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let mut ports = (start..31_990).chain(20_000..start).step_by(3);
    ports.find(|port| (*port..port + 3).all(is_free)).unwrap()
}
