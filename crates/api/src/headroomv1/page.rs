//! What every answer carries, and how lists come.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The moment that an answer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stamp {
    /// Number of the last record that it knows.
    pub sequence: u64,
    /// Another one means that numbers began anew.
    pub epoch: String,
    /// When the record was made.
    pub as_of: Timestamp,
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The moment that it shows.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// In the order that was asked for.
    pub items: Vec<T>,
    /// How many there are in all, up to 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Instead of `total`: there are at least as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_at_least: Option<u64>,
    /// To be sent as `cursor` for the next part; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many the caller may not see.
    #[serde(default)]
    #[schema(required = true)]
    pub hidden: u64,
}
