//! The books that a history is played in. What was placed, reserved and given back are facts of the
//! record; our scheduler decides nothing.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use headroom_core::books::{Books, LeafUsers};
use headroom_core::config::Configuration;
use headroom_core::id::{ApplicationId, QueueId};
use headroom_core::resource::{Amounts, Resources};
use headroom_core::{
    AddNode, ApplicationEvent, Ask, Command, Event, Name, Submit, Termination, Timestamp, decide,
};

use super::record::Record;
use super::setup::PARTITION;
use super::size::Size;

/// Nothing in a history depends on time: an application that has nothing is not ended by it. All were
/// submitted before.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// The books, and what they do not say of applications.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) books: Books,
    pub(super) apps: BTreeMap<String, App>,
    /// The nodes by name, in no particular order.
    nodes: BTreeMap<String, Size>,
    configuration: Option<Configuration>,
    /// How many applications were submitted.
    submitted: u64,
    /// Whether nothing but memory counts, so that nothing else is told to the core. Decision M-18.
    memory_alone: bool,
}

/// One application that was not rejected.
#[derive(Debug)]
pub(super) struct App {
    pub(super) user: String,
    /// The path of its leaf, as recorded.
    pub(super) queue: String,
    /// What it waits for, by priority: the lower number first.
    pub(super) asks: BTreeMap<i64, Waiting>,
    /// Whether what it waits for stands in the books; see [`super::Replay::counts`].
    counted: bool,
    running: Vec<Running>,
    reserved: Option<Reserved>,
    /// How many keys it has used.
    keys: u32,
}

/// Equal asks of one application.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The size of each, as the core counts it.
    pub(super) size: Size,
    pub(super) count: u32,
    /// Their keys, as far as they stand in the books: all or none.
    keys: Vec<Name>,
}

#[derive(Debug)]
struct Running {
    key: Name,
    size: Size,
    node: String,
}

/// `CapacityScheduler` counts what it reserves as used. So it is an allocation here, as long as it is
/// recorded as reserved.
#[derive(Debug)]
struct Reserved {
    node: String,
    size: Size,
}

impl App {
    /// The most important thing that it waits for.
    pub(super) fn next(&self) -> Option<Size> {
        self.asks.values().next().map(|waiting| waiting.size)
    }

    /// All that it waits for.
    pub(super) fn pending(&self) -> Size {
        let all = self.asks.values().map(|waiting| waiting.size.times(waiting.count));
        all.fold(Size::ZERO, Size::plus)
    }

    /// What is reserved for it, and so counts as used.
    pub(super) fn reserved(&self) -> Size {
        self.reserved.as_ref().map_or(Size::ZERO, |reserved| reserved.size)
    }
}

impl World {
    /// One in which nothing but memory counts, or everything does.
    pub(super) fn counting(memory_alone: bool) -> Self {
        Self { memory_alone, ..Self::default() }
    }

    /// What counts of a size here.
    pub(super) const fn counted(&self, size: Size) -> Size {
        if self.memory_alone { size.memory_alone() } else { size }
    }

    /// Carry a command out.
    ///
    /// # Errors
    /// When the core refuses it: every command is a fact, so it must not.
    fn command(&mut self, command: &Command) -> Result<()> {
        for event in decide(&self.books, NOW, command)? {
            self.books.apply(NOW, &event);
        }
        Ok(())
    }

    /// Take a configuration into force, if it is another one.
    pub(super) fn configure(&mut self, configuration: Configuration) -> Result<()> {
        if self.configuration.as_ref() != Some(&configuration) {
            self.command(&Command::Configure(Box::new(configuration.clone())))?;
            self.configuration = Some(configuration);
        }
        Ok(())
    }

    /// All that the nodes have.
    pub(super) fn total(&self) -> Size {
        self.nodes.values().copied().fold(Size::ZERO, Size::plus)
    }

    pub(super) fn add_node(&mut self, node: &str, size: Size) -> Result<()> {
        self.nodes.insert(node.to_owned(), size);
        self.command(&Command::AddNode(AddNode {
            partition: PARTITION.into(),
            node: node.into(),
            capacity: self.counted(size).amounts(),
            schedulable: true,
            ..AddNode::default()
        }))
    }

    /// A node leaves, with what runs there and what it is kept for.
    pub(super) fn remove_node(&mut self, node: &str) -> Result<()> {
        self.nodes.remove(node);
        for app in self.apps.values_mut() {
            app.running.retain(|one| one.node != node);
            app.reserved.take_if(|one| one.node == node);
        }
        self.command(&Command::RemoveNode { partition: PARTITION.into(), node: node.into() })
    }

