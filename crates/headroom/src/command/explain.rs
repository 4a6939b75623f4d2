//! `headroom explain`: explains why a real or hypothetical ask waits, and what would start it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Args;
use headroom_api::client::Sought;
use headroom_api::headroomv1::{
    CheckHolder, CheckVerdict, ExplainedCheck, ExplainedHold, ExplainedPreemption, ExplainedState,
    Explanation, InTurn, NodesLookedAt, PreemptionVictim, Remedies,
};
use headroom_core::resource::{Quantity, Unit};
use headroom_core::{NodeReason, WaitCode};

use crate::output;
use crate::remote::{Format, Listing, Remote, exact, resources};

mod journal;
mod pages;
mod pod;
mod would_run;

use would_run::Wanted;

/// Explain why an application or an ask waits: the outcome, the failed checks, and the remedies.
///
/// The first line is the answer. The following lines are the evidence.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom explain train-0001\n  headroom explain train-0001/worker-3\n  headroom explain pod lab/train-1-abcde\n  headroom explain train-0001 --json\n  headroom explain --would-run vcore=4,memory=8Gi --queue root.a --user sue\n  headroom explain train-0001/worker-3 --journal headroom-data\n  headroom explain --code QUEUE_MAX"
)]
pub(crate) struct Explain {
    /// Application, or one of its asks. On Kubernetes also `pod`, with the pod as the next argument
    #[arg(value_name = "APPLICATION[/ASK]", required_unless_present_any = ["code", "would_run"])]
    subject: Option<String>,
    /// Pod to explain, after `pod`. The namespace is `default` if it is left out
    #[arg(value_name = "[NAMESPACE/]POD", requires = "subject", conflicts_with_all = ["code", "would_run", "journal"])]
    pod: Option<String>,
    /// Print the meaning, cause, and remedy of a code, without a server
    #[arg(long, value_name = "CODE", conflicts_with = "subject")]
    code: Option<String>,
    #[command(flatten)]
    wanted: Wanted,
    /// Read the journal in this folder instead of asking a server. The answer describes the state after its last
    /// record, with the complete wait history
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["code", "would_run"])]
    journal: Option<PathBuf>,
    /// Print the complete answer as JSON, like `-o json`
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// Kinds of remedies to search for: `all`, `none`, or some of `wait`, `resume`, `raise`, `release`, `shrink`, `add`, and `move`
    #[arg(long, value_name = "KINDS", default_value = "all")]
    remedies: String,
    /// Also predict the outcome if the asks ahead start first, with and without each remedy
    #[arg(long)]
    in_turn: bool,
    /// Show the complete wait history from the journal of the server, not only the last changes since the server
    /// started
    #[arg(long, conflicts_with_all = ["code", "would_run", "journal"])]
    history: bool,
    #[command(flatten)]
    remote: Remote,
}

/// Maximum length of the first line, in characters.
const LINE_MAX: usize = 100;

impl Explain {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        if let Some(code) = &self.code {
            return output::print(page_of(code)?);
        }
        let subject = self.subject.as_deref().unwrap_or_default();
        let partition = &self.remote.partition;
        let remedies = Some(self.remedies.as_str()).filter(|kinds| *kinds != "none");
        let sought =
            Sought { remedies, in_turn: self.in_turn, preemption: true, all_changes: self.history };
        let wanted = self.wanted.body()?;
        if let Some(folder) = &self.journal {
            return self.show(&journal::explained(folder, partition, subject, sought)?);
        }
        if let Some(pod) = &self.pod {
            ensure!(subject == "pod", "write `headroom explain pod {pod}`");
            let parts = pod.split_once('/').unwrap_or(("default", pod));
            let found = self
                .remote
                .ask(async |client| Ok(client.explain_pod(partition, parts, sought).await?))?;
            return self.show(&found);
        }
        let found = self.remote.ask(async |client| {
            if let Some(wanted) = &wanted {
                return Ok(client.explain_would_run(partition, wanted, sought).await?);
            }
            let Some(parts) = subject.split_once('/') else {
                return Ok(client.explain_application(partition, subject, sought).await?);
            };
            match client.explain_ask(partition, parts, sought).await {
                // An ID can contain a slash.
                Err(why) if why.status() == Some(404) => {
                    let whole = client.explain_application(partition, subject, sought).await;
                    Ok(whole.map_err(|_| why)?)
                }
                found => Ok(found?),
            }
        })?;
        self.show(&found)
    }

    fn show(&self, found: &Explanation) -> Result<()> {
        let format = if self.json { Format::Json } else { self.remote.output };
        match format {
            Format::Table => output::print(&output::printable_lines(&shown(found, self.history))),
            Format::Json | Format::Yaml | Format::Csv => {
                output::print(&listing(found)?.render(format)?)
            }
        }
    }
}

