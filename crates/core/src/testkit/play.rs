//! Plays a random history, checks everything after every event, and counts what happens.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, Partition};
use crate::command::{AddNode, Ask, Command, Submit};
use crate::config::Configuration;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, PreemptionCause, QueueEvent, TaskEvent,
    Termination,
};
use crate::id::AllocationId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::rules::decide;
use crate::schedule::Scheduler;
use crate::time::{Millis, Timestamp};
use crate::view::Tally;

mod compare;
mod give_back;
mod manager;
mod placement;
mod questions;
mod submit;

use give_back::{release, under_swap};
use manager::about_rm;
use submit::{submit, task};

use super::random::{
    APPLICATIONS, AskDeed, NODES, Op, PARTITIONS, QUEUES, RandomAction, USERS, blocked_by,
    capacity, gang_size, label_of, other_file, role_of, tenant_command, to_lower, wanted,
    wished_label,
};
use super::watch::check_balance;
use super::{World, naive_next};

mod reservations;

use reservations::may_place;

/// Counts by name. A test requires that no count is zero.
pub type Counts = BTreeMap<String, u64>;

/// Maximum number of steps between two actions. A history that exceeds it does not terminate.
const STEPS_MAX: usize = 2_000;

/// Start time of histories. Asks with an earlier creation time must be possible.
const START: Timestamp = Timestamp::from_millis(1_000_000);

/// Plays a history from empty books, checks everything after every event, and counts. Returns the final world with its
/// journal.
///
/// Checks:
/// - All sums are equal to sums from scratch.
/// - No placement exceeds a limit.
/// - The next step is the step of a new scheduler and of the naive scheduler.
/// - The replay is equal to the live books.
/// - Everything is released at the end.
///
/// # Panics
/// Panics if a check fails.
pub fn play(configuration: &Configuration, ops: &[Op], counts: &mut Counts) -> World {
    let mut scheduler = Scheduler::watching(&Books::default());
    scheduler.open_at_once(0); // The groups of a history are few.
    let world = World { now: START, scheduler, ..World::default() };
    let waiting = BTreeMap::new();
    let mut player = Player {
        world,
        late: Vec::new(),
        counts,
        tally: Tally::default(),
        waiting,
        released: false,
        losing: false,
        starting: false,
    };
    let configure = Command::Configure(Box::new(configuration.clone()));
    player.world.command(&configure).expect("random trees are legal");
    player.world.commands.push(configure);
    for op in ops {
        match op.deed {
            RandomAction::Wait(span) => player.sleep(player.world.now + span_of(span)),
            RandomAction::ScanQuotas => player.sleep(player.world.now + SCANS_APART),
            _ => {}
        }
        let command = player.command(*op, configuration);
        player.obey(&command);
        match op.deed {
            RandomAction::Submit(.., gang) => player.ask_for_gang(&command, gang),
            RandomAction::Confirm(number) => player.confirm(number),
            RandomAction::Answer(number) => player.answer(number),
            _ => {}
        }
        // In some cases, the next command comes before the scheduler is idle.
        match player.world.journal.len() % 6 {
            1 => player.look(),
            2 => {
                player.step();
                player.look();
            }
            _ => player.settle(),
        }
        player.answer_by_itself();
    }
    player.settle();
    let world = &player.world;
    assert_eq!(world.replayed(), world.books, "a replay must rebuild the live books");
    player.finish();
    check_balance(&player.world);
    player.world
}

/// Time between two automatic scans for queues above their maximum.
const SCANS_APART: Millis = Millis::from_secs(6);

/// Returns a duration: mostly seconds, sometimes days. Ended applications are retained for three days.
fn span_of(span: u8) -> Millis {
    match span {
        0..200 => Millis::from_secs(u64::from(span) / 4),
        _ => Millis::from_secs(u64::from(span - 199) * 8 * 3_600),
    }
}

struct Player<'counts> {
    world: World,
    /// Answers that are sent late.
    late: Vec<Command>,
    counts: &'counts mut Counts,
    /// Running counts.
    tally: Tally,
    /// Asks that waited when the previous command had settled, with their reasons.
    waiting: BTreeMap<AllocationId, &'static str>,
    /// Whether the current command released something.
    released: bool,
    /// Whether the current command removes a node.
    losing: bool,
    /// Whether no limit counted the current application before. The limits of the number of applications can hold it
    /// back then.
    starting: bool,
}