    /// An application is submitted; whether it was taken in.
    pub(super) fn submit(&mut self, name: &str, user: &str, queue: &str) -> Result<bool> {
        let submit = Command::Submit(Submit {
            partition: PARTITION.into(),
            application: name.into(),
            queue: queue.to_lowercase().into(),
            user: user.into(),
            ..Submit::default()
        });
        // One after another, so that applications have an order by time.
        self.submitted += 1;
        let now = Timestamp::from_millis(self.submitted);
        for event in decide(&self.books, now, &submit)? {
            self.books.apply(now, &event);
        }
        let app = App {
            user: user.to_owned(),
            queue: queue.to_owned(),
            asks: BTreeMap::new(),
            counted: false,
            running: Vec::new(),
            reserved: None,
            keys: 0,
        };
        if self.application(name).is_err() {
            return Ok(false);
        }
        self.apps.insert(name.to_owned(), app);
        Ok(true)
    }

    /// An application is activated, with a driver of this size: what it waits for stands in the books
    /// from now on.
    pub(super) fn activate(&mut self, name: &str, driver: Size) -> Result<()> {
        let application = self.application(name)?;
        let event = Event::Application(ApplicationEvent::Activated {
            application,
            driver: driver.amounts(),
        });
        self.books.apply(NOW, &event);
        self.app(name)?.counted = true;
        self.fill(name)
    }

    /// From now on an application waits for so many of this size at a priority, and for nothing else
    /// there. `counts` says whether that stands in the books from now on.
    pub(super) fn ask(
        &mut self,
        name: &str,
        priority: i64,
        size: Size,
        count: u32,
        counts: bool,
    ) -> Result<()> {
        let Some(app) = self.apps.get_mut(name) else { return Ok(()) };
        app.counted |= counts;
        let queue = app.queue.clone();
        let before = app.asks.remove(&priority);
        for key in before.into_iter().flat_map(|waiting| waiting.keys) {
            self.release(name, key, Termination::StoppedByRm)?;
        }
        let size = self.normalised(&queue, size)?;
        if count > 0 {
            let waiting = Waiting { size, count, keys: Vec::new() };
            self.app(name)?.asks.insert(priority, waiting);
        }
        self.fill(name)
    }

    /// Bring what an application waits for into the books, if it counts.
    fn fill(&mut self, name: &str) -> Result<()> {
        if !self.app(name)?.counted {
            return Ok(());
        }
        let application = self.application(name)?;
        if self.books.application(application).lacks_group() {
            // What the scheduler does at the first look.
            self.books.apply(
                NOW,
                &Event::Application(ApplicationEvent::Linked { application, group: None }),
            );
        }
        let priorities: Vec<i64> = self.app(name)?.asks.keys().copied().collect();
        for priority in priorities {
            loop {
                let app = self.app(name)?;
                let waiting = app.asks.get(&priority).context("it was just listed")?;
                if waiting.keys.len() == waiting.count as usize {
                    break;
                }
                let (size, key) = (waiting.size, app.key(name));
                self.put(name, &key, size, None, priority)?;
                let waiting = self.app(name)?.asks.get_mut(&priority);
                waiting.context("it was just listed")?.keys.push(key);
            }
        }
        Ok(())
    }

    /// One ask of this size was given room on a node.
    pub(super) fn place(&mut self, name: &str, size: Size, node: &str, memory: bool) -> Result<()> {
        let app = self.app(name)?;
        let fits = |asked: Size| asked == size || memory && asked.memory == size.memory;
        let found = app.asks.iter_mut().find(|(_, waiting)| fits(waiting.size));
        let (&priority, waiting) =
            found.with_context(|| format!("{name} was given {size} and waits for none"))?;
        waiting.count -= 1;
        let key = waiting.keys.pop();
        if waiting.count == 0 {
            app.asks.remove(&priority);
        }
        let key = key.unwrap_or_else(|| app.key(name));
        app.running.push(Running { key: key.clone(), size, node: node.to_owned() });
        self.put(name, &key, size, Some(node), priority)
    }

    /// An allocation of this size on a node is gone: the oldest, or the newest.
    pub(super) fn give_back(
        &mut self,
        name: &str,
        size: Size,
        node: &str,
        newest: bool,
    ) -> Result<()> {
        let app = self.app(name)?;
        let is_it = |one: &Running| one.size == size && one.node == node;
        let place = if newest {
            app.running.iter().rposition(is_it)
        } else {
            app.running.iter().position(is_it)
        };
        let place = place.with_context(|| format!("{name} has no {size} on {node}"))?;
        let key = app.running.remove(place).key;
        let why = if newest { Termination::Preempted } else { Termination::StoppedByRm };
        self.release(name, key, why)
    }

