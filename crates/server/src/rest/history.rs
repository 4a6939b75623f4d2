//! Samples of each minute of the last day.

use crate::convert::history::{applications, containers};

use super::refusal::Answer;
use super::request::RestRequest;

// Samples are always taken, so the refusal of the reference for a disabled history does not occur.

pub(crate) async fn get_application_history(asked: RestRequest) -> Answer {
    asked.object(|seen| Ok(seen.view.history.iter().map(applications).collect::<Vec<_>>())).await
}

pub(crate) async fn get_container_history(asked: RestRequest) -> Answer {
    asked.object(|seen| Ok(seen.view.history.iter().map(containers).collect::<Vec<_>>())).await
}
