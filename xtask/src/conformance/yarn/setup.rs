//! The configuration of a history, as one of ours.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use headroom_core::Name;
use headroom_core::config::property::{Properties, SORT_PRIORITY};
use headroom_core::config::{
    ApplicationLimitsConfig, CapacityConfig, CapacityShare, Configuration, PartitionConfig,
    QueueConfig, UserFactor, UserLimitsConfig,
};
use headroom_core::resource::Amounts;
use headroom_core::userlimit::{Calculator, Decimal, DriverRules, Enforcement, Formula};
use serde_json::{Map, Value};

use super::record::Record;
use super::size::Size;
use crate::conformance::case::text_of;

/// The partition of every history.
pub(super) const PARTITION: &str = "default";

/// How many applications there may be in all, where nothing is said.
const APPLICATIONS: u64 = 10_000;

/// Of what a configuration says, beside the queues and how users share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// Nothing: what applications may start is a fact.
    NoMore,
    /// How many applications there may be, as it is recorded, and what drivers may have.
    Limits,
}

/// What a history says before its first step.
#[derive(Debug)]
pub(super) struct Setup {
    /// Which `CapacityScheduler` it was.
    pub(super) formula: Formula,
    pub(super) calculator: Calculator,
    /// The minimum allocation.
    pub(super) step: Size,
    /// Of each queue, what was configured.
    queues: BTreeMap<String, Value>,
    /// Of the whole scheduler.
    scheduler: Value,
}

impl Setup {
    /// # Errors
    /// When the case lacks something; the text names the field.
    pub(super) fn read(case: &Value) -> Result<Self> {
        let formula = match text_of(case, "version")? {
            "2.7.3" => Formula::Yarn27,
            "3.4.3" => Formula::Yarn3,
            other => bail!("the field \"version\" is {other}: it must be 2.7.3 or 3.4.3"),
        };
        let config = case.get("config").context("the field \"config\" must be there")?;
        let calculator = match text_of(config, "resource_calculator")? {
            "default" => Calculator::Memory,
            "dominant" => Calculator::Dominant,
            other => bail!("resource_calculator is {other}: it must be default or dominant"),
        };
        let queues = config.get("queues").and_then(Value::as_object);
        let queues = queues.context("config.queues must be an object")?.clone();
        Ok(Self {
            formula,
            calculator,
            step: Size::read(&config["minimum_allocation"]).context("minimum_allocation")?,
            queues: queues.into_iter().collect(),
            scheduler: config["scheduler"].clone(),
        })
    }

    /// What counts of an amount: without cores where nothing but memory does. Decision M-18.
    pub(super) fn counted(&self, size: Size) -> Size {
        if self.calculator == Calculator::Memory { size.memory_alone() } else { size }
    }

    /// What drivers may have of a queue.
    ///
    /// # Errors
    /// When it is no decimal.
    pub(super) fn drivers(&self, path: &str) -> Result<DriverRules> {
        let own = self.queues.get(path).and_then(|queue| queue.get("maximum_am_resource_percent"));
        let part = own.or_else(|| self.scheduler.get("maximum-am-resource-percent"));
        let Some(part) = part else { return Ok(DriverRules::default()) };
        Ok(DriverRules { part: decimal(part)? })
    }

    /// How many applications there may be in all.
    ///
    /// # Errors
    /// When it is no number.
    pub(super) fn applications(&self) -> Result<u64> {
        let Some(number) = self.scheduler.get("maximum-applications") else {
            return Ok(APPLICATIONS);
        };
        let number = number.as_str().map_or_else(|| number.to_string(), str::to_owned);
        number.parse().with_context(|| format!("maximum-applications is {number}"))
    }

    /// How many applications a queue takes in, as it was configured.
    pub(super) fn own_applications(&self, path: &str) -> Option<u64> {
        self.queues.get(path)?.get("maximum_applications")?.as_u64()
    }

