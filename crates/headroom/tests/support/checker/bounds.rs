//! Everything that bounds what may run at once, and how much of it is in use.

use std::collections::BTreeMap;

use super::Amounts;
use super::queues::{Limit, Queue};
use super::tables::{Allocation, Node};

/// One bound.
struct Bound {
    what: String,
    /// None: unlimited.
    max: Option<Amounts>,
    /// Whether a type that it does not name is forbidden: a node has none of it.
    closed: bool,
    applications: Option<u64>,
    used: Amounts,
    /// Allocations held, by job.
    jobs: BTreeMap<String, u64>,
}

/// All of them, and which ones each allocation touches.
pub(super) struct Bounds {
    bounds: Vec<Bound>,
    touched: Vec<Vec<usize>>,
}

/// Bounds by what they bound.
type Known = BTreeMap<String, usize>;

impl Bounds {
    pub(super) fn new(
        queues: &BTreeMap<String, Queue>,
        nodes: &BTreeMap<String, Vec<Node>>,
        allocations: &[Allocation],
    ) -> Self {
        let mut all = Self { bounds: Vec::new(), touched: Vec::new() };
        let mut known = Known::new();
        for one in allocations {
            let node = &nodes[&one.node][0];
            let mut touched = vec![all.bound(&mut known, format!("node {}", one.node), |bound| {
                bound.max = Some(node.resources.clone());
                bound.closed = true;
            })];
            let group = group_for(queues, one);
            for path in up(&one.queue) {
                let Some(queue) = queues.get(path) else {
                    panic!("{} is in queue {path}, which is unknown", one.name)
                };
                touched.push(all.bound(&mut known, format!("queue {path}"), |bound| {
                    bound.max.clone_from(&queue.max);
                    bound.applications = queue.applications;
                }));
                if let Some(limit) = limit_of_user(queue, &one.user) {
                    let what = format!("user {} at {path}", one.user);
                    touched.push(all.limit(&mut known, what, limit));
                }
                let of_group = group.and_then(|group| Some((group, limit_of_group(queue, group)?)));
                if let Some((group, limit)) = of_group {
                    touched.push(all.limit(&mut known, format!("group {group} at {path}"), limit));
                }
            }
            all.touched.push(touched);
        }
        all
    }

    fn limit(&mut self, known: &mut Known, what: String, limit: &Limit) -> usize {
        self.bound(known, what, |bound| {
            bound.max.clone_from(&limit.max);
            bound.applications = limit.applications;
        })
    }

    fn bound(&mut self, known: &mut Known, what: String, set: impl FnOnce(&mut Bound)) -> usize {
        if let Some(position) = known.get(&what) {
            return *position;
        }
        let mut bound = Bound {
            what: what.clone(),
            max: None,
            closed: false,
            applications: None,
            used: Amounts::new(),
            jobs: BTreeMap::new(),
        };
        set(&mut bound);
        self.bounds.push(bound);
        known.insert(what, self.bounds.len() - 1);
        self.bounds.len() - 1
    }

    /// An allocation starts; the first bound that it exceeds.
    pub(super) fn start(&mut self, one: &Allocation, position: usize) -> Option<String> {
        let mut found = None;
        for bound in &self.touched[position] {
            let bound = &mut self.bounds[*bound];
            for (resource, amount) in &one.resources {
                *bound.used.entry(resource.clone()).or_default() += amount;
            }
            *bound.jobs.entry(one.job.clone()).or_default() += 1;
            found = found.or_else(|| bound.exceeded());
        }
        found
    }

    /// An allocation ends.
    pub(super) fn end(&mut self, one: &Allocation, position: usize) {
        for bound in &self.touched[position] {
            let bound = &mut self.bounds[*bound];
            for (resource, amount) in &one.resources {
                *bound.used.get_mut(resource).unwrap() -= amount;
            }
            let held = bound.jobs.get_mut(&one.job).unwrap();
            *held -= 1;
            if *held == 0 {
                bound.jobs.remove(&one.job);
            }
        }
    }

    /// The first bound that an allocation exceeds by itself.
    pub(super) fn alone(&self, one: &Allocation, position: usize) -> Option<String> {
        let bounds = self.touched[position].iter().map(|bound| &self.bounds[*bound]);
        bounds
            .filter_map(|bound| bound.over(&one.resources))
            .map(|found| format!("{} by itself: {found}", one.name))
            .next()
    }
}

impl Bound {
    fn exceeded(&self) -> Option<String> {
        let running = self.jobs.len() as u64;
        match self.applications {
            Some(most) if running > most => {
                Some(format!("{} has {running} of {most} applications", self.what))
            }
            _ => self.over(&self.used),
        }
    }

    fn over(&self, used: &Amounts) -> Option<String> {
        let max = self.max.as_ref()?;
        used.iter().find_map(|(resource, used)| {
            let most = match max.get(resource) {
                None if !self.closed => return None,
                most => most.copied().unwrap_or(0),
            };
            let over = *used > most;
            over.then(|| format!("{} has {resource} {used} of {most}", self.what))
        })
    }
}

/// A queue's path and those above it, the leaf first.
fn up(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(above, _)| above))
}

/// A user's own limit, or else that of everybody.
fn limit_of_user<'a>(queue: &'a Queue, user: &str) -> Option<&'a Limit> {
    let of =
        |name: &str| queue.limits.iter().find(|limit| limit.users.iter().any(|one| one == name));
    of(user).or_else(|| of("*"))
}

fn limit_of_group<'a>(queue: &'a Queue, group: &str) -> Option<&'a Limit> {
    queue.limits.iter().find(|limit| limit.groups.iter().any(|one| one == group))
}

/// The group that an allocation counts for: from the leaf up, the first level that limits the
/// user's group, or all others together as `*`.
fn group_for<'a>(queues: &BTreeMap<String, Queue>, one: &'a Allocation) -> Option<&'a str> {
    if one.group.is_empty() {
        return None;
    }
    up(&one.queue).filter_map(|path| queues.get(path)).find_map(|queue| {
        if limit_of_group(queue, &one.group).is_some() {
            Some(one.group.as_str())
        } else {
            limit_of_group(queue, "*").map(|_| "*")
        }
    })
}
