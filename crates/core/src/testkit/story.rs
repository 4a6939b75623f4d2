//! Stories: short scripts, and texts for their results.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::books::QueueSettings;
use crate::books::tracker::TrackerKind;
use crate::command::Command;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, QueueEvent, TenantEvent, Termination,
};
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::Resources;
use crate::rules::decide;
use crate::schedule::{Scheduler, Step};
use crate::wait::{TenantReason, TenantShort};

use super::World;
use super::effect::cycle_effect;
use super::moves::Move;
use super::part::{shown_part, shown_sizes};
use super::script::{Words, command, configuration, is_setting};
use super::watch::Watch;

/// Plays a story and returns a text of its results.
///
/// Lines of the configuration are at the beginning: `queue`, `limit`, `nodes`, `partition`, `preemption`, `rule`,
/// `tenants`. All others are commands. After each command, the scheduler runs until it is idle. The result has a line
/// with the effects of each command. Indented lines name the asks that wait from now on, with their reasons. Every
/// invariant is checked after every event.
///
/// ```text
/// queue root.a max vcore=4 guaranteed vcore=1 apps=2 fair ignore-priority
/// queue root.p parent submit ann,bob|dev admin |ops template max vcore=1 apps=1 fair
/// rule tag namespace create deny user ann group dev below fixed teams
/// limit root.a user ann,* group dev vcore=3 apps=1
/// nodes binpacking vcore=3 memory=1   the order of nodes, with weights
/// preemption off quota newest         which kinds are on; `newest`: victims as in the reference
/// partition gpu                       the lines that follow belong to this partition
/// tenants root.tenants exempt a quota vcore=4 park      its tenants, and what holds by default
///
/// node n1 vcore=8 memory=16 drained   node n2 vcore=8 type m5
/// resize n1 vcore=4   drain n1   undrain n1   lose n1
/// app app1 root.a ann groups dev,ops  remove app1         release-all app1
/// ask a1 app1 vcore=3 prio 5 made 2s  release a1
/// ask a2 app1 vcore=1 on n1           wait 30s            reload
/// app g1 root.a ann gang vcore=4 hard timeout 60s
/// ask p1 g1 vcore=2 placeholder group workers      ask m1 g1 vcore=2 group workers
/// ask d1 app1 vcore=1 requires n1                  ask a3 app1 vcore=1 preempts preemptable
/// release p1 as replaced              release v1 as preempted     release p2 as timeout
/// foreign f1 n1 vcore=2 static        foreign-gone f1     scan-quotas       scan-outstanding
/// app app2 - bob gang vcore=4 tags namespace=x            without a queue, with tags
/// questions on victims at-once 8      answer a1 n1=ok n2=taint n3=2      void n1
/// tenant a of p quota vcore=4 instances=2 suspended     tenant b as user ann in root.q
/// tenant-gone a drain expects 2       tenant-defaults quota vcore=5   app t1 of:a ann
/// task t1 a ann vcore=4 priority 3 requeue restarts 1 wait 5s key k body x2     a task of tenant a
/// task-runs t1   task-done t1   task-failed t1   task-cancel t1   task-resize t1 vcore=5
/// task-rank t1 7 at 600                           its priority and deadline
/// recover                                         the server, or the RM, was away
/// show root.a    show app1    show user ann    show group dev    show priority root.a
/// ```
///
/// `on n1` in an ask means that it runs there already, independent of the limits. `reload`, followed by lines of the
/// configuration, loads another configuration. After `still`, the scheduler is not run. After `#` is a comment.
///
/// # Panics
/// Panics if a line is not valid, or if an invariant is broken.
pub fn tell(script: &str) -> String {
    tell_with(script, Story::default())
}

/// Plays a story like [`tell`] and returns the final world.
///
/// # Panics
/// Panics if a line is not valid, or if an invariant is broken.
pub fn tell_world(script: &str) -> World {
    let mut story = Story::default();
    story.play(script);
    story.world
}

