//! Converts the files of YARN's `CapacityScheduler` to a queue file.
//!
//! [`convert`] reads `capacity-scheduler.xml`, and optionally `yarn-site.xml`. It writes an equivalent queue file, as
//! far as this is possible. Each property is either in the queue file, or in a [`Note`] with the reason and an
//! alternative. No property is dropped silently.
//!
//! `xml` parses the files, `properties` determines the final value of each property, `tree` finds the queues, and
//! `scope` reads the properties of a queue. `queue`, `capacity`, `limits`, `template`, and `placement` each convert a
//! part. `known` has the reasons for other properties, and `write` creates the text.
//!
//! Source of the properties: the user guide of Hadoop 3.4, *Capacity Scheduler*.

mod capacity;
mod known;
mod label;
mod legacy;
mod limits;
mod note;
mod number;
mod placement;
mod properties;
mod queue;
mod rules;
mod scope;
mod template;
mod tree;
mod write;
mod xml;

use std::cell::RefCell;

use headroom_core::userlimit::Formula;

pub use note::{Kind, Note, Place};

use placement::Placement;
use properties::Properties;
use scope::Scope;
use tree::Tree;
use write::{Block, Pairs};

/// Largest size of one file, in bytes.
pub const YARN_BYTES_MAX: usize = 8 << 20;

/// One file, with its name in messages.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// Name of the file.
    pub name: &'s str,
    /// Text of the file.
    pub text: &'s str,
}

/// Reason why files could not be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The file is not a configuration of Hadoop.
    #[error("line {line}: {why}")]
    Xml {
        /// Line of the fault, from 1.
        line: usize,
        /// The problem, and an alternative.
        why: String,
    },
    /// The file is larger than [`YARN_BYTES_MAX`].
    #[error("the file has {found} bytes, but a file to convert can have at most {YARN_BYTES_MAX}")]
    TooLarge {
        /// Size of the file in bytes.
        found: usize,
    },
    /// One of several files cannot be read. The source is the reason.
    #[error("cannot convert {name}")]
    File {
        /// Name of the file.
        name: String,
        /// Reason why the file cannot be read.
        #[source]
        source: Box<ConvertError>,
    },
    /// The files have no queue to convert.
    #[error(
        "no file has the property yarn.scheduler.capacity.root.queues, so there are no queues. \
         Pass the capacity-scheduler.xml of the cluster"
    )]
    NoQueues,
    /// Queues nest deeper than in a queue file.
    #[error("queue {path} is more than {} levels below root, which is the limit", tree::LEVELS_MAX)]
    TooDeep {
        /// Path of the queue.
        path: String,
    },
}

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The queue file, with the notes as comments.
    pub text: String,
    /// Notes on properties that are missing or changed. Notes on the whole cluster are first. Notes on queues follow in
    /// the order of the file.
    pub notes: Vec<Note>,
}

