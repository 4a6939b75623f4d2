//! The queues, and their names in a queue file.

use std::collections::BTreeMap;

use headroom_core::config::legal::{QUEUE_NAME_MAX, RECOVERY_QUEUE, is_queue_name};

use super::ConvertError;
use super::note::Kind;
use super::scope::Scope;

/// Maximum number of levels of queues below root.
pub(super) const LEVELS_MAX: usize = 64;

/// Number of characters of a name that are reserved for a number.
const NUMBER_MAX: usize = 8;

/// One queue.
#[derive(Debug)]
pub(super) struct Node {
    /// Path in YARN.
    pub(super) path: String,
    /// Name in the queue file.
    pub(super) name: String,
    /// Path in the queue file.
    pub(super) full: String,
    /// Children in the order of the file: indices in the tree.
    pub(super) children: Vec<usize>,
}

/// All queues. The first is root, and each is before its descendants.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    by_path: BTreeMap<String, usize>,
    /// Index by name. `None` if several queues have the name.
    by_name: BTreeMap<String, Option<usize>>,
    /// Index of the first queue below which queues are created.
    maker: Option<usize>,
}

impl Tree {
    /// Reads the queue tree.
    ///
    /// # Errors
    /// If no queue is set, or queues nest too deeply.
    pub(super) fn read(whole: &Scope<'_>) -> Result<Self, ConvertError> {
        let mut tree = Self {
            nodes: Vec::new(),
            by_path: BTreeMap::new(),
            by_name: BTreeMap::new(),
            maker: None,
        };
        tree.add(whole, "root".to_owned(), "root".to_owned(), "root".to_owned(), 0)?;
        if tree.nodes.len() == 1 && whole.queue("root").get("queues").is_none() {
            return Err(ConvertError::NoQueues);
        }
        tree.maker = tree.nodes.iter().position(|node| is_made_below(whole, node));
        Ok(tree)
    }

    /// Returns the first queue below which queues are created.
    pub(super) fn maker(&self) -> Option<&Node> {
        self.maker.map(|index| &self.nodes[index])
    }

    fn add(
        &mut self,
        whole: &Scope<'_>,
        path: String,
        name: String,
        full: String,
        level: usize,
    ) -> Result<usize, ConvertError> {
        if level > LEVELS_MAX {
            return Err(ConvertError::TooDeep { path });
        }
        let index = self.nodes.len();
        self.by_path.insert(path.clone(), index);
        let own = path.rsplit('.').next().unwrap_or(&path).to_owned();
        self.by_name.entry(own).and_modify(|only| *only = None).or_insert(Some(index));
        self.nodes.push(Node { path: path.clone(), name, full, children: Vec::new() });
        let scope = whole.queue(&path);
        let Some(property) = scope.get("queues") else { return Ok(index) };
        let mut taken = BTreeMap::new();
        for child in property.value.split(',').map(str::trim).filter(|child| !child.is_empty()) {
            let below = format!("{path}.{child}");
            if child.contains('.') || self.by_path.contains_key(&below) {
                let why = if child.contains('.') {
                    format!("`{child}` contains a dot, which a queue name cannot contain")
                } else {
                    format!("`{child}` occurs twice")
                };
                scope.tell(Kind::NoEquivalent, property, &why, "remove the entry from the list");
                continue;
            }
            let ours = legal_name(child, level, &mut taken);
            if !ours.eq_ignore_ascii_case(child) {
                let why = format!(
                    "`{child}` was renamed to `{ours}`, because queue names ignore case and have \
                     up to {QUEUE_NAME_MAX} ASCII letters, digits and _ : # / @ -"
                );
                scope.tell(Kind::Adjusted, property, &why, "submit to the new name");
            }
            let ours_full = format!("{}.{ours}", self.nodes[index].full);
            let child = self.add(whole, below, ours, ours_full, level + 1)?;
            self.nodes[index].children.push(child);
        }
        Ok(index)
    }

    pub(super) fn root(&self) -> &Node {
        &self.nodes[0]
    }

    pub(super) fn at(&self, path: &str) -> Option<&Node> {
        self.by_path.get(path).map(|index| &self.nodes[*index])
    }

    /// Returns the position of a queue in the file.
    pub(super) fn rank(&self, path: &str) -> usize {
        self.by_path.get(path).copied().unwrap_or(usize::MAX)
    }

    /// Returns the queue that a mapping selects: by its path, with or without `root`; by its name, if that is unique;
    /// or by its path below a queue with a unique name.
    pub(super) fn meant(&self, name: &str) -> Option<&Node> {
        let by_path = |path: &str| self.by_path.get(path).copied();
        let by_name = |name: &str| self.by_name.get(name).copied().flatten();
        let below = || {
            let (first, rest) = name.split_once('.')?;
            by_path(&format!("{}.{rest}", self.nodes[by_name(first)?].path))
        };
        let found = by_path(name).or_else(|| by_name(name)).or_else(below);
        found.map(|index| &self.nodes[index])
    }

    /// Returns the queue of a property, and the name of the property inside this queue. If several queues match,
    /// returns the queue with the longest path.
    pub(super) fn owner<'n>(&self, name: &'n str) -> Option<(&Node, &'n str)> {
        // No queue is deeper, so its path cannot end at a later dot.
        let dots = name.match_indices('.').map(|(at, _)| at).take(LEVELS_MAX + 1);
        let found = dots.filter_map(|at| Some((self.at(&name[..at])?, &name[at + 1..])));
        found.last()
    }
}

/// Returns whether queues are created below a queue.
pub(super) fn is_made_below(whole: &Scope<'_>, node: &Node) -> bool {
    let scope = whole.queue(&node.path);
    scope.own_flag("auto-create-child-queue.enabled", false)
        || scope.own_flag("auto-queue-creation-v2.enabled", false)
}

/// Returns a name that is valid in a queue file, and unique among siblings.
fn legal_name(written: &str, level: usize, taken: &mut BTreeMap<String, u32>) -> String {
    let is_reserved = |name: &str| level == 0 && name.eq_ignore_ascii_case(RECOVERY_QUEUE);
    let is_legal = |name: &str| is_queue_name(name) && !is_reserved(name);
    let mut name = written.to_owned();
    if !is_legal(&name) {
        let plain = |one: char| if is_queue_name(one.encode_utf8(&mut [0; 4])) { one } else { '_' };
        name = written.chars().map(plain).take(QUEUE_NAME_MAX - NUMBER_MAX).collect();
        if !is_legal(&name) {
            "queue".clone_into(&mut name);
        }
    }
    loop {
        let number = taken.entry(name.to_lowercase()).or_insert(0);
        *number += 1;
        if *number == 1 {
            return name;
        }
        let short: String = name.chars().take(QUEUE_NAME_MAX - NUMBER_MAX).collect();
        name = format!("{short}-{number}");
    }
}