    /// Whether applications are started in the order in which they came.
    pub(super) fn is_fifo(&self) -> bool {
        let mut orders = self.queues.values().filter_map(|queue| queue.get("ordering_policy"));
        orders.all(|order| order == "fifo")
    }

    /// The queues with capacities as they are recorded. Decision M-10.
    ///
    /// # Errors
    /// When the case lacks something; the text names the field.
    pub(super) fn configuration(
        &self,
        record: &Record,
        total: Size,
        says: Says,
    ) -> Result<Configuration> {
        let mut configuration = self.tree(|path| self.queue(path, record, total, says))?;
        let root = &mut configuration.partitions[0].root;
        root.application_limits = self.all_applications(says == Says::Limits)?;
        root.properties = without_priorities();
        Ok(configuration)
    }

    /// The queues with the parts that were configured.
    ///
    /// # Errors
    /// When the case lacks something; the text names the field.
    pub(super) fn parts(&self) -> Result<Configuration> {
        let mut configuration = self.tree(|path| self.part(path))?;
        configuration.partitions[0].root.application_limits = self.all_applications(true)?;
        Ok(configuration)
    }

    fn all_applications(&self, are_few: bool) -> Result<Option<ApplicationLimitsConfig>> {
        if !are_few {
            return Ok(None);
        }
        let max = Some(self.applications()?);
        Ok(Some(ApplicationLimitsConfig { max, ..ApplicationLimitsConfig::default() }))
    }

    fn tree(&self, queue: impl Fn(&str) -> Result<QueueConfig>) -> Result<Configuration> {
        let mut root = QueueConfig {
            name: Name::new("root"),
            parent: true,
            submit_acl: "*".to_owned(),
            ..QueueConfig::default()
        };
        for path in self.queues.keys() {
            // A parent is less than what is below it, so it is there by then.
            let mut parent = &mut root;
            let names: Vec<&str> = path.split('.').skip(1).collect();
            for name in names.iter().take(names.len() - 1) {
                let above = name.to_lowercase();
                let found = parent.children.iter_mut().find(|child| *child.name == *above);
                parent = found.with_context(|| format!("{path} has no queue {name} above it"))?;
            }
            let made = queue(path).with_context(|| path.clone())?;
            let name = names.last().copied().unwrap_or_default().to_lowercase();
            parent.children.push(QueueConfig {
                name: name.into(),
                parent: self.is_parent(path),
                ..made
            });
        }
        let mut partition = PartitionConfig::new(PARTITION, root);
        partition.preemption.enabled = false;
        partition.preemption.strict_guarantee = false;
        Ok(Configuration { partitions: vec![partition], ..Configuration::default() })
    }

    fn is_parent(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.queues.keys().any(|other| other.starts_with(&below))
    }

    fn queue(&self, path: &str, record: &Record, total: Size, says: Says) -> Result<QueueConfig> {
        let (mut guaranteed, mut max) = (Amounts::EMPTY, Amounts::EMPTY);
        let mut applications = None;
        if let Some(recorded) = record.queue(path) {
            let amounts = |size| self.counted(size).amounts();
            if let Some(share) = recorded.get("abs_max_capacity") {
                max = amounts(part_of(total, share)?);
                guaranteed = amounts(part_of(total, &recorded["abs_capacity"])?);
            } else {
                guaranteed = amounts(record.queue_size(path, "capacity")?);
                max = amounts(record.queue_size(path, "max_capacity")?);
            }
            // None at all is what nobody has configured. Decision M-11.
            let recorded = recorded.get("max_apps").and_then(Value::as_u64);
            applications = recorded.filter(|number| *number > 0);
        }
        let is_parent = self.is_parent(path);
        let limits = ApplicationLimitsConfig {
            max: applications,
            driver: Some(self.drivers(path)?.part),
            ..ApplicationLimitsConfig::default()
        };
        Ok(QueueConfig {
            guaranteed,
            max,
            user_limits: if is_parent { None } else { Some(self.user_limits(path)?) },
            application_limits: (says == Says::Limits && !is_parent).then_some(limits),
            properties: without_priorities(),
            ..QueueConfig::default()
        })
    }

