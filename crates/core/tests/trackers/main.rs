//! Limits of users and groups, and what is counted for them: the worked examples of queues and
//! limits §11, the corner cases of §12, the scenes that were asked for, and a model to compare with.
//!
//! A scene is configured with queues and limits as text: `root.q user ann,* group dev memory=3
//! apps=1`, one limit a line. Amounts are in core units; an amount of nothing is the empty text.

mod alone;
mod by_itself;
mod corner_cases;
mod examples;
mod model;
mod reload;
mod scenes;

use headroom_core::books::tracker::TrackerKind;
use headroom_core::books::{Application, Books, Level, Partition};
use headroom_core::config::{Configuration, LimitPrecedence, QueueConfig};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use headroom_core::resource::{Amounts, Quantity, Resources};
use headroom_core::testkit::{World, leaf, limit, parent, partition};
use headroom_core::{AddNode, AllocationEvent, Ask, Command, Event, Name, Submit, Termination};

const USER: TrackerKind = TrackerKind::User;
const GROUP: TrackerKind = TrackerKind::Group;

/// A cluster with room for everything, in which only limits hold anybody back.
struct Scene {
    world: World,
    queues: &'static str,
    precedence: LimitPrecedence,
    partition: Name,
}

impl Scene {
    fn new(queues: &'static str, limits: &str) -> Self {
        Self::with(queues, limits, LimitPrecedence::Both)
    }

    fn with(queues: &'static str, limits: &str, precedence: LimitPrecedence) -> Self {
        let partition = Name::new("default");
        let mut scene = Self { world: World::default(), queues, precedence, partition };
        scene.configure(limits);
        scene.add_node("n1");
        scene
    }

    fn add_node(&mut self, node: &str) {
        self.command(&Command::AddNode(AddNode {
            partition: self.partition.clone(),
            node: Name::new(node),
            capacity: amounts("memory=1000000 vcore=1000000"),
            schedulable: true,
            ..AddNode::default()
        }));
    }

    /// Take a queue file with these limits into force.
    fn configure(&mut self, limits: &str) {
        let mut file = configuration(self.queues, limits);
        file.partitions[0].limit_precedence = self.precedence;
        self.command(&Command::Configure(Box::new(file)));
    }

    /// Carry a legal command out, and let the scheduler move; what happened.
    fn command(&mut self, command: &Command) -> Vec<Event> {
        let mut events = self.world.command(command).unwrap_or_else(|refusal| panic!("{refusal}"));
        self.check();
        events.extend(self.world.settle());
        self.check();
        events
    }

    fn apply(&mut self, event: &Event) {
        self.world.apply(event);
        self.check();
    }

    fn check(&self) {
        self.world.books.check().unwrap_or_else(|violation| panic!("{violation}"));
    }

    fn app(&mut self, name: &str, queue: &str, user: &str, groups: &[&str]) {
        self.command(&Command::Submit(Submit {
            partition: self.partition.clone(),
            application: Name::new(name),
            queue: Name::new(queue),
            user: Name::new(user),
            groups: groups.iter().map(Name::new).collect(),
            ..Submit::default()
        }));
    }

    /// Ask; whether it was placed at once.
    fn ask(&mut self, key: &str, application: &str, resources: &str) -> bool {
        self.command(&Command::Ask(Ask {
            partition: self.partition.clone(),
            application: Name::new(application),
            key: Name::new(key),
            resources: amounts(resources),
            ..Ask::default()
        }));
        self.is_placed(key)
    }

    fn is_placed(&self, key: &str) -> bool {
        !self.books().allocation(self.allocation(key)).is_pending()
    }

    fn release(&mut self, application: &str, key: &str) {
        self.command(&Command::Release {
            partition: self.partition.clone(),
            application: Name::new(application),
            key: Some(Name::new(key)),
            termination: Termination::StoppedByRm,
        });
    }

    fn resize(&mut self, key: &str, resources: &str) {
        let (allocation, resources) = (self.allocation(key), amounts(resources));
        self.apply(&Event::Allocation(AllocationEvent::Resized { allocation, resources }));
    }

    fn remove(&mut self, application: &str) {
        let (partition, application) = (self.partition.clone(), Name::new(application));
        self.command(&Command::RemoveApplication { partition, application });
    }

    const fn books(&self) -> &Books {
        &self.world.books
    }

    fn partition_id(&self) -> PartitionId {
        self.books().partition_named(&self.partition).expect("a scene names what is there")
    }