/// Returns the whole explanation for programs, with one row for each check.
fn listing(found: &Explanation) -> Result<Listing> {
    const COLUMNS: [&str; 9] =
        ["CHECK", "VERDICT", "LETTER", "SCOPE", "TYPE", "LIMIT", "USED", "ASKED", "SHORT"];
    let mut listing = Listing::new(&COLUMNS, found)?;
    for check in &found.checks {
        let verdict = match check.verdict {
            CheckVerdict::Passed => "passed",
            CheckVerdict::Failed => "failed",
        };
        let resource = check.resource.as_deref().unwrap_or_default();
        let amount = |units: Option<i64>| match units {
            Some(units) if resource.is_empty() => units.to_string(),
            units => exact(resource, units.as_ref()),
        };
        listing.row([
            check.id.clone(),
            verdict.to_owned(),
            check.letter.clone().unwrap_or_default(),
            check.scope.clone(),
            resource.to_owned(),
            amount(check.limit),
            amount(check.used),
            amount(check.asked),
            amount(check.short),
        ]);
    }
    Ok(listing)
}

/// Returns the page of a code.
fn page_of(code: &str) -> Result<&'static str> {
    if let Some(page) = pages::page(code) {
        return Ok(page);
    }
    let hint = match pages::near(code) {
        Some(near) => format!("Did you mean {near}?"),
        None => String::from("docs/errors lists all codes."),
    };
    bail!("the code {code:?} does not exist. {hint}")
}

/// Returns the answer in one line. Adds the cheapest remedy if the line stays short enough.
fn first_line(found: &Explanation) -> String {
    let remedy = found.remedies.as_ref().and_then(|all| all.items.first());
    // No change is needed if the ask starts without one, and no change helps if the ask waits for the head of line.
    let remedy = remedy.filter(|_| by_itself(found).is_none() && !is_behind_a_head(found));
    let with = remedy.map(|one| format!("{}; {}", found.line, one.edits.join(", ")));
    let fits = with.filter(|line| line.chars().count() <= LINE_MAX);
    let kind = || remedy.map(|one| format!("{}; {}", found.line, helpful(found, &one.kind)));
    let short = || kind().filter(|line| line.chars().count() <= LINE_MAX);
    fits.or_else(short).unwrap_or_else(|| found.line.clone())
}

/// Returns what happens without a change. `None` if nothing is in progress.
fn by_itself(found: &Explanation) -> Option<&'static str> {
    match &*found.blocked_by.first()?.id {
        "PREEMPTION_PENDING" => {
            Some("no change is needed: the ask starts after the preempted allocations have stopped")
        }
        "BACKOFF" => {
            Some("no change is needed: the scheduler checks the ask again after the pause")
        }
        "RECOVERING" => {
            Some("no change is needed: the scheduler checks the ask after the nodes have reported")
        }
        "RM_AWAY" => Some(
            "no change is needed: the scheduler checks the ask after the resource manager reconnects",
        ),
        _ => None,
    }
}

/// Returns whether the ask waits for the head of line of its leaf.
fn is_behind_a_head(found: &Explanation) -> bool {
    let first = found.blocked_by.first().map(|check| &*check.id);
    matches!(first, Some("BEHIND_HEAD" | "HELD_FOR_HEAD"))
}

/// Returns the kind of change that helps. Used if the change itself does not fit in the line.
fn helpful(found: &Explanation, kind: &str) -> String {
    let code = found.blocked_by.first().and_then(|check| WaitCode::of_text(&check.id));
    let suspended = code == Some(WaitCode::TenantSuspended);
    let words = match kind {
        "wait" => "wait",
        "resume" => "resume the tenant",
        "move" => "move the ask",
        // Without this change, no other change starts the ask.
        _ if suspended => "resume the tenant, and more",
        "raise" if code.is_some_and(WaitCode::is_quota) => "raise the quota",
        "raise" => "raise the limit",
        "release" => "a release helps",
        "shrink" => "request less",
        "add" => "add nodes",
        other => return format!("{other} helps"),
    };
    words.to_owned()
}

