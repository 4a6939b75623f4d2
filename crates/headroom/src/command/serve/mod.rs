//! `headroom serve`: the server.

mod flags;
#[cfg_attr(not(feature = "kubernetes"), path = "no_kubernetes.rs")]
mod kubernetes;
mod logging;
#[cfg_attr(not(feature = "otlp"), path = "no_otlp.rs")]
mod otlp;
mod recovery;
mod run;
mod signals;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use headroom_config::process::{KEYS, Key, Process, Sources};
pub(crate) use kubernetes::Cluster;

use headroom_sim::nodes::{self, NodeOptions, NodeSpec};

const EXAMPLE: &str = "\
Examples:
  headroom serve
      A server for this machine only, with its journal in ./headroom-data
  headroom serve --demo
      The same server with a simulated cluster and simulated users
  headroom serve --queues queues.yaml --demo-nodes '4*{vcore: 32, memory: 64G}'
      A server for trying out tenants
  headroom serve --queues queues.yaml --listen :9080 --auth-tokens tokens --tls-cert c.pem --tls-key k.pem
      A server for a cluster. `headroom token create` creates tokens
  HEADROOM_LISTEN=127.0.0.1:9081 headroom serve --config headroom.yaml
      Each key of the file is also a variable and a flag. A flag overrides a variable, which overrides the file";

/// Serve REST, gRPC, and the web page on one port.
///
/// SIGTERM stops the server after it has stored all answered requests and a snapshot. A second SIGTERM
/// stops it immediately. SIGHUP reloads the queue file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Serve {
    /// Simulate a cluster and its users, so that every page has data
    ///
    /// The journal is in `headroom-demo`, unless you name another folder.
    #[arg(long)]
    demo: bool,
    /// Simulate nodes without users. Clients submit tasks, confirm them, and report their end
    ///
    /// `N*{type: amount, …}`, such as `4*{vcore: 32, memory: 64G}`, or a CSV or YAML file. Can be given several times.
    #[arg(long, value_name = "NODES", conflicts_with = "demo")]
    demo_nodes: Vec<String>,
    #[command(flatten)]
    server: ServerKeys,
}

/// The settings of a server.
#[derive(Debug, Args)]
pub(crate) struct ServerKeys {
    /// YAML file with these keys. The default is the value of `HEADROOM_CONFIG`, or no file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: flags::KeyFlags,
}

impl Serve {
    /// Serves until a signal stops the server.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let plays = match (self.demo, &*self.demo_nodes) {
            (true, _) => Plays::Scene,
            (false, []) => Plays::Nothing,
            (false, nodes) => Plays::Nodes(nodes::read(nodes, NodeOptions::default())?),
        };
        let demo = self.demo;
        let sources = self.server.sources()?;
        let process = if demo { of_demo(sources)? } else { Process::read(sources)? };
        if !matches!(plays, Plays::Nothing) {
            ensure!(
                process.tls.is_none() && !process.has_auth(),
                "--demo and --demo-nodes work only without TLS and authentication. Remove `tls` and `auth`."
            );
        }
        run::run(process, plays)
    }
}

impl ServerKeys {
    /// Serves with these settings until a signal stops the server.
    pub(crate) fn run(self, plays: Plays) -> Result<ExitCode> {
        let sources = self.sources()?;
        let foreign = NOT_ON_KUBERNETES.iter().find(|key| is_given(&sources, key));
        let process = Process::read(sources)?;
        if matches!(plays, Plays::Kubernetes(_)) {
            kubernetes::check()?;
            let in_file = process.queues.as_ref().and(NOT_ON_KUBERNETES.first());
            if let Some(key) = foreign.or(in_file).and_then(|name| known(name)) {
                bail!(
                    "`{}` has no effect here: the queue file is in the config map `yunikorn-configs`, and after a \
                     restart, all state comes from the API server. Remove `--{}`, `{}`, or the key in the file.",
                    key.name,
                    key.flag(),
                    key.variable()
                );
            }
        }
        run::run(process, plays)
    }

    /// Returns the given settings, by source.
    fn sources(self) -> Result<Sources> {
        let environment = std::env::vars_os();
        let environment: Vec<(String, String)> = environment
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = environment.iter().find(|(name, _)| name == CONFIG);
        let path = self.config.or_else(|| named.map(|(_, value)| PathBuf::from(value)));
        let file = path.map(|path| {
            let text = std::fs::read_to_string(&path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            anyhow::Ok((path, text))
        });
        Ok(Sources { file: file.transpose()?, environment, flags: self.keys.given })
    }
}

/// Keys that have no meaning on Kubernetes. The first is that of the queue file.
pub(crate) const NOT_ON_KUBERNETES: [&str; 3] = ["queues", "journal.path", "journal.snapshotEvery"];

/// Returns whether a flag or a variable sets a key.
fn is_given(sources: &Sources, name: &str) -> bool {
    let variable = known(name).map(Key::variable);
    sources.flags.iter().any(|(key, _)| *key == name)
        || sources.environment.iter().any(|(key, _)| Some(key) == variable.as_ref())
}

fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// What runs in the process of the server, in addition to the server.
pub(crate) enum Plays {
    /// Nothing.
    Nothing,
    /// The scheduler of this cluster.
    Kubernetes(Cluster),
    /// Simulated nodes.
    Nodes(Vec<NodeSpec>),
    /// A simulated cluster and its users.
    Scene,
}

/// Folder of the demo journal. It differs from the default folder of a server, so that both can run in one directory.
const DEMO_JOURNAL: &str = "headroom-demo";

/// Returns the settings of a demo.
///
/// # Errors
/// When a setting conflicts with the demo.
fn of_demo(mut sources: Sources) -> Result<Process> {
    let stated = |sources: &Sources, name: &str| {
        sources.flags.iter().any(|(key, _)| *key == name)
            || sources.environment.iter().any(|(key, _)| key == "HEADROOM_JOURNAL_PATH")
    };
    if sources.file.is_none() && !stated(&sources, "journal.path") {
        sources.flags.push(("journal.path", DEMO_JOURNAL.to_owned()));
    }
    let process = Process::read(sources)?;
    ensure!(
        process.queues.is_none(),
        "--demo uses a built-in queue file. Remove `queues`, or start without --demo."
    );
    Ok(process)
}

/// The environment variable with the path of the configuration file.
const CONFIG: &str = "HEADROOM_CONFIG";