/// Plays a story like [`tell`], and returns the records of each line. They are indented and have kind, change, detail,
/// object, reference, amounts, and message.
///
/// # Panics
/// Panics if a line is not valid, or if an invariant is broken.
pub fn tell_records(script: &str) -> String {
    let mut story = Story { watch: Some(Watch::default()), ..Story::default() };
    story.world.scheduler = Scheduler::watching(&story.world.books);
    tell_with(script, story)
}

fn tell_with(script: &str, mut story: Story) -> String {
    story.play(script);
    story.output
}

#[derive(Default)]
pub(super) struct Story {
    pub(super) world: World,
    /// Partition of the following lines.
    partition: Name,
    /// Whether the first configuration is loaded.
    configured: bool,
    /// Effects of the current command.
    effects: Vec<String>,
    /// Last reported reason of each pending ask.
    waits: BTreeMap<AllocationId, String>,
    /// Watcher for records. If there is one, only records are reported.
    watch: Option<Watch>,
    /// Commands and steps until now.
    pub(super) moves: Vec<Move>,
    /// Whether the scheduler is not run.
    still: bool,
    output: String,
}

impl Story {
    /// Loads the configuration and runs the lines one by one.
    pub(super) fn play(&mut self, script: &str) {
        let lines = script.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let settings = lines.iter().take_while(|line| is_setting(line)).count();
        let configure = configuration(lines[..settings].iter().copied());
        let refused = self.obey(&configure);
        assert_eq!(refused, None, "the configuration of a story is legal");
        self.configured = true;
        self.partition = Name::new("default");
        if let Some((_, partition)) = self.world.books.partitions().first_key_value() {
            self.partition = partition.name.clone();
        }
        let mut rest = &lines[settings..];
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            if *line == "reload" {
                let count = rest.iter().take_while(|line| is_setting(line)).count();
                self.reload(&rest[..count]);
                rest = &rest[count..];
            } else {
                self.line(line);
            }
        }
    }

    fn line(&mut self, line: &str) {
        let mut words = Words::of(line);
        let verb = words.next("a word");
        match verb {
            "partition" => self.partition = Name::new(words.next("a name")),
            "show" => self.show(&mut words),
            "still" => self.still = true,
            _ => self.command(verb, &mut words),
        }
        words.end();
        if matches!(verb, "partition" | "show" | "still") {
            return;
        }
        let heading: Vec<&str> = line.split_whitespace().take(2).collect();
        self.conclude(&heading.join(" "), matches!(verb, "node" | "app"));
    }

    /// Loads another configuration.
    fn reload(&mut self, lines: &[&str]) {
        let command = configuration(lines.iter().copied());
        if let Some(refusal) = self.obey(&command) {
            self.effects.push(refusal);
        }
        self.conclude("reload", false);
    }

    /// Runs the scheduler and writes the effects of the line. With `quiet`, a line without effects is omitted.
    fn conclude(&mut self, heading: &str, quiet: bool) {
        self.settle();
        if let Some(watch) = &mut self.watch {
            self.output.extend([heading, "\n", &*watch.take()]);
            return;
        }
        let waits = self.new_waits();
        if self.effects.is_empty() && waits.is_empty() && quiet {
            return; // Setting the scene: nothing to tell unless somebody waited for it.
        }
        let effects = match (self.effects.is_empty(), waits.is_empty()) {
            (true, true) => ": nothing".into(),
            (true, false) => String::new(),
            _ => format!(": {}", self.effects.join(", ")),
        };
        self.output.extend([heading, &*effects, "\n", &*waits]);
        self.effects.clear();
    }

    fn command(&mut self, verb: &str, words: &mut Words<'_>) {
        let command = if verb == "wait" {
            self.world.now = self.world.now + words.seconds();
            Command::Tick
        } else {
            command(
                &self.partition,
                words,
                verb,
                |key| self.holder(key),
                |key| self.open_question(key),
            )
        };
        if let Some(refusal) = self.obey(&command) {
            self.effects.push(refusal);
        }
    }

    /// Runs a command. Returns the reason if it is rejected.
    fn obey(&mut self, command: &Command) -> Option<String> {
        match decide(&self.world.books, self.world.now, command) {
            Ok(events) => {
                for event in &events {
                    self.apply(event);
                }
                self.moves.push(Move::of(self.world.now, Some(command.clone()), events));
                self.world.books.check_settled().unwrap_or_else(|wrong| panic!("{wrong}"));
                self.pause();
                None
            }
            Err(rejection) => {
                if let Some(watch) = &mut self.watch {
                    watch.refused(&self.world.books, self.world.now, command);
                }
                Some(format!("refused {}: {rejection}", rejection.code().as_str()))
            }
        }
    }

    fn settle(&mut self) {
        while !self.still {
            let mut events = Vec::new();
            let step = self.world.scheduler.next(&self.world.books, self.world.now, &mut events);
            self.pause();
            if step != Step::Moved {
                return;
            }
            for event in &events {
                self.apply(event);
                if let Event::Ask(AskEvent::Placed { ask, .. }) = event {
                    self.world.books.check_placed(*ask).unwrap_or_else(|wrong| panic!("{wrong}"));
                }
            }
            self.moves.push(Move::of(self.world.now, None, events));
        }
    }

    /// Ends a group of records: a command or a step of the scheduler has ended.
    fn pause(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.pause(&mut self.world);
        }
    }

    fn apply(&mut self, event: &Event) {
        if let Some(watch) = &mut self.watch {
            watch.hear(&self.world.books, self.world.now, event);
        }
        self.effects.extend(self.effect(event));
        self.world.apply(event);
        self.world.books.check().unwrap_or_else(|wrong| panic!("after {event:?}: {wrong}"));
    }

    /// Returns the text of an event. `None` if the command already implies the event.
    fn effect(&self, event: &Event) -> Option<String> {
        let books = &self.world.books;
        let key = |allocation: &AllocationId| &books.allocation(*allocation).key;
        let name = |application: &ApplicationId| &books.application(*application).name;
        Some(match event {
            Event::Ask(AskEvent::Placed { ask, node }) => {
                format!("{} on {}", key(ask), books.node(*node).name)
            }
            Event::Allocation(AllocationEvent::Released {
                allocation,
                termination: Termination::NodeRemoved,
            }) => {
                format!("{} lost", key(allocation))
            }
            Event::Allocation(AllocationEvent::Released { allocation, .. }) => {
                format!("{} released", key(allocation))
            }
            Event::Ask(AskEvent::Removed { ask, .. }) => format!("{} withdrawn", key(ask)),
            Event::Application(ApplicationEvent::Moved { application, state, .. }) => {
                format!("{} {state}", name(application))
            }
            Event::Application(ApplicationEvent::Removed { application }) => {
                format!("{} gone", name(application))
            }
            Event::Application(ApplicationEvent::Linked { application, group: Some(group) }) => {
                format!("{} counts for group {group}", name(application))
            }
            Event::Application(ApplicationEvent::Rejected { code, message, .. }) => {
                format!("rejected {code}: {message}")
            }
            Event::Queue(QueueEvent::Added { parent, name, managed: false, settings, .. }) => {
                format!("{parent}.{name} made{}", furniture(settings))
            }
            Event::Queue(QueueEvent::Changed { queue, managed: false, settings, .. }) => {
                format!("{queue} has now{}", furniture(settings))
            }
            Event::Application(ApplicationEvent::GroupUnlinked { application }) => {
                format!("{} counts for no group any more", name(application))
            }
            Event::Allocation(AllocationEvent::Resized { allocation, .. }) => {
                format!("{} resized", key(allocation))
            }
            Event::Queue(QueueEvent::Added { parent, name, .. }) if self.configured => {
                format!("{parent}.{name} made")
            }
            Event::Queue(QueueEvent::Changed { queue, .. }) => format!("{queue} changed"),
            Event::Queue(QueueEvent::Moved { queue, state, .. }) => format!("{queue} {state}"),
            Event::Queue(QueueEvent::Removed { queue }) => {
                format!("{} gone", books.queue(*queue).path)
            }
            Event::Tenant(TenantEvent::Set { tenant, .. }) => format!("tenant {tenant} set"),
            Event::Tenant(TenantEvent::Draining { tenant, .. }) => {
                format!("tenant {tenant} is going")
            }
            Event::Tenant(TenantEvent::Removed { tenant, .. }) => format!("tenant {tenant} gone"),
            Event::Tenant(TenantEvent::DefaultsSet { .. }) if self.configured => {
                "defaults of tenants set".into()
            }
            Event::Queue(QueueEvent::LimitsChanged { queue, .. }) if self.configured => {
                format!("{queue} has other limits")
            }
            _ => return cycle_effect(books, event),
        })
    }

    /// Returns lines for the asks that wait for another reason than before.
    fn new_waits(&mut self) -> String {
        let books = &self.world.books;
        let mut now = BTreeMap::new();
        let mut asks: Vec<_> = books.allocations().iter().filter(|(_, a)| a.is_pending()).collect();
        asks.sort_by_key(|(_, ask)| ask.number);
        let mut lines = Vec::new();
        for (id, ask) in asks {
            let reason = match self.world.scheduler.wait_of(books, id) {
                Some(wait) => {
                    let code = wait.code(books, id).as_str();
                    let tenant = wait.tenant_reason(books, id).map(of_tenant).unwrap_or_default();
                    format!("{code}{tenant}: {}", wait.sentence(books, id))
                }
                None => "for nodes: the cluster has none".into(),
            };
            if self.waits.get(&id) != Some(&reason) {
                lines.push(format!("  {} waits {reason}\n", ask.key));
            }
            now.insert(id, reason);
        }
        self.waits = now;
        lines.concat()
    }

    fn here(&self) -> PartitionId {
        let found = self.world.books.partition_named(&self.partition);
        found.expect("a story shows and forces in a partition that is there")
    }

    fn holder(&self, key: &str) -> Option<Name> {
        let books = &self.world.books;
        let partition = books.partition(books.partition_named(&self.partition)?);
        let allocation = books.allocation(*partition.allocations.get(key)?);
        Some(books.application(allocation.application).name.clone())
    }

    /// Returns the number of the open question about an ask. `None` if there is none.
    fn open_question(&self, key: &str) -> Option<u64> {
        let books = &self.world.books;
        let partition = books.partition(books.partition_named(&self.partition)?);
        Some(books.question_of(*partition.allocations.get(key)?)?.number)
    }

    fn show(&mut self, words: &mut Words<'_>) {
        let line = match words.next("what to show") {
            "priority" => self.priority(words.next("a path")),
            "part" => self.part(words.next("a path")),
            "tenant" => self.tenant(words.next("a tenant")),
            "task" => {
                let name = words.name("a task id");
                let id = self.world.books.task_named(self.here(), &name);
                let state = id.and_then(|id| self.world.books.task_state(id));
                format!("  task {name}: {}\n", state.map_or("none", |state| state.as_str()))
            }
            "user" => self.tracker(TrackerKind::User, words.next("a name")),
            "group" => self.tracker(TrackerKind::Group, words.next("a name")),
            path if path.starts_with("root") => self.queue(path),
            application => self.application(application),
        };
        self.output += &line;
    }

    fn amounts(&self, resources: Option<&Resources>) -> String {
        let types = self.world.books.types();
        resources.map_or_else(|| "none".into(), |one| types.amounts(one).to_string())
    }

    fn queue(&self, path: &str) -> String {
        let books = &self.world.books;
        let id = *books.partition(self.here()).queues.get(path).expect("a story shows its queues");
        let queue = books.queue(id);
        let share =
            queue.allocated.fair_share(queue.guaranteed.as_ref(), books.fair_max(id).as_ref());
        format!(
            "  {path}: in force {}, uses {}, headroom {}, share {}, runs {}\n",
            self.amounts(books.effective_max(id).as_ref()),
            self.amounts(Some(&queue.allocated)),
            self.amounts(books.headroom(id).as_ref()),
            share.get(),
            queue.running
        )
    }

    fn tenant(&self, name: &str) -> String {
        let books = &self.world.books;
        let partition = books.partition(self.here());
        let root = partition.settings.tenants.as_ref().map(|config| &config.root);
        let Some((row, root)) = partition.tenants.get(name).zip(root) else {
            return format!("  {name}: no tenant\n");
        };
        let path = partition.tenants.path_of(root, &Name::new(name)).unwrap_or_default();
        let queue = partition.queues.get(&*path).map(|id| books.queue(*id));
        format!(
            "  {name}: version {}, {path} uses {} of {}\n",
            row.version,
            self.amounts(queue.map(|queue| &queue.allocated)),
            self.amounts(queue.and_then(|queue| queue.max.as_ref())),
        )
    }

    fn part(&self, path: &str) -> String {
        let books = &self.world.books;
        let id = *books.partition(self.here()).queues.get(path).expect("a story shows its queues");
        shown_sizes(books, books.queue(id))
    }

    fn priority(&self, path: &str) -> String {
        let books = &self.world.books;
        let id = *books.partition(self.here()).queues.get(path).expect("a story shows its queues");
        let shown = books.queue(id).shown_priority().map_or("none".into(), |one| one.to_string());
        format!("  {path}: priority {shown}\n")
    }

    fn application(&self, name: &str) -> String {
        let books = &self.world.books;
        let found = books.partition(self.here()).applications.get(name);
        let Some(&id) = found else {
            return format!("  {name}: not there\n");
        };
        let row = books.application(id);
        let trackers = &books.partition(row.partition).trackers;
        let group = row.link.and_then(|link| link.group.level()).map_or_else(
            || "no group".into(),
            |level| format!("group {}", trackers.tracker(trackers.level(level).tracker).name),
        );
        format!(
            "  {name}: {} in {}, {group}, uses {}, user headroom {}\n",
            row.state,
            books.queue(row.queue).path,
            self.amounts(Some(&row.allocated)),
            self.amounts(books.user_headroom(id).as_ref()),
        )
    }

    fn tracker(&self, kind: TrackerKind, name: &str) -> String {
        let books = &self.world.books;
        let trackers = &books.partition(self.here()).trackers;
        let Some(tracker) = trackers.find(kind, name) else {
            return format!("  {name}: no tracker\n");
        };
        let levels = trackers.levels().filter(|(_, level)| level.tracker == tracker);
        let mut lines: Vec<String> = levels
            .map(|(_, level)| {
                format!(
                    "  {name} at {}: uses {}, left {}, runs {}\n",
                    books.queue(level.queue).path,
                    self.amounts(Some(&level.used())),
                    self.amounts(level.left().as_ref()),
                    level.running
                )
            })
            .collect();
        lines.sort();
        lines.concat()
    }
}

/// Returns the text of a reason that concerns a tenant.
fn of_tenant(reason: TenantReason) -> String {
    let short = |one: TenantShort| {
        let TenantShort { resource, used, asked, limit, short } = one;
        format!(" {resource} {used}+{asked} of {limit} short {short}")
    };
    let types: String = reason.types.into_iter().map(short).collect();
    format!(" ({}{types})", reason.scope)
}

/// Returns the text of the settings of a queue that a rule created.
fn furniture(settings: &QueueSettings) -> String {
    let sizes = [("max", &settings.max), ("guaranteed", &settings.guaranteed)];
    let sizes = sizes
        .into_iter()
        .filter_map(|(what, amounts)| amounts.as_ref().map(|amounts| format!(" {what} {amounts}")));
    let count = Some(settings.max_applications).filter(|count| *count > 0);
    let count = count.map(|count| format!(" apps={count}"));
    let properties = settings.properties.iter().map(|(key, value)| format!(" {key}={value}"));
    let part = settings.capacity.map(shown_part);
    sizes.chain(count).chain(properties).chain(part).collect()
}