/// Returns the first line and the evidence. The wait history follows if `history` is set or the wait reason has
/// changed.
fn shown(found: &Explanation, history: bool) -> String {
    let mut text = first_line(found) + "\n";
    // Writing to a string cannot fail.
    let _ = writeln!(text);
    if let Some(starts) = found.would_start {
        let members = if starts == 1 { "member" } else { "members" };
        let _ = writeln!(text, "not submitted; {starts} {members} would start immediately");
    }
    if let Some(pod) = &found.pod {
        let _ = writeln!(text, "pod {}/{}", pod.namespace, pod.name);
    }
    let what = found.ask.as_ref().map_or_else(String::new, |ask| format!(", ask {ask}"));
    let size = resources(&found.resources);
    let size = if size.is_empty() { size } else { format!(": {size}") };
    let whose = if found.user.is_empty() {
        String::new()
    } else {
        format!(" of {} in {}", found.user, found.queue)
    };
    let _ = writeln!(text, "application {}{what}{whose}{size}", found.application);
    if let (Some(position), Some(of)) = (found.position, found.of) {
        let ahead = found.ahead.unwrap_or_default();
        let whole = found.ahead_in_partition.unwrap_or_default();
        let _ = writeln!(
            text,
            "position {position} of {of} in its queue; asks ahead: {ahead} in the queue, {whole} in the \
             partition"
        );
    }
    // The first line has the time of the end.
    if let Some(since) = found.since.filter(|_| found.state != ExplainedState::Ended) {
        let _ = writeln!(text, "since {since}");
    }
    if let Some(sentence) = &found.sentence {
        let _ = writeln!(text, "{sentence}");
    }
    if let Some(hold) = &found.hold {
        let _ = writeln!(text, "{}", of_hold(hold));
    }
    if !found.checks.is_empty() {
        let _ = writeln!(text, "\nchecks, in order");
        found.checks.iter().for_each(|check| of_check(&mut text, check));
    }
    if let Some(pod) = &found.pod {
        pod::show(&mut text, pod);
    }
    if history || found.history.len() > 1 {
        let _ = writeln!(text, "\nwait history");
        if found.history.is_empty() {
            let _ = writeln!(text, "  no wait reasons in the stored journal");
        }
        for change in &found.history {
            let _ = writeln!(text, "  {}: {} (record {})", change.at, change.id, change.sequence);
        }
    }
    if let Some(preemption) = &found.preemption {
        of_preemption(&mut text, preemption);
    }
    if let Some(remedies) = &found.remedies {
        of_remedies(&mut text, (found, remedies));
    }
    let _ = writeln!(text, "\nas of record {}, {}", found.stamp.sequence, found.stamp.as_of);
    text
}

fn of_check(text: &mut String, check: &ExplainedCheck) {
    let mark = if check.verdict == CheckVerdict::Failed { "✗" } else { "✓" };
    let letter = check.letter.as_ref().map_or_else(String::new, |letter| format!(" ({letter})"));
    let _ = write!(text, "  {mark} {}{letter} {}", check.id, check.scope);
    let name = check.resource.as_deref();
    let all =
        [check.limit.map(|limit| limit.max(0)), check.used, check.asked, check.short, check.hidden];
    let all = all.into_iter().flatten().chain(check.holders.iter().map(|holder| holder.amount));
    let all: Vec<Quantity> = all.map(Quantity::of).collect();
    // Applications are counted.
    let unit = Unit::of(name.unwrap_or("applications"), &all);
    let of = |amount: i64| unit.write(Quantity::of(amount));
    if let (Some(limit), Some(asked)) = (check.limit, check.asked) {
        let what = name.unwrap_or("applications");
        // The limit can be negative because of a head of line or a lowered bound. Then 0 is shown.
        let limit = of(limit.max(0));
        let both = match check.used {
            // For this check, `limit` is the amount of the best node.
            _ if check.id == "NO_NODE_FITS" => format!("at most {limit} on one node"),
            Some(used) => format!("{} of {limit}", of(used)),
            None => limit,
        };
        let _ = write!(text, ": {what} {both}, asked {}", of(asked));
    }
    if let Some(short) = check.short.filter(|short| *short > 0) {
        let _ = write!(text, ", short {}", of(short));
    }
    let _ = writeln!(text);
    for CheckHolder { application, user, amount } in &check.holders {
        let _ = if *amount == 0 {
            writeln!(text, "      {application} of {user} is next")
        } else {
            writeln!(text, "      {application} of {user} has {}", of(*amount))
        };
    }
    if let Some(hidden) = check.hidden {
        let _ = writeln!(text, "      others have {}", of(hidden));
    }
    if let Some(nodes) = &check.nodes {
        of_nodes(text, nodes);
    }
}

