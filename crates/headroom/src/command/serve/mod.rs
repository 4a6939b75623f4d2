//! `headroom serve`: the server.

mod flags;
mod logging;
#[cfg_attr(not(feature = "otlp"), path = "no_otlp.rs")]
mod otlp;
mod recovery;
mod run;
mod signals;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use headroom_config::process::{Process, Sources};
use headroom_sim::nodes::{self, NodeOptions, NodeSpec};

const EXAMPLE: &str = "\
Examples:
  headroom serve
      A server for this machine alone, with its journal in ./headroom-data
  headroom serve --demo
      The same with a cluster and users that are made up
  headroom serve --queues queues.yaml --demo-nodes '4*{vcore: 32, memory: 64G}'
      One to try tenants on
  headroom serve --queues queues.yaml --listen :9080 --auth-tokens tokens --tls-cert c.pem --tls-key k.pem
      One for a cluster; `headroom token create` makes tokens
  HEADROOM_LISTEN=127.0.0.1:9081 headroom serve --config headroom.yaml
      Each key of the file is a variable and a flag too; a flag wins over a variable, and that over the file";

/// Serve REST, gRPC and the page, on one port.
///
/// SIGTERM ends it: what was answered is kept, and a snapshot is taken. A second one ends it at once.
/// SIGHUP reads the queue file again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Serve {
    /// File of these keys, as YAML; none if not given, nor `HEADROOM_CONFIG`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Play a cluster and its users that are made up, so that every page has something to show
    ///
    /// Its journal is in `headroom-demo`, unless another folder is named.
    #[arg(long)]
    demo: bool,
    /// Bring nodes that are made up, and nothing else: for tasks of tenants, which whoever submits them runs
    ///
    /// `N*{type: amount, …}`, such as `4*{vcore: 32, memory: 64G}`, or a CSV or YAML file; may be given several times.
    #[arg(long, value_name = "NODES", conflicts_with = "demo")]
    demo_nodes: Vec<String>,
    #[command(flatten)]
    keys: flags::KeyFlags,
}

impl Serve {
    /// Serve until a signal ends it.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let plays = match (self.demo, &*self.demo_nodes) {
            (true, _) => Plays::Scene,
            (false, []) => Plays::Nothing,
            (false, nodes) => Plays::Nodes(nodes::read(nodes, NodeOptions::default())?),
        };
        let demo = self.demo;
        let sources = self.sources()?;
        let process = if demo { of_demo(sources)? } else { Process::read(sources)? };
        if !matches!(plays, Plays::Nothing) {
            ensure!(
                process.tls.is_none() && !process.has_auth(),
                "--demo and --demo-nodes are for an open server of this machine: leave out `tls` and `auth`"
            );
        }
        run::run(process, plays)
    }

    /// What was said, and where.
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

/// What is made up on a server.
enum Plays {
    /// Nothing.
    Nothing,
    /// These nodes.
    Nodes(Vec<NodeSpec>),
    /// A cluster and its users.
    Scene,
}

/// Where the demonstration keeps its journal: not where a server of this folder does.
const DEMO_JOURNAL: &str = "headroom-demo";

/// What was said, as a demonstration has it.
///
/// # Errors
/// When something was asked for that a demonstration cannot do.
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
        "--demo brings a queue file along: leave out `queues`, or start without --demo"
    );
    Ok(process)
}

/// The variable that names the file.
const CONFIG: &str = "HEADROOM_CONFIG";