impl Player<'_> {
    fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn obey(&mut self, command: &Command) {
        self.world.commands.push(command.clone());
        let before = self.world.books.clone();
        self.released = false;
        self.losing = matches!(command, Command::RemoveNode { .. });
        match decide(&self.world.books, self.world.now, command) {
            Err(rejection) => {
                assert_eq!(self.world.books, before, "a refusal changes nothing");
                self.count(format!("refused {}", rejection.code().as_str()));
            }
            Ok(events) => {
                let expired = matches!(command, Command::Tick);
                if let Command::ScanQuotas { partition } = command {
                    self.check_evictions(partition, &events);
                }
                for event in &events {
                    if expired
                        && matches!(event, Event::Application(ApplicationEvent::Removed { .. }))
                    {
                        self.count("expired");
                    }
                    if let Event::Application(ApplicationEvent::Rejected { code, .. }) = event {
                        self.count(format!("rejected {code}"));
                    }
                    self.released |=
                        matches!(event, Event::Allocation(AllocationEvent::Released { .. }));
                    if matches!(event, Event::Ask(AskEvent::Placed { .. })) {
                        self.count("placed by the RM");
                    }
                    self.apply(event, false);
                }
                let settled = self.world.books.check_settled();
                settled.unwrap_or_else(|wrong| panic!("after {command:?}: {wrong}"));
                if let Command::Configure(_) = command {
                    let again = decide(&self.world.books, self.world.now, command);
                    assert_eq!(again, Ok(Vec::new()), "once is enough");
                }
            }
        }
    }

    /// Adds asks for all placeholders to half of the gangs: equal ones, or one and the rest as one large placeholder.
    fn ask_for_gang(&mut self, submitted: &Command, die: u8) {
        let Command::Submit(submit) = submitted else { return };
        let count = i64::from(die % 4);
        let sizes = match (die / 4 % 2, die / 8 % 4) {
            (0, _) => Vec::new(),
            (_, 0) if count > 1 => alloc::vec![1, count - 1],
            _ => (0..count).map(|_| 1).collect(),
        };
        for (number, size) in sizes.into_iter().enumerate() {
            self.obey(&Command::Ask(Ask {
                partition: submit.partition.clone(),
                application: submit.application.clone(),
                key: Name::from(format!("{}-p{number}", submit.application)),
                placeholder: true,
                task_group: Name::from(format!("g{}", size - 1)),
                resources: Amounts::from([("vcore", size), ("memory", size)]),
                may_preempt: (die / 32).is_multiple_of(2),
                preemptable: true,
                ..Ask::default()
            }));
        }
    }

    /// Requests the reason of every pending ask and ignores the result.
    fn look(&mut self) {
        let books = &self.world.books;
        for (id, _) in books.allocations().iter() {
            let wait = self.world.scheduler.wait_of(books, id);
            assert!(wait.is_none_or(|wait| !wait.blocker.subject(books).is_empty()));
        }
        self.count("looked at between steps");
    }

    fn note_waits(&mut self) {
        self.waiting.clear();
        let books = &self.world.books;
        for (id, ask) in books.allocations().iter().filter(|(_, ask)| ask.is_pending()) {
            let partition = books.application(ask.application).partition;
            let root = books.queue(books.partition(partition).root);
            let wait = self.world.scheduler.wait_of(books, id);
            let known = wait.is_some() || root.max.is_none();
            assert!(known, "every wait has a reason, {id} has none\n{}", self.state());
            if let Some(wait) = wait {
                let sentence = wait.sentence(books, id);
                assert!(!sentence.is_empty());
                let code = wait.code(books, id).as_str();
                self.waiting.insert(id, code);
                *self.counts.entry(format!("waits {code}")).or_default() += 1;
            }
        }
    }

    /// Applies an event. If the scheduler decided it, checks that no limit is exceeded.
    fn apply(&mut self, event: &Event, judged: bool) {
        let starts = match event {
            Event::Application(ApplicationEvent::Moved {
                application,
                state: ApplicationState::Running,
                ..
            }) => {
                let before = self.world.books.application(*application).state;
                (before == ApplicationState::Accepted && self.starting).then_some(*application)
            }
            _ => None,
        };
        if let Event::Application(ApplicationEvent::Linked { application, .. }) = event
            && self.world.books.application(*application).link.is_some()
        {
            self.count("linked to a group again");
        }
        self.count_swap(event);
        self.count_question(event);
        if judged {
            self.check_place(event);
        }
        if let Event::Ask(AskEvent::Placed { ask, node }) = event
            && judged
        {
            let books = &self.world.books;
            let application = books.allocation(*ask).application;
            let row = books.application(application);
            let whole = books.members_of(application) > 1;
            if row.ask_count == 1 && row.allocation_count > 0 && whole {
                self.count("started as a whole");
            }
            assert!(may_place(&self.world.books, *ask, *node), "{ask} may not go to {node}");
            self.check_accepted(*ask, *node);
        }
        if judged {
            self.tally.judge(&self.world.books, event);
            assert_eq!(self.tally.tenants.violations(), 0, "a quota is exceeded by {event:?}");
        }
        self.tally.hear(&self.world.books, self.world.now, event);
        self.world.apply(event);
        let books = &self.world.books;
        assert!(self.tally.agrees_with(books), "after {event:?}: {:?}", self.tally);
        let right = self.world.scheduler.pending_counts_are_right(books);
        assert!(
            right,
            "after {event:?}: {:?}",
            self.world.scheduler.pending_counts().collect::<Vec<_>>()
        );
        self.world.scheduler.take_notes();
        let books = &self.world.books;
        let fail =
            |violation: crate::Violation| panic!("after {event:?}: {violation}\n{}", self.state());
        books.check().unwrap_or_else(fail);
        if let Event::Ask(AskEvent::Placed { ask, .. }) = event
            && judged
        {
            books.check_placed(*ask).unwrap_or_else(fail);
        }
        if let Some(application) = starts.filter(|_| judged) {
            books.check_started(application).unwrap_or_else(fail);
        }
        self.count(name_of(event));
    }

    /// Removes everything. All sums must be zero afterwards.
    fn finish(&mut self) {
        let there = |name: &Name| self.world.books.partition_named(name).is_some();
        for partition in PARTITIONS.map(Name::new).into_iter().filter(there).collect::<Vec<_>>() {
            for application in names(&self.of(&partition).applications) {
                let partition = partition.clone();
                self.obey(&Command::RemoveApplication { partition, application });
            }
            for node in names(&self.of(&partition).nodes) {
                self.obey(&Command::RemoveNode { partition: partition.clone(), node });
            }
        }
        self.world.now = self.world.now + Millis::from_secs(20);
        self.obey(&Command::Tick);
        let books = &self.world.books;
        assert_eq!((books.allocations().len(), books.shapes().iter().count()), (0, 0));
        assert!(books.queues().iter().all(|(_, queue)| !queue.is_removable()), "all is cleaned");
        for partition in books.partitions().values() {
            for (_, level) in partition.trackers.levels() {
                assert!(level.used().is_empty() && level.running == 0 && level.links() == 0);
            }
        }
    }

    fn of(&self, partition: &Name) -> &Partition {
        let books = &self.world.books;
        books.partition(books.partition_named(partition).expect("both are configured"))
    }

    /// Returns the command of an action for the current state.
    fn command(&self, op: Op, configuration: &Configuration) -> Command {
        let second = Name::new(PARTITIONS[op.partition]);
        let there = self.world.books.partition_named(&second).is_some();
        let partition = if there { second } else { Name::new(PARTITIONS[0]) };
        let here = self.of(&partition);
        let op = instead(op, here);
        let node = |number| pick(number, &here.nodes, "n-nowhere");
        let known = self.world.books.partition_named(&partition);
        let lends = known.is_some_and(|one| self.world.books.has_lending(one));
        let application = |number| pick(number, &here.applications, "app-nowhere");
        match op.deed {
            RandomAction::AddNode(number, size) => Command::AddNode(AddNode {
                partition,
                node: Name::from(format!("n{number}")),
                capacity: capacity(size),
                schedulable: !size.is_multiple_of(9),
                attributes: label_of(size, lends),
            }),
            RandomAction::ResizeNode(number, size) => {
                Command::ResizeNode { partition, node: node(number), capacity: capacity(size) }
            }
            RandomAction::SetSchedulable(number, schedulable) => {
                Command::SetSchedulable { partition, node: node(number), schedulable }
            }
            RandomAction::RemoveNode(number) => {
                let swapped = under_swap(&self.world.books, here, number);
                Command::RemoveNode { partition, node: swapped.unwrap_or_else(|| node(number)) }
            }
            RandomAction::Submit(number, queue, user, gang) => {
                submit(partition, (number, queue, user, gang))
            }
            RandomAction::Ask(deed) => {
                // Gangs grow in two applications, so that members find placeholders to replace.
                let in_gang = !role_of(deed.role).1.is_empty() && deed.application < COMMON;
                let number = if in_gang { deed.application % 2 } else { deed.application };
                self.ask(partition, application(number), deed)
            }
            RandomAction::Release(number) => release(&self.world.books, partition, here, number),
            RandomAction::ScanQuotas => Command::ScanQuotas { partition },
            RandomAction::ReleaseAll(number) => Command::Release {
                partition,
                application: application(number),
                key: None,
                termination: Termination::StoppedByRm,
            },
            RandomAction::Remove(number) => {
                Command::RemoveApplication { partition, application: application(number) }
            }
            RandomAction::Answer(number) if number % 8 == 1 => {
                Command::VoidVerdicts { partition, node: node(number) }
            }
            RandomAction::Wait(_) | RandomAction::Confirm(_) | RandomAction::Answer(_) => {
                Command::Tick
            }
            RandomAction::Questions(some) => about_rm(&self.world, known, partition, some),
            RandomAction::Tenant(_, what, _) if what % 32 == 31 => Command::Recover { partition },
            RandomAction::Tenant(tenant, what, die) => {
                let tenant = to_lower(&self.world.books, here, what).unwrap_or(tenant);
                tenant_command(partition, (tenant, what, die))
            }
            RandomAction::Task(number, tenant, user, gang) => {
                task(partition, (&self.world.books, here), (number, tenant, user, gang))
            }
            RandomAction::Reload(seed) => Command::Configure(Box::new(other_file(seed))),
            RandomAction::Nonsense(kind) => nonsense(kind, partition, configuration),
        }
    }

    fn ask(&self, partition: Name, application: Name, deed: AskDeed) -> Command {
        let created = deed.age.checked_sub(128).map(|seconds| {
            let before = u64::from(seconds) * 1_000;
            Timestamp::from_millis(self.world.now.as_millis().saturating_sub(before))
        });
        let (placeholder, task_group) = role_of(deed.role);
        let in_gang = !task_group.is_empty();
        // Members often require a node other than the node of a placeholder.
        let required = if in_gang && !placeholder { deed.required % 7 } else { deed.required };
        Command::Ask(Ask {
            placeholder,
            task_group,
            node: (deed.node < 16)
                .then(|| pick(deed.node, &self.of(&partition).nodes, "n-nowhere")),
            partition,
            application,
            key: Name::from(format!("k{}", deed.key)),
            resources: if in_gang { gang_size(placeholder, deed.size) } else { wanted(deed.size) },
            priority: i32::from(deed.priority),
            created,
            required_node: match required {
                0..NODES => Name::from(format!("n{required}")),
                _ => Name::default(),
            },
            may_preempt: !deed.flags.is_multiple_of(4),
            preemptable: !(deed.flags / 4).is_multiple_of(4),
            originator: (deed.flags / 16).is_multiple_of(8),
            node_label: wished_label(deed.flags),
            blocked_nodes: blocked_by(deed.flags, deed.size),
        })
    }
}

