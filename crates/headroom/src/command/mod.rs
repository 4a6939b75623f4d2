//! One file per subcommand.

mod apply;
mod apps;
mod audit;
mod completions;
mod config;
mod convert;
mod events;
mod explain;
mod groups;
mod journal;
mod kubernetes;
mod nodes;
mod plan;
mod queues;
mod serve;
mod simulate;
mod tasks;
mod tenants;
mod token;
mod users;
mod validate;
mod version;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// The subcommands of `headroom`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server: REST, gRPC, and the page, on one port
    Serve(Box<serve::Serve>),
    /// Schedule the pods of a Kubernetes cluster
    Kubernetes(Box<kubernetes::Kubernetes>),
    /// Simulate a workload with a queue file, and report who waits how long, and why
    Simulate(Box<simulate::Simulate>),
    /// Check queue files, and show what to write instead
    Validate(validate::Validate),
    /// Preview what a queue file would change. Changes nothing
    Plan(plan::Plan),
    /// Apply a queue file to a running server, if its effect is as planned
    Apply(apply::Apply),
    /// Convert the configuration of another scheduler to a queue file
    Convert(convert::Convert),
    /// Show the keys of the queue file
    Config(config::Config),
    /// Check, print, or repair the journal of a stopped server
    Journal(journal::Journal),
    /// Check or print the audit log of tenants: who changed what, when, and why
    Audit(audit::Audit),
    /// List the queues of a running server, with their usage, guarantees, and maxima
    Queues(queues::Queues),
    /// List the applications of a running server, or the asks and allocations of one
    Apps(apps::Apps),
    /// Explain why an application or an ask waits, and what starts it
    Explain(explain::Explain),
    /// List the nodes of a running server
    Nodes(nodes::Nodes),
    /// List the usage and the limits of users on a running server
    Users(users::Users),
    /// List the usage and the limits of groups on a running server
    Groups(groups::Groups),
    /// List past events of a running server, or follow new ones
    Events(events::Events),
    /// List and change tenants of a running server: quotas, usage, and waiting tasks
    Tenants(Box<tenants::Tenants>),
    /// Submit, list, and change tasks of tenants on a running server
    Tasks(tasks::Tasks),
    /// Create, list, and revoke tokens of a server
    Token(token::Token),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the version, the commit if it is known, and the features of this build
    Version(version::Version),
}

impl Command {
    /// Runs the subcommand. Returns the exit code.
    ///
    /// # Errors
    /// The error to show to the user.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Serve(serve) => return serve.run(),
            Self::Kubernetes(kubernetes) => return kubernetes.run(),
            Self::Simulate(simulate) => simulate.run()?,
            Self::Validate(validate) => return validate.run(),
            Self::Plan(plan) => return plan.run(),
            Self::Apply(apply) => return apply.run(),
            Self::Convert(convert) => return convert.run(),
            Self::Config(config) => config.run()?,
            Self::Journal(journal) => journal.run()?,
            Self::Audit(audit) => return audit.run(),
            Self::Queues(queues) => queues.run()?,
            Self::Apps(apps) => apps.run()?,
            Self::Explain(explain) => explain.run()?,
            Self::Nodes(nodes) => nodes.run()?,
            Self::Users(users) => users.run()?,
            Self::Groups(groups) => groups.run()?,
            Self::Events(events) => events.run()?,
            Self::Tenants(tenants) => tenants.run()?,
            Self::Tasks(tasks) => tasks.run()?,
            Self::Token(token) => token.run()?,
            Self::Completions(completions) => completions.run()?,
            Self::Version(version) => version.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::Arguments;

    /// Collects every subcommand with its command line and its help text after the options.
    fn all(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
        for one in command.get_subcommands() {
            let path = format!("{path} {}", one.get_name());
            let help = one.get_after_help().map(ToString::to_string).unwrap_or_default();
            all(one, &path, found);
            found.push((path, help));
        }
    }

    /// Returns the command lines of an example, without the name of the program.
    fn lines(help: &str) -> impl Iterator<Item = Vec<String>> {
        let shown = help.lines().filter_map(|line| {
            let line = line.trim().trim_start_matches("Example: ");
            // An environment variable can precede the program name.
            let begin = line.find("headroom ").filter(|at| !line[..*at].contains('`'))?;
            (begin == 0 || line[..begin].contains('=')).then(|| &line[begin..])
        });
        shown.map(|line| {
            let line = line.split([';', '|', '<', '>']).next().unwrap_or_default();
            let mut words = Vec::new();
            // Single quotes group words.
            for (position, part) in line.split('\'').enumerate() {
                match position % 2 {
                    1 => words.push(part.to_owned()),
                    _ => words.extend(part.split_whitespace().map(str::to_owned)),
                }
            }
            words
        })
    }

    #[test]
    fn every_subcommand_shows_an_example_that_can_be_typed() {
        let mut found = Vec::new();
        all(&Arguments::command(), "headroom", &mut found);
        assert!(found.len() > 20, "{found:?}");
        for (path, help) in found {
            let examples: Vec<_> = lines(&help).collect();
            let own = examples.iter().filter(|words| words.join(" ").starts_with(&path));
            assert!(own.count() > 0, "{path} has no example of its own: {help:?}");
            for words in examples {
                let parsed = Arguments::command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
            }
        }
    }
}
