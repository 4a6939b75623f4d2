//! From the files of YARN's `CapacityScheduler` to a queue file.
//!
//! [`convert`] reads `capacity-scheduler.xml`, and `yarn-site.xml` where it is given, and writes a
//! queue file that means the same as far as that goes. Each property ends in the queue file or in
//! a [`Note`] that says why not and what to do; nothing is dropped in silence.
//!
//! `xml` takes the files apart, `properties` knows what each property is in the end, `tree` finds
//! the queues, and `scope` is the way to the properties of one of them. `queue`, `capacity`,
//! `limits`, `template` and `placement` convert, each its part; `known` says why the others
//! cannot be converted, and `write` makes the text.
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

/// How large one file may be, in bytes.
pub const YARN_BYTES_MAX: usize = 8 << 20;

/// One file, with the name under which messages speak of it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// As the user calls it.
    pub name: &'s str,
    /// What stands in it.
    pub text: &'s str,
}

/// Why files could not be converted at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// It is no configuration of Hadoop.
    #[error("line {line}: {why}")]
    Xml {
        /// Where, from 1.
        line: usize,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It is larger than [`YARN_BYTES_MAX`].
    #[error("the file has {found} bytes, but a file to convert can have at most {YARN_BYTES_MAX}")]
    TooLarge {
        /// Its size in bytes.
        found: usize,
    },
    /// One of several files cannot be read; the cause says why.
    #[error("cannot convert {name}")]
    File {
        /// The file.
        name: String,
        /// What is wrong with it.
        #[source]
        source: Box<ConvertError>,
    },
    /// There is no queue to convert.
    #[error(
        "no file has the property yarn.scheduler.capacity.root.queues, so there are no queues. \
         Pass the capacity-scheduler.xml of the cluster"
    )]
    NoQueues,
    /// Queues nest deeper than a queue file may.
    #[error("queue {path} is more than {} levels below root, which is the limit", tree::LEVELS_MAX)]
    TooDeep {
        /// The queue.
        path: String,
    },
}

/// What came of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The queue file, with the notes as comments.
    pub text: String,
    /// What is not in it, or not literally: first what is for the whole cluster, then queue by
    /// queue in the order of the file.
    pub notes: Vec<Note>,
}

/// Convert files. What a later file says of a property goes before what an earlier one says.
///
/// With `smooth` users share their queues by Headroom's own formula; with the others they have the
/// limits that they have in `CapacityScheduler`.
///
/// # Errors
/// [`ConvertError`], when a file cannot be read or there is no queue. A property that cannot be
/// converted is a note and no error.
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
    // A property that was looked at for several queues is reported once.
    notes.dedup();
    let text = write::file(files, file, &notes);
    Ok(Converted { text, notes })
}

/// What is for all queues.
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

/// Whether queues take back what they are guaranteed: a monitor does that in YARN, if it is there.
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

/// Whether preemption is among the monitors; it is where no file names them.
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

/// Whether access lists hold: in YARN only if a property enables them, here always.
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
