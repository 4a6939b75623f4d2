//! The queue tree as a list, so that advice needs no further traversal.

use headroom_core::resource::Amounts;

use crate::check::names::{QUEUE_NAME_MAX, is_group_name, is_user_name};
use crate::raw::Queue;
use crate::vector::Vector;

/// All queues of a partition: each before its children, and children in file order.
pub(super) struct Survey<'a> {
    places: Vec<Place<'a>>,
    /// Total of the nodes. `None` if unknown.
    nodes: Option<Vector>,
}

/// One queue with precomputed data.
pub(super) struct Place<'a> {
    pub(super) queue: &'a Queue,
    /// Position of the parent.
    pub(super) above: Option<usize>,
    /// Position after the last descendant.
    pub(super) end: usize,
    /// Maximum of this queue alone. One with only zeros counts as none.
    pub(super) max: Vector,
    /// Users who can submit according to the queue's own access lists.
    pub(super) grants: Grants<'a>,
}

/// Users and groups in an access list.
#[derive(Default)]
pub(super) struct Grants<'a> {
    pub(super) everybody: bool,
    /// Whether a list is refused, so that its content is unknown.
    pub(super) unknown: bool,
    pub(super) users: Vec<&'a str>,
    pub(super) groups: Vec<&'a str>,
}

impl Grants<'_> {
    pub(super) fn nobody(&self) -> bool {
        !self.everybody && !self.unknown && self.users.is_empty() && self.groups.is_empty()
    }
}

impl<'a> Survey<'a> {
    pub(super) fn of(root: &'a Queue, nodes: Option<&Amounts>) -> Self {
        let nodes = nodes.map(|nodes| Vector::at(root.name.span, nodes));
        let mut survey = Self { places: Vec::new(), nodes };
        survey.add(root, None);
        survey
    }

    fn add(&mut self, queue: &'a Queue, above: Option<usize>) {
        let position = self.places.len();
        let max = Vector::of(queue.resources.max.as_ref());
        let mut grants = Grants::default();
        for acl in [&queue.admin_acl, &queue.submit_acl] {
            add_grants(&acl.value, &mut grants);
        }
        self.places.push(Place {
            queue,
            above,
            end: 0,
            max: if max.is_zero() { Vector::default() } else { max },
            grants,
        });
        for child in &queue.children {
            self.add(child, Some(position));
        }
        self.places[position].end = self.places.len();
    }

    /// Returns the total of the nodes, with the place of the root queue. `None` if the total is unknown.
    pub(super) const fn nodes(&self) -> Option<&Vector> {
        self.nodes.as_ref()
    }

    pub(super) fn get(&self, position: usize) -> &Place<'a> {
        &self.places[position]
    }

    /// Returns every queue with its position.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Place<'a>)> {
        self.places.iter().enumerate()
    }

    /// Returns the queue and its ancestors, up to root.
    pub(super) fn path(&self, position: usize) -> impl Iterator<Item = (usize, &Place<'a>)> {
        let positions = std::iter::successors(Some(position), |at| self.places[*at].above);
        positions.map(|at| (at, &self.places[at]))
    }

    /// Returns the path, such as `root.sales.eu`. Names that are too long are truncated to the valid length.
    pub(super) fn name(&self, position: usize) -> String {
        let legal = |name: &str| name.chars().take(QUEUE_NAME_MAX).collect::<String>();
        let mut names: Vec<String> =
            self.path(position).map(|(_, place)| legal(&place.queue.name.value)).collect();
        names.reverse();
        names.join(".").to_lowercase()
    }
}

impl Place<'_> {
    pub(super) fn is_parent(&self) -> bool {
        self.queue.parent || !self.queue.children.is_empty()
    }
}

/// Returns the two parts of an access list: users and groups. `None` if the list is refused.
pub(super) fn parts_of(acl: &str) -> Option<(&str, &str)> {
    let (users, groups) = acl.split_once(' ').unwrap_or((acl, ""));
    (!groups.contains(' ')).then_some((users, groups))
}

fn add_grants<'a>(acl: &'a str, grants: &mut Grants<'a>) {
    let Some((users, groups)) = parts_of(acl) else {
        grants.unknown = true;
        return;
    };
    if users == "*" || groups == "*" || acl.trim() == "*" {
        grants.everybody = true;
        return;
    }
    grants.users.extend(users.split(',').filter(|name| is_user_name(name)));
    grants.groups.extend(groups.split(',').filter(|name| is_group_name(name)));
}
