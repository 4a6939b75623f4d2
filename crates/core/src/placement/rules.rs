//! Placement rules, compiled once from the queue file.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::config::RuleConfig;
use crate::config::legal::is_queue_name;
use crate::name::Name;

use super::fault::{Fault, Miss, RuleError, Wrong, clip};
use super::filter::Filter;
use super::{Request, Tree};

/// Largest number of levels that a rule can add to the queues of the file. Paths of clients have no other limit, and
/// each level becomes a queue.
const LEVELS_MAX: usize = 128;

/// Compiled placement rules of a partition. Equal if their configuration is equal.
#[derive(Clone, Debug)]
pub struct Rules {
    written: Arc<[RuleConfig]>,
    built: Result<Vec<Rule>, RuleError>,
}

impl Rules {
    /// Compiles the rules. An empty list is one rule `provided` that creates no queue.
    ///
    /// # Errors
    ///
    /// Returns the first [`RuleError`] in the order of the list.
    pub fn compile(written: &[RuleConfig]) -> Result<Self, RuleError> {
        let rules = Self::in_force(written.into());
        match rules.error() {
            None => Ok(rules),
            Some(error) => Err(error.clone()),
        }
    }

    /// Compiles the rules. If that fails, no rule applies, and every application is rejected with the error.
    pub(crate) fn in_force(written: Arc<[RuleConfig]>) -> Self {
        let built = if written.is_empty() {
            Ok(vec![Rule { name: "provided", steps: vec![Step::provided()] }])
        } else {
            written.iter().enumerate().map(|(at, rule)| Rule::compile(at + 1, rule)).collect()
        };
        Self { written, built }
    }

    /// Returns the configuration of the rules.
    pub const fn written(&self) -> &Arc<[RuleConfig]> {
        &self.written
    }

    /// Returns the error if the rules cannot be compiled.
    pub fn error(&self) -> Option<&RuleError> {
        self.built.as_ref().err()
    }