fn of_nodes(text: &mut String, nodes: &NodesLookedAt) {
    // A newer server can send a reason that this program does not know.
    let reason_text = |why: &str| NodeReason::of_word(why).map(NodeReason::text);
    let refused = nodes.refused.iter();
    let refused = refused
        .map(|(why, count)| format!(", {count} {}", reason_text(why).unwrap_or(why.as_str())));
    let refused: String = refused.collect();
    let _ = writeln!(text, "      {} of {} nodes fit{refused}", nodes.fitting, nodes.looked_at);
    for miss in &nodes.nearest {
        let _ = writeln!(text, "      {} lacks {}", miss.node, resources(&miss.lacks));
    }
}

/// Returns a sentence about the capacity that queues hold for the ask.
fn of_hold(hold: &ExplainedHold) -> String {
    let ExplainedHold { queue, since, until } = hold;
    let holder = queue.as_ref().map_or("an ancestor queue".into(), |path| format!("queue {path}"));
    format!(
        "{holder} has held capacity for the ask since {since}. The hold ends at {until} at the latest."
    )
}

/// Writes what preemption would do for the ask.
fn of_preemption(text: &mut String, found: &ExplainedPreemption) {
    let _ = writeln!(text, "\npreemption (first attempt at {})", found.from);
    let _ = writeln!(text, "  {}", found.sentence);
    for victim in &found.victims {
        let PreemptionVictim { application, allocation, pod, queue, user, resources: size } =
            victim;
        let (name, size) = (pod.as_ref().unwrap_or(allocation), resources(size));
        let _ = writeln!(text, "  {name} of {application}, {user} in {queue} ({size})");
    }
    if found.hidden > 0 {
        let _ = writeln!(text, "  {} more, which you are not allowed to see", found.hidden);
    }
    if let Some(tried) = found.tried {
        let _ = writeln!(text, "  last attempt at {tried}");
    }
}

/// Returns the outcome after the asks ahead have started.
const fn outcome(turn: InTurn) -> &'static str {
    match turn {
        InTurn::Starts => "the ask starts",
        InTurn::Waits => "the ask continues to wait",
        InTurn::Unknown => "the search reached its time limit",
    }
}

/// Returns when the ask starts without changes. `None` if a change is needed.
const fn starts_when(remedies: &Remedies) -> Option<&'static str> {
    if remedies.starts_alone {
        Some("when the ask is next, if the asks ahead leave enough capacity")
    } else if remedies.starts_once_accepted {
        Some("after a node has passed the predicates of the ask")
    } else {
        None
    }
}

/// Returns a change after its kind. Omits the kind if the change begins with this word.
fn said_once(kind: &str, edits: &str) -> String {
    let again = edits.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' '));
    if again { edits.to_owned() } else { format!("{kind}: {edits}") }
}

fn of_remedies(text: &mut String, (found, remedies): (&Explanation, &Remedies)) {
    let when = starts_when(remedies);
    if let Some(when) = when {
        let _ = writeln!(text, "\nwithout changes, the ask starts {when}");
    }
    if let Some(turn) = remedies.in_turn {
        let _ =
            writeln!(text, "without changes, after the asks ahead have started: {}", outcome(turn));
    }
    if when.is_some() {
        return;
    }
    let coming = by_itself(found);
    if let Some(coming) = coming {
        let _ = writeln!(text, "\n{coming}");
    }
    if coming.is_none() || !remedies.items.is_empty() {
        let sooner = if coming.is_some() { " sooner" } else { "" };
        let next = if found.ahead_in_partition.is_some_and(|ahead| ahead > 0) {
            " if it were next"
        } else {
            ""
        };
        let _ = writeln!(text, "\nchanges that would start the ask{sooner}{next}");
    }
    for one in &remedies.items {
        let mut about =
            String::from(if one.exact { "" } else { " (a smaller change may suffice)" });
        if let Some(turn) = one.in_turn {
            let _ = write!(about, "; after the asks ahead: {}", outcome(turn));
        }
        let _ = writeln!(text, "  {}{about}", said_once(&one.kind, &one.edits.join(", ")));
    }
    if coming.is_none() && remedies.items.is_empty() {
        let _ = writeln!(text, "  the search found no change that starts the ask");
    }
    if remedies.hidden > 0 {
        let _ = writeln!(text, "  {} more, which you are not allowed to see", remedies.hidden);
    }
    if remedies.ran_out {
        let _ = writeln!(text, "  the search reached its time limit, so there may be more");
    }
}