/// Replaces an action that needs a node, application, or tenant by one that creates it, if there is none yet.
/// In a partition without tenants, an action about tenants becomes another action.
fn instead(op: Op, here: &Partition) -> Op {
    let deed = match op.deed {
        RandomAction::ResizeNode(number, _)
        | RandomAction::SetSchedulable(number, _)
        | RandomAction::RemoveNode(number)
            if here.nodes.is_empty() && number < COMMON =>
        {
            RandomAction::AddNode(number % NODES, number)
        }
        RandomAction::Tenant(number, ..) if here.settings.tenants.is_none() => {
            RandomAction::RemoveNode(number)
        }
        RandomAction::Task(_, number, ..) if here.settings.tenants.is_none() => {
            RandomAction::Release(number)
        }
        RandomAction::Task(_, number, _, die) if here.tenants.is_empty() && number < COMMON => {
            RandomAction::Tenant(number, PLAIN, die)
        }
        RandomAction::Release(number)
        | RandomAction::ReleaseAll(number)
        | RandomAction::Remove(number)
        | RandomAction::Ask(AskDeed { application: number, .. })
            if here.applications.is_empty() && number < COMMON =>
        {
            RandomAction::Submit(number % APPLICATIONS, number % 4, number / 64, number)
        }
        other => other,
    };
    Op { deed, ..op }
}

