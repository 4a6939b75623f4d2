//! What was placed, beside what our scheduler would place: in histories with a single node and
//! applications in the order in which they came, where nobody has a choice of nodes.
//!
//! Nothing is compared while something is reserved, or is about to be: a node is kept by another
//! contract here (one node for one ask, until it is placed), so other asks may go on.

use anyhow::Result;
use serde_json::Value;

use super::figures::Figures;
use super::record::Record;
use super::setup::Setup;
use super::size::Size;
use super::world::World;

/// What is compared of a history, and of the step at hand.
#[derive(Debug)]
pub(super) struct Placements {
    /// Whether placements are compared in this history.
    are_compared: bool,
    /// Whether they are in this step.
    now: bool,
    /// How many more could have been placed in this step.
    left: u64,
    calculator_is_memory: bool,
}

impl Placements {
    pub(super) fn of(setup: &Setup, steps: &[Value]) -> Self {
        let mut nodes: Vec<&Value> = steps
            .iter()
            .filter(|step| step["op"] == "add_node")
            .map(|step| &step["node"])
            .collect();
        nodes.dedup();
        Self {
            are_compared: nodes.len() == 1 && setup.is_fifo(),
            now: false,
            left: 0,
            calculator_is_memory: setup.counted(Size { memory: 0, cores: 1 }) == Size::ZERO,
        }
    }

    /// A step begins.
    pub(super) fn begin(&mut self, record: &Record, step: &Value) {
        let mut events = step["events"].as_array().into_iter().flatten();
        let is_reserved = record.apps().any(|(_, app)| app.get("reserved").is_some());
        let reserves = events.any(|event| event[0] == "reserve");
        self.now = self.are_compared && step["op"] == "heartbeat" && !is_reserved && !reserves;
        self.left = step["times"].as_u64().unwrap_or(1);
    }

    /// Something was placed; it is not in the books yet.
    pub(super) fn compare(
        &mut self,
        world: &World,
        (app, size): (&str, Size),
        figures: &mut Figures,
    ) -> Result<()> {
        if self.now {
            self.left = self.left.saturating_sub(1);
            let ours = world.next_placement()?;
            figures.plain(
                app,
                "placement",
                &self.shown(ours),
                &self.shown(Some((app.to_owned(), size))),
            );
        }
        Ok(())
    }

    /// The step ends: where more could have been placed and was not, ours places nothing either.
    pub(super) fn end(&mut self, world: &World, figures: &mut Figures) -> Result<()> {
        if self.now && self.left > 0 {
            let ours = world.next_placement()?;
            figures.plain("nobody", "placement", &self.shown(ours), &None);
        }
        self.now = false;
        Ok(())
    }

    /// With the memory calculator no more than memory counts. Decision M-18.
    fn shown(&self, placed: Option<(String, Size)>) -> Option<(String, Size)> {
        let size = |size: Size| if self.calculator_is_memory { size.memory_alone() } else { size };
        placed.map(|(app, placed)| (app, size(placed)))
    }
}