    /// A queue with its part of its parent; without a part it has the same as others by weight.
    fn part(&self, path: &str) -> Result<QueueConfig> {
        let queue = &self.queues[path];
        let mut made = QueueConfig::default();
        let share = match queue.get("capacity") {
            Some(part) => match part.as_str() {
                Some(text) if text.starts_with('[') => {
                    made.guaranteed = self.counted(amounts_of(text)?).amounts();
                    CapacityShare::Absolute
                }
                Some(text) if text.ends_with('w') => {
                    CapacityShare::Weight(decimal(&text.trim_end_matches('w').into())?)
                }
                _ => CapacityShare::Percent(decimal(part)?),
            },
            None => CapacityConfig::ONE.share,
        };
        made.capacity = Some(CapacityConfig { share, maximum: None });
        if let Some(max) = self.own_applications(path) {
            let limits = ApplicationLimitsConfig { max: Some(max), ..Default::default() };
            made.application_limits = Some(limits);
        }
        if !self.is_parent(path) {
            made.user_limits = Some(self.user_limits(path)?);
        }
        Ok(made)
    }

    fn user_limits(&self, path: &str) -> Result<UserLimitsConfig> {
        let queue = &self.queues[path];
        let factor = match queue.get("user_limit_factor") {
            Some(factor) if factor.as_f64() == Some(-1.0) => UserFactor::Off,
            Some(factor) => UserFactor::Times(decimal(factor)?),
            None => UserFactor::Times(Decimal::ONE),
        };
        let floor = queue.get("minimum_user_limit_percent");
        let nobody = Map::new();
        let weights = queue.get("weights").and_then(Value::as_object).unwrap_or(&nobody);
        let mut weights = weights
            .iter()
            .map(|(user, weight)| Ok((Name::new(user), decimal(weight)?)))
            .collect::<Result<Vec<_>>>()?;
        weights.sort();
        // CapacityScheduler knows no increment; the step is the minimum allocation. Decision M-8.
        let step = self.counted(self.step).amounts();
        Ok(UserLimitsConfig {
            formula: Some(self.formula),
            enforcement: Some(Enforcement::Overshoot),
            calculator: Some(self.calculator),
            floor: Some(floor.map_or(Ok(Decimal::HUNDRED), decimal)?),
            factor: Some(factor),
            weights,
            minimum_allocation: Some(step.clone()),
            increment: Some(step),
            maximum_allocation: None,
        })
    }
}

/// The part of the cluster that is recorded as a fraction, rounded down.
fn part_of(total: Size, share: &Value) -> Result<Size> {
    let share = share.as_f64().context("abs_capacity and abs_max_capacity must be numbers")?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fraction has 32 bits where it is from"
    )]
    let share = f64::from(share as f32);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a part of a cluster is far below 2^53 MB"
    )]
    let part = |amount: i64| (amount as f64 * share).floor() as i64;
    Ok(Size { memory: part(total.memory), cores: part(total.cores) })
}

/// The priority of an ask says which of its application's goes first, and nothing of applications.
fn without_priorities() -> Properties {
    Properties::from([(Name::new(SORT_PRIORITY), Name::new("disabled"))])
}

/// `[memory=40960,vcores=40]`.
fn amounts_of(text: &str) -> Result<Size> {
    let mut size = Size::ZERO;
    for part in text.trim_matches(['[', ']']).split(',') {
        let (name, amount) = part.split_once('=').with_context(|| text.to_owned())?;
        let amount = amount.trim().parse().with_context(|| text.to_owned())?;
        match name.trim() {
            "memory" => size.memory = amount,
            "vcores" => size.cores = amount,
            other => bail!("{text} has {other}: it must be memory or vcores"),
        }
    }
    Ok(size)
}

/// A number, or a text with one.
fn decimal(value: &Value) -> Result<Decimal> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Decimal::parse(&text).with_context(|| format!("{text} must be a decimal"))
}