/// Number for [`RandomAction::Tenant`] that creates a tenant without a parent tenant.
const PLAIN: u8 = 28;

/// Numbers from this value on name an object that does not exist.
const COMMON: u8 = 250;

/// Returns the name of a live row. For some numbers, and without rows, returns the name `nowhere`.
fn pick<V: Clone>(number: u8, rows: &crate::OrderedMap<Name, V>, nowhere: &str) -> Name {
    let position = usize::from(number).checked_rem(rows.len()).filter(|_| number < COMMON);
    let found = position.and_then(|position| rows.iter().nth(position));
    found.map_or_else(|| Name::new(nowhere), |(name, _)| name.clone())
}

fn names<V: Clone>(rows: &crate::OrderedMap<Name, V>) -> Vec<Name> {
    rows.iter().map(|(name, _)| name.clone()).collect()
}

/// Returns a command that is invalid in every state of the books.
fn nonsense(kind: u8, partition: Name, configuration: &Configuration) -> Command {
    let empty = Name::default();
    match kind % 4 {
        0 => {
            let mut twice = configuration.clone();
            twice.partitions.extend(configuration.partitions.iter().cloned());
            Command::Configure(Box::new(twice))
        }
        1 => Command::RemoveNode { partition: Name::new("no-partition"), node: empty },
        2 => Command::AddNode(AddNode {
            partition,
            node: empty,
            capacity: capacity(kind),
            schedulable: true,
            ..AddNode::default()
        }),
        _ => Command::Submit(Submit {
            partition,
            application: empty,
            queue: Name::new(QUEUES[0]),
            user: Name::new(USERS[0]),
            groups: Vec::new(),
            ..Submit::default()
        }),
    }
}