/// Converts files. A property of a later file overrides the same property of an earlier file.
///
/// With `smooth`, users share their queues by the formula of Headroom. With the other formulas, users have the limits
/// of `CapacityScheduler`.
///
/// # Errors
/// [`ConvertError`], if a file cannot be read or has no queue. A property that cannot be converted causes a note, not
/// an error.
pub fn convert(files: &[Source<'_>], formula: Formula) -> Result<Converted, ConvertError> {
    let properties = Properties::read(files)?;
    let notes = RefCell::new(Vec::new());
    let whole = Scope::whole(&properties, &notes);
    let tree = Tree::read(&whole)?;
    let Placement { rules, closed } = Placement::of(&whole, &tree);
    let mut file = partition(&whole, formula, rules);
    file.push_block("queues", queue::root(&whole, &tree, formula, closed.as_deref()));
    for (property, variable) in properties.unresolved() {
        let why = format!("no file sets ${{{variable}}}");
        whole.tell(
            Kind::Adjusted,
            property,
            &why,
            "replace the variable with its value in the queue file",
        );
    }
    known::rest(&whole, &tree);
    for dropped in properties.dropped() {
        let name = dropped.what.strip_prefix(scope::PREFIX);
        match name.and_then(|name| tree.owner(name)) {
            Some((node, _)) => whole.queue(&node.path).tell_dropped(dropped),
            None => whole.tell_dropped(dropped),
        }
    }
    let mut notes = notes.into_inner();
    note::sort(&mut notes, &tree);
    // A property that was read for several queues is reported once.
    notes.dedup();
    let text = write::file(files, file, &notes);
    Ok(Converted { text, notes })
}

/// Returns the settings of all queues.
fn partition(whole: &Scope<'_>, formula: Formula, rules: Vec<Pairs>) -> Block {
    let mut block = Block::default();
    block.push("name", "default");
    block.push_pairs("preemption", preemption(whole));
    block.push_pairs("userlimits", limits::of_cluster(whole, formula));
    block.push_pairs("applicationlimits", limits::applications_of_cluster(whole));
    block.push_rules("placementrules", rules);
    access_lists(whole);
    block
}

/// Returns the settings of preemption. In YARN, an optional monitor preempts for guarantees.
fn preemption(whole: &Scope<'_>) -> Pairs {
    let monitor = whole.flag(known::MONITOR, false);
    let mut pairs = Pairs::default();
    if whole.get_full(known::MONITOR).is_none() {
        whole.tell_absent(
            known::MONITOR,
            "no file sets whether YARN preempts, so preemption is disabled, as by default in YARN",
            "pass yarn-site.xml as an argument too, or set `enabled: true`",
        );
    }
    let preempts = has_preemption(whole, monitor) && monitor;
    pairs.push("enabled", if preempts { "true" } else { "false" });
    for (name, key) in [
        ("observe_only", "observeonly"),
        ("intra-queue-preemption.enabled", "intraqueueenabled"),
        ("preemption-to-balance-queue-after-satisfied.enabled", "balance"),
    ] {
        if whole.flag(&format!("{}{name}", known::PREEMPTION), false) {
            pairs.push(key, "true");
        }
    }
    pairs
}

/// Returns whether preemption is among the monitors, which is the default.
fn has_preemption(whole: &Scope<'_>, monitor: bool) -> bool {
    const PREEMPTS: &str = "ProportionalCapacityPreemptionPolicy";
    let Some(property) = whole.get_full(known::POLICIES) else { return true };
    let monitors: Vec<_> =
        property.value.split(',').map(|class| class.trim().rsplit('.').next()).collect();
    let found = monitors.contains(&Some(PREEMPTS));
    if property.value == known::PREEMPTION_POLICY {
        return true; // The default, whether there are monitors or not.
    }
    let (kind, why) = match (monitor, found) {
        (false, _) => (Kind::NoEffect, format!("{} is not true", known::MONITOR)),
        (true, true) => (
            Kind::NoEquivalent,
            "Headroom has one preemption policy, so other monitors have no effect".to_owned(),
        ),
        (true, false) => (
            Kind::NoEquivalent,
            format!("the list does not contain {PREEMPTS}, so preemption is disabled, as in YARN"),
        ),
    };
    whole.tell(kind, property, &why, "see docs/preemption.md");
    found
}

/// Reports if access lists are disabled. In YARN, a property enables access lists, but in Headroom, they always apply.
fn access_lists(whole: &Scope<'_>) {
    const EVERYBODY: &str = "to give every user all permissions, set `submitacl: '*'` and \
                             `adminacl: '*'` in the root queue";
    let name = known::ACLS;
    let is_list = |name: &str| {
        name.ends_with(".acl_submit_applications") || name.ends_with(".acl_administer_queue")
    };
    let mut lists = whole.all().into_iter().filter(|(_, name)| is_list(name));
    let is_bound = lists.any(|(property, _)| property.raw.trim() != "*");
    if whole.flag(name, false) || !is_bound {
        return;
    }
    let Some(property) = whole.get_full(name) else {
        let why = "no file sets whether access lists apply, so YARN ignores them, but Headroom \
                   always applies access lists";
        return whole.tell_absent(name, why, EVERYBODY);
    };
    let why =
        "YARN ignores access lists with this setting, but Headroom always applies access lists";
    whole.tell(Kind::Adjusted, property, why, EVERYBODY);
}