    /// What is reserved for an application, as it is recorded, on that node if it is new.
    pub(super) fn reserve(&mut self, name: &str, size: Size, node: Option<&str>) -> Result<()> {
        let key = Name::from(format!("{name}/reserved"));
        let reserved = self.app(name)?.reserved.take();
        if size == Size::ZERO {
            return match reserved {
                Some(_) => self.release(name, key, Termination::StoppedByRm),
                None => Ok(()),
            };
        }
        let there = reserved.map(|one| one.node);
        let node = there.or_else(|| node.map(str::to_owned));
        let node = node.or_else(|| self.nodes.keys().next().cloned());
        let node = node.context("something is reserved where there is no node")?;
        self.put(name, &key, size, Some(&node), 0)?;
        self.app(name)?.reserved = Some(Reserved { node, size });
        Ok(())
    }

    pub(super) fn finish(&mut self, name: &str) -> Result<()> {
        if self.apps.remove(name).is_none() {
            return Ok(()); // It was rejected.
        }
        let (partition, application) = (PARTITION.into(), name.into());
        self.command(&Command::RemoveApplication { partition, application })
    }

    fn put(
        &mut self,
        name: &str,
        key: &Name,
        size: Size,
        node: Option<&str>,
        priority: i64,
    ) -> Result<()> {
        self.command(&Command::Ask(Ask {
            partition: PARTITION.into(),
            application: name.into(),
            key: key.clone(),
            resources: self.counted(size).amounts(),
            node: node.map(Name::from),
            priority: i32::try_from(-priority).context("a priority has 32 bits")?,
            ..Ask::default()
        }))
    }

    fn release(&mut self, name: &str, key: Name, termination: Termination) -> Result<()> {
        let (partition, application) = (PARTITION.into(), name.into());
        self.command(&Command::Release { partition, application, key: Some(key), termination })
    }

    /// An ask as the core counts it.
    fn normalised(&self, queue: &str, size: Size) -> Result<Size> {
        let users = self.users(queue)?;
        Ok(Size::of(&users.normalised(&self.vector(size)?)))
    }

    /// Amounts as the core has them.
    pub(super) fn vector(&self, size: Size) -> Result<Resources> {
        let amounts: Amounts = size.amounts();
        match self.books.types().resolve(&amounts) {
            Ok(vector) => Ok(vector),
            Err(name) => bail!("the core knows no type {name}"),
        }
    }

    /// The leaf of an application.
    pub(super) fn leaf_of(&self, app: &str) -> Option<QueueId> {
        self.queue(&self.apps.get(app)?.queue).ok()
    }

    /// The queue at a recorded path.
    pub(super) fn queue(&self, path: &str) -> Result<QueueId> {
        let partition = self.books.partition_named(PARTITION).context("there is no partition")?;
        let queue = self.books.queue_at(partition, path);
        queue.with_context(|| format!("the core has no queue {path}"))
    }

    pub(super) fn users(&self, path: &str) -> Result<LeafUsers<'_>> {
        let users = self.books.users_of(self.queue(path)?);
        users.with_context(|| format!("the core shares no leaf {path}"))
    }

    pub(super) fn application(&self, name: &str) -> Result<ApplicationId> {
        let partition = self.books.partition_named(PARTITION).context("there is no partition")?;
        let known = self.books.partition(partition).applications.get(name).copied();
        known.with_context(|| format!("the core has no application {name}"))
    }

    fn app(&mut self, name: &str) -> Result<&mut App> {
        self.apps.get_mut(name).with_context(|| format!("{name} was not submitted"))
    }

    /// What a queue may have now: what its maximum and those above leave it, with what it uses.
    pub(super) fn queue_limit(&self, path: &str, step: Size) -> Result<Size> {
        let queue = self.queue(path)?;
        let left = self.books.headroom(queue).unwrap_or_default();
        let used = &self.books.queue(queue).allocated;
        Ok(Size::of(&left.plus(used)).whole_steps(step))
    }

    /// Whether a leaf is looked at when nodes offer room: something waits there, and one of its
    /// applications is activated.
    pub(super) fn is_looked_at(&self, path: &str, record: &Record) -> bool {
        let mut here = self.apps.iter().filter(|(_, app)| app.queue == path);
        here.clone().any(|(_, app)| !app.asks.is_empty())
            && here.any(|(name, _)| record.is_active(name))
    }
}

impl App {
    fn key(&mut self, name: &str) -> Name {
        self.keys += 1;
        Name::from(format!("{name}/{}", self.keys))
    }
}