fn name_of(event: &Event) -> String {
    // `Node(Added {…})` becomes `Node.Added`.
    let text = format!("{event:?}").replacen('(', ".", 1);
    let kind = text.split([' ', '{']).next().unwrap_or_default().to_string();
    match event {
        Event::Allocation(AllocationEvent::Preempted { cause, .. }) => match cause {
            PreemptionCause::Guarantee(_) => format!("{kind} for a guarantee"),
            PreemptionCause::Share(_) => format!("{kind} for a share"),
            PreemptionCause::Priority(_) => format!("{kind} for a priority"),
            PreemptionCause::RequiredNode(_) => format!("{kind} for a required node"),
            PreemptionCause::Quota(_) => format!("{kind} for a quota"),
        },
        Event::Allocation(AllocationEvent::Released { termination, .. }) => {
            format!("{kind} {termination:?}")
        }
        Event::Application(ApplicationEvent::Moved { state, .. }) => format!("{kind} {state}"),
        Event::Task(TaskEvent::Moved { step, .. }) => {
            format!("{kind} {}", submit::kind_of_step(step))
        }
        Event::Application(ApplicationEvent::Linked { group, .. }) => match group {
            None => format!("{kind} to no group"),
            Some(group) if *group == "*" => format!("{kind} to the others"),
            Some(_) => format!("{kind} to a named group"),
        },
        Event::Queue(QueueEvent::Added { managed: false, .. }) => format!("{kind} by a rule"),
        Event::Queue(QueueEvent::Changed { managed: false, .. }) => format!("{kind} by a tag"),
        Event::Queue(QueueEvent::Moved { state, .. }) => format!("{kind} {state}"),
        _ => kind,
    }
}
