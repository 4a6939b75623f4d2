//! Amounts as they are recorded: MB of memory, and virtual cores.

use std::fmt;

use anyhow::{Context as _, Result};
use headroom_core::resource::{Amounts, Quantity, ResourceType, Resources};
use serde_json::Value;

/// Memory and cores. The core counts them in whatever unit it is given, so that one MB is one here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    pub(super) memory: i64,
    pub(super) cores: i64,
}

impl Size {
    /// Nothing.
    pub(super) const ZERO: Self = Self { memory: 0, cores: 0 };

    /// As it is recorded, `[memory, cores]`.
    ///
    /// # Errors
    /// When it is something else.
    pub(super) fn read(value: &Value) -> Result<Self> {
        let part = |place: usize| value.get(place).and_then(Value::as_i64);
        let size = part(0).zip(part(1)).map(|(memory, cores)| Self { memory, cores });
        size.with_context(|| format!("{value} must be [memory in MB, vcores]"))
    }

    pub(super) fn of(resources: &Resources) -> Self {
        let part = |resource| resources.get_or_zero(resource).get();
        Self { memory: part(ResourceType::MEMORY), cores: part(ResourceType::VCORE) }
    }

    /// For a command; types with nothing are absent.
    pub(super) fn amounts(self) -> Amounts {
        let parts = [("memory", self.memory), ("vcore", self.cores)];
        parts
            .into_iter()
            .filter(|(_, amount)| *amount != 0)
            .map(|(name, amount)| (name, Quantity::of(amount)))
            .collect()
    }

    /// The same with memory alone, where nothing else counts.
    pub(super) const fn memory_alone(self) -> Self {
        Self { memory: self.memory, cores: 0 }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { memory: self.memory + other.memory, cores: self.cores + other.cores }
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self { memory: self.memory - other.memory, cores: self.cores - other.cores }
    }

    pub(super) fn times(self, count: u32) -> Self {
        let count = i64::from(count);
        Self { memory: self.memory * count, cores: self.cores * count }
    }

    /// Down to multiples of a step.
    pub(super) const fn whole_steps(self, step: Self) -> Self {
        const fn down(amount: i64, step: i64) -> i64 {
            if step <= 0 { amount } else { amount - amount.rem_euclid(step) }
        }
        Self { memory: down(self.memory, step.memory), cores: down(self.cores, step.cores) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} MB, {} vcores]", self.memory, self.cores)
    }
}
