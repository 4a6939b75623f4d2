//! Removal of the state of an RM after an RM registers or is given up.
//!
//! Everything that an RM sent is removed, because the RM sends everything again. Tasks of tenants do not belong to an
//! RM. A partition with tenants therefore stays, with its nodes. Nothing starts on these nodes before the RM has sent
//! them again: decision page 36.

use std::sync::Arc;

use headroom_core::books::{Books, Partition};
use headroom_core::config::Configuration;
use headroom_core::{Command, Name};
use headroom_engine::{Origin, Submission};
use tonic::Status;

use super::interface::Interface;
use super::notifier::unavailable;

impl Interface {
    /// Removes everything that RMs sent, if the server had an RM or the books have nodes or applications.
    pub(super) async fn tear_down(&self, origin: &Origin, has_rm: bool) -> Result<(), Status> {
        let engine = &self.service().engine;
        let books = &engine.views().at_least(0).await.books;
        let is_fresh =
            books.nodes().iter().next().is_none() && books.applications().iter().next().is_none();
        if is_fresh && !has_rm {
            return Ok(());
        }
        let retained: Vec<&Partition> =
            books.partitions().values().filter(|row| !row.tenants.is_empty()).collect();
        let mut commands = vec![Command::Configure(Box::new(self.without_others(&retained)?))];
        for row in retained {
            commands.extend(leavings(books, row));
        }
        let origin = Some(Arc::new(origin.clone()));
        let submission = |command: Command| Submission { origin: origin.clone(), command };
        let outcomes = engine.submit_all(commands.into_iter().map(submission).collect()).await;
        for outcome in outcomes.map_err(|error| unavailable(&error))? {
            outcome.map_err(|rejection| Status::internal(rejection.to_string()))?;
        }
        Ok(())
    }

    /// Returns the active queue file, with only these of its partitions.
    fn without_others(&self, retained: &[&Partition]) -> Result<Configuration, Status> {
        if retained.is_empty() {
            return Ok(Configuration::default());
        }
        let in_force = self.service().queue_file.in_force();
        let loaded = headroom_config::read(&in_force.text);
        let loaded = loaded.map_err(|faults| Status::internal(faults.to_string()))?;
        let mut configuration = loaded.configuration;
        let is_kept = |name: &Name| retained.iter().any(|row| row.name.eq_ignore_ascii_case(name));
        configuration.partitions.retain(|one| is_kept(&one.name));
        Ok(configuration)
    }
}

/// Returns commands that remove what an RM sent to a partition with tenants. Its nodes stay, and have to be sent
/// again.
fn leavings(books: &Books, row: &Partition) -> Vec<Command> {
    let partition = || row.name.clone();
    let plain = row.applications.iter().filter(|(_, id)| books.application(**id).task.is_none());
    let applications = plain.map(|(application, _)| Command::RemoveApplication {
        partition: partition(),
        application: application.clone(),
    });
    let foreign = row.foreign.iter();
    let foreign = foreign
        .map(|(key, _)| Command::ReleaseForeign { partition: partition(), key: key.clone() });
    let recover = Command::Recover { partition: partition() };
    applications.chain(foreign).chain([recover]).collect()
}
