//! Label selectors.

use serde::Deserialize;

use super::text::{Labels, List, Text};
use super::word::words;

/// Conditions on labels, all of which must hold. A selector without conditions selects everything.
///
/// An absent selector selects nothing, so fields have it as an `Option`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels and their required values.
    pub match_labels: Labels,
    /// Further conditions.
    pub match_expressions: List<LabelRequirement>,
}

/// A condition on one label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct LabelRequirement {
    /// Key of the label.
    pub key: Text,
    /// How the label and the values are compared.
    pub operator: LabelOperator,
    /// Values to compare with.
    pub values: List<Text>,
}

words! {
    /// How a label is compared with the values of a requirement.
    LabelOperator {
        /// The label has one of the values.
        In = "In",
        /// The label is absent or has none of the values.
        NotIn = "NotIn",
        /// The label is present.
        Exists = "Exists",
        /// The label is absent.
        DoesNotExist = "DoesNotExist",
    } default Unknown else
    /// No operator that Kubernetes defines.
    Unknown
}
