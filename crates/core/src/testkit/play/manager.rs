//! Connection and question settings of the resource manager in random histories.

use core::num::NonZeroU16;

use crate::books::{Away, Questions};
use crate::command::Command;
use crate::id::PartitionId;
use crate::name::Name;

use super::World;

/// Returns the command that sets which questions the RM answers. For some numbers, the RM becomes absent instead. The
/// next command of this type ends its absence.
pub(super) fn about_rm(
    world: &World,
    known: Option<PartitionId>,
    partition: Name,
    setting: Option<(u16, bool)>,
) -> Command {
    let is_away = known.is_some_and(|id| world.books.partition(id).away.is_some());
    if is_away || matches!(setting, Some((at_once, true)) if at_once % 4 == 3) {
        let away = Away { manager: Name::new("rm"), since: world.now };
        return Command::SetManagerAway { partition, away: (!is_away).then_some(away) };
    }
    let questions = setting.and_then(|(at_once, victims)| {
        Some(Questions { victims, at_once: NonZeroU16::new(at_once)? })
    });
    Command::SetQuestions { partition, questions }
}