    fn here(&self) -> &Partition {
        self.books().partition(self.partition_id())
    }

    fn allocation(&self, key: &str) -> AllocationId {
        self.here().allocations.get(key).copied().expect("a scene names what is there")
    }

    fn application_id(&self, name: &str) -> ApplicationId {
        self.here().applications.get(name).copied().expect("a scene names what is there")
    }

    fn application(&self, name: &str) -> &Application {
        self.books().application(self.application_id(name))
    }

    fn queue(&self, path: &str) -> QueueId {
        self.here().queues.get(path).copied().expect("a scene names what is there")
    }

    fn text(&self, resources: &Resources) -> String {
        let one = |(resource, amount): (_, Quantity)| {
            format!("{}={}", self.books().types().name(resource), amount.get())
        };
        resources.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// What an application may still use by the limits, `unlimited` if there is none.
    fn headroom(&self, application: &str) -> String {
        let headroom = self.books().user_headroom(self.application_id(application));
        headroom.map_or_else(|| "unlimited".into(), |headroom| self.text(&headroom))
    }

    fn level(&self, kind: TrackerKind, name: &str, queue: &str) -> Option<Level<'_>> {
        let trackers = &self.here().trackers;
        Some(trackers.level(trackers.level_of(kind, name, self.queue(queue))?))
    }

    /// What is charged at a queue, `none` where there is no level.
    fn used(&self, kind: TrackerKind, name: &str, queue: &str) -> String {
        self.level(kind, name, queue)
            .map_or_else(|| "none".into(), |level| self.text(&level.used()))
    }

    /// The limit in force at a queue: `memory=10 apps=2`, with `*` where it is that of all others.
    fn limit(&self, kind: TrackerKind, name: &str, queue: &str) -> String {
        let Some(level) = self.level(kind, name, queue) else { return "none".into() };
        let max = level.max().map(|max| self.text(max));
        let apps =
            (level.max_applications() > 0).then(|| format!("apps={}", level.max_applications()));
        let star = level.from_wildcard.then(|| "*".into());
        [max, apps, star].into_iter().flatten().collect::<Vec<String>>().join(" ")
    }

    /// The group that counts for an application.
    fn group(&self, application: &str) -> Option<&str> {
        let level = self.application(application).link?.group.level()?;
        let trackers = &self.here().trackers;
        Some(&*trackers.tracker(trackers.level(level).tracker).name)
    }

    /// All users or groups with a tracker.
    fn tracked(&self, kind: TrackerKind) -> Vec<&str> {
        self.here().trackers.names(kind).iter().map(|(name, _)| &**name).collect()
    }
}

/// Amounts as `memory=3 vcore=2`.
fn amounts(text: &str) -> Amounts {
    let mut all = Amounts::EMPTY;
    for entry in text.split_whitespace() {
        let (name, amount) = entry.split_once('=').expect("amounts are `type=amount`");
        all.set(name, Quantity::of(amount.parse().expect("amounts are whole")));
    }
    all
}

/// A file with these queues, given by the paths of the leaves, and these limits.
fn configuration(leaves: &str, limits: &str) -> Configuration {
    let mut root = parent("root", Vec::new());
    for path in leaves.split_whitespace() {
        queue_at(&mut root, path);
    }
    for line in limits.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let queue = queue_at(&mut root, words.remove(0));
        let mut names = |kind: &str| -> Vec<&str> {
            let Some(at) = words.iter().position(|word| *word == kind) else { return Vec::new() };
            let named = words[at + 1].split(',').collect();
            words.drain(at..at + 2);
            named
        };
        let (users, groups) = (names("user"), names("group"));
        let (counts, sizes): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|word| word.starts_with("apps="));
        let apps = counts
            .first()
            .map_or(0, |word| word["apps=".len()..].parse().expect("a count is whole"));
        queue.limits.push(limit(&users, &groups, amounts(&sizes.join(" ")), apps));
    }
    partition(root)
}

fn queue_at<'tree>(root: &'tree mut QueueConfig, path: &str) -> &'tree mut QueueConfig {
    let mut at = root;
    for name in path.split('.').skip(1) {
        let known = at.children.iter().position(|child| child.name == name);
        let position = known.unwrap_or_else(|| {
            at.children.push(leaf(name));
            at.children.len() - 1
        });
        at = &mut at.children[position];
    }
    at
}