    pub(super) fn built(&self) -> Result<&[Rule], &RuleError> {
        self.built.as_deref()
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

/// Source of the queue name of a rule.
#[derive(Clone, Debug)]
enum Source {
    Provided,
    User,
    /// Path in lower case. Without `root` unless it begins at the root.
    Fixed {
        path: String,
        qualified: bool,
    },
    Tag(Name),
    /// No queue: an application that passes the filter is rejected.
    Reject,
}

/// A rule, or one of its parent rules.
#[derive(Clone, Debug)]
struct Step {
    source: Source,
    create: bool,
    filter: Filter,
}

/// One rule with its parent rules.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The rule itself, its parent rule, the parent rule of that, and so on.
    steps: Vec<Step>,
}

/// Reason why a rule selects no queue.
pub(super) enum Stop {
    /// The next rule is tried.
    Miss(Miss),
    /// No other rule is tried.
    Fault(Fault),
}

/// Queue name of a step.
enum Named<'a> {
    /// A path that begins with `root`.
    Path(Cow<'a, str>),
    /// Levels under the parent queue.
    Below(Cow<'a, str>),
}

impl Rule {
    fn compile(number: usize, written: &RuleConfig) -> Result<Self, RuleError> {
        let mut steps = Vec::new();
        let mut next = Some(written);
        while let Some(one) = next {
            let step = Step::compile(one);
            let name = Name::new(&one.name);
            steps.push(step.map_err(|wrong| RuleError { number, name, wrong })?);
            next = one.parent.as_deref();
        }
        let name = match steps[0].source {
            Source::Provided => "provided",
            Source::User => "user",
            Source::Fixed { .. } => "fixed",
            Source::Tag(_) => "tag",
            Source::Reject => "reject",
        };
        Ok(Self { name, steps })
    }

    /// Returns the path that the rule selects, from `root` on and in the spelling of its input. The queue exists, or
    /// the rule can create it.
    pub(super) fn find(&self, tree: Tree<'_>, request: &Request<'_>) -> Result<String, Stop> {
        let mut path = "root".to_owned();
        let mut below = Vec::new();
        for step in &self.steps {
            match step.named(request)? {
                Named::Path(full) => {
                    path = full.into_owned();
                    step.stays(tree, &path)?;
                    break;
                }
                Named::Below(name) => below.push((step, name)),
            }
        }
        while let Some((step, name)) = below.pop() {
            if tree.is_leaf(&path) {
                return Err(Stop::Fault(Fault::BelowLeaf { path: clip(&path) }));
            }
            path = format!("{path}.{name}");
            step.stays(tree, &path)?;
        }
        let levels = path.matches('.').count();
        // Queues of the queue file can be deeper.
        if levels > LEVELS_MAX && levels - tree.managed_levels(&path) > LEVELS_MAX {
            return Err(Stop::Fault(Fault::TooDeep { levels, most: LEVELS_MAX }));
        }
        Ok(path)
    }
}

impl Step {
    /// Returns the rule that applies without configured rules.
    fn provided() -> Self {
        Self { source: Source::Provided, create: false, filter: Filter::everybody() }
    }

    fn compile(written: &RuleConfig) -> Result<Self, Wrong> {
        let source = match written.name.to_ascii_lowercase().as_str() {
            "provided" => Source::Provided,
            "user" => Source::User,
            "fixed" | "tag" if written.value.is_empty() => return Err(Wrong::NoValue),
            "fixed" => fixed(&written.value.to_lowercase(), written.parent.is_some())?,
            "tag" => Source::Tag(Name::from(written.value.to_lowercase())),
            "reject" => Source::Reject,
            "recovery" => return Err(Wrong::Recovery),
            _ => return Err(Wrong::Unknown),
        };
        let filter = Filter::compile(&written.filter)?;
        Ok(Self { source, create: written.create, filter })
    }

    /// Returns the queue name of the step, before its parent is known.
    fn named<'a>(&'a self, request: &Request<'a>) -> Result<Named<'a>, Stop> {
        let text = match &self.source {
            Source::Fixed { path, .. } => path,
            Source::User => request.user,
            Source::Provided => request.queue,
            Source::Tag(tag) => request.tag(tag).unwrap_or_default(),
            Source::Reject => "reject",
        };
        if text.is_empty() {
            return Err(Stop::Miss(match &self.source {
                Source::Tag(tag) => Miss::NoTag { tag: tag.clone() },
                Source::Provided | Source::User | Source::Fixed { .. } | Source::Reject => {
                    Miss::NoQueue
                }
            }));
        }
        if !self.filter.passes(request.user, request.groups) {
            let (user, groups) = (clip(request.user), request.groups.len());
            return Err(Stop::Miss(Miss::Filtered { user, groups }));
        }
        match &self.source {
            Source::Fixed { qualified: true, .. } => Ok(Named::Path(text.into())),
            Source::Fixed { .. } => Ok(Named::Below(text.into())),
            // A rule never rejects an application that already runs.
            Source::Reject if request.forced => Err(Stop::Miss(Miss::Forced)),
            Source::Reject => Err(Stop::Fault(Fault::Rejected)),
            Source::Provided | Source::Tag(_) if text.starts_with("root.") => {
                text.split('.').try_for_each(legal)?;
                Ok(Named::Path(text.into()))
            }
            Source::Provided | Source::Tag(_) | Source::User => {
                let name: Cow<'_, str> = if text.contains('.') {
                    text.replace('.', "_dot_").into()
                } else {
                    text.into()
                };
                legal(&name)?;
                Ok(Named::Below(name))
            }
        }
    }

    /// Checks whether the queue exists or the step can create it.
    fn stays(&self, tree: Tree<'_>, path: &str) -> Result<(), Stop> {
        if self.create || tree.find(path).is_some() {
            return Ok(());
        }
        Err(Stop::Miss(Miss::NotThere { path: clip(path) }))
    }
}

fn legal(element: &str) -> Result<(), Stop> {
    if is_queue_name(element) {
        return Ok(());
    }
    let length = element.chars().count();
    Err(Stop::Fault(Fault::Element { element: clip(element), length }))
}

fn fixed(path: &str, has_parent: bool) -> Result<Source, Wrong> {
    if let Some(element) = path.split('.').find(|element| !is_queue_name(element)) {
        return Err(Wrong::Element { element: clip(element) });
    }
    let qualified = path == "root" || path.starts_with("root.");
    if qualified && has_parent {
        return Err(Wrong::Parent);
    }
    Ok(Source::Fixed { path: path.to_owned(), qualified })
}
