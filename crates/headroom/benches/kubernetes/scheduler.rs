//! Schedulers as processes, with the processor time and memory that they take.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::cluster::Cluster;

/// A kind of scheduler.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Headroom,
    /// The scheduler of Kubernetes, which has no queues and quotas.
    KubeScheduler,
    /// A command, such as `YuniKorn`'s scheduler. It gets `KUBECONFIG` and `NAMESPACE`.
    Other(String),
}

impl Kind {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Headroom => "headroom",
            Self::KubeScheduler => "kube-scheduler",
            Self::Other(command) => command.rsplit('/').next().unwrap_or(command),
        }
    }

    /// Returns the `schedulerName` of its pods.
    pub(crate) const fn scheduler_name(&self) -> &'static str {
        match self {
            Self::Headroom | Self::Other(_) => "yunikorn",
            Self::KubeScheduler => "default-scheduler",
        }
    }
}

/// A scheduler that is killed when it is dropped.
pub(crate) struct Scheduler {
    child: Child,
}

impl Scheduler {
    pub(crate) fn start(kind: &Kind, cluster: &Cluster) -> Result<Self> {
        let log = File::create(cluster.running.folder.join(format!("{}.log", kind.name())))?;
        let mut command = match kind {
            Kind::Headroom => {
                let mut command = cluster.running.scheduler(env!("CARGO_BIN_EXE_headroom"));
                command.args(["--log-level", "warn"]);
                command
            }
            Kind::KubeScheduler => {
                let config = cluster.running.folder.join("kube-scheduler.yaml");
                let kubeconfig = cluster.running.kubeconfig();
                // Without limits of its own, as Headroom, so that the API server is the limit.
                fs::write(
                    &config,
                    format!(
                        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
                         clientConnection: {{kubeconfig: '{}', qps: 5000, burst: 5000}}\n\
                         leaderElection: {{leaderElect: false}}\n",
                        kubeconfig.display()
                    ),
                )?;
                let mut command = Command::new(cluster.running.folder.join("bin/kube-scheduler"));
                command.arg("--config").arg(config).args(["--secure-port", "0"]);
                command
            }
            Kind::Other(path) => {
                let mut command = Command::new(path);
                command.env("KUBECONFIG", cluster.running.kubeconfig());
                command.env("NAMESPACE", "default");
                command
            }
        };
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .current_dir(&cluster.running.folder)
            .spawn()?;
        Ok(Self { child })
    }

    /// Returns its processor time so far, in ms.
    pub(crate) fn processor_ms(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program can contain spaces, and ends with the last parenthesis.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
        let ticks = ticks(11).zip(ticks(12)).context("the scheduler has ended")?;
        // A tick is a hundredth of a second on Linux.
        Ok((ticks.0 + ticks.1) * 10)
    }

    /// Returns its memory now and at most, in MiB.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        Ok((self.kib("VmRSS:")? >> 10, self.kib("VmHWM:")? >> 10))
    }

    /// Returns its memory without files, such as the program, in KiB.
    pub(crate) fn anonymous_kib(&self) -> Result<u64> {
        self.kib("RssAnon:")
    }

    fn kib(&self, name: &str) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let word = line.and_then(|line| line.split_ascii_whitespace().next());
        word.and_then(|word| word.parse().ok()).context("the scheduler has ended")
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
