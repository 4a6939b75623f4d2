//! Node labels to which queues have access.

use std::sync::Arc;

use headroom_core::Name;
use headroom_core::config::NodeLabelsConfig;

use super::types::ascending;
use super::{At as _, Decoded, Field, structure};
use crate::proto;

structure!(NodeLabelsConfig = proto::NodeLabels { accessible, default, exclusive, lends });

impl Field<Option<proto::AccessibleLabels>> for Option<Vec<Name>> {
    fn put(&self) -> Option<proto::AccessibleLabels> {
        self.as_ref().map(|labels| proto::AccessibleLabels { labels: labels.put() })
    }

    fn take(field: Option<proto::AccessibleLabels>) -> Decoded<Self> {
        let Some(proto::AccessibleLabels { labels }) = field else { return Ok(None) };
        ascending(labels.iter()).at("labels")?;
        Field::take(labels).map(Some)
    }
}

impl Field<Option<proto::NodeLabels>> for Option<NodeLabelsConfig> {
    fn put(&self) -> Option<proto::NodeLabels> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::NodeLabels>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}

impl Field<Option<proto::NodeLabels>> for Option<Arc<NodeLabelsConfig>> {
    fn put(&self) -> Option<proto::NodeLabels> {
        self.as_deref().map(Field::put)
    }

    fn take(field: Option<proto::NodeLabels>) -> Decoded<Self> {
        field.map(|one| NodeLabelsConfig::take(one).map(Arc::new)).transpose()
    }
}
