//! The moment of a response, and pages of lists.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The moment that a response shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stamp {
    /// Number of the newest record that the response includes.
    pub sequence: u64,
    /// Epoch of the record numbers. A different epoch means that the numbers have restarted.
    pub epoch: String,
    /// Creation time of that record.
    pub as_of: Timestamp,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The moment of the page.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The items, in the requested order.
    pub items: Vec<T>,
    /// Total number of items, up to 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Lower bound of the total number of items, instead of `total`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_at_least: Option<u64>,
    /// The `cursor` of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Number of items that the caller cannot see.
    #[serde(default)]
    #[schema(required = true)]
    pub hidden: u64,
}
