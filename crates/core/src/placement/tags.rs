//! Tags of an application with a meaning for the core. Their names are matched ignoring case.

use crate::books::QueueSettings;
use crate::name::Name;
use crate::resource::Amounts;

use super::Request;
use super::json::read_resource;

const QUOTA: &str = "namespace.resourcequota";
const GUARANTEED: &str = "namespace.resourceguaranteed";
const MAX_APPLICATIONS: &str = "namespace.resourcemaxapps";
const FORCED: &str = "application.create.force";

/// Settings of a queue in the tags of an application, for queues that a placement rule created.
///
/// Source: queues and limits §4.9.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueTags {
    max: Option<Amounts>,
    guaranteed: Option<Amounts>,
    max_applications: Option<u64>,
}

impl QueueTags {
    /// Parses the tags. An invalid value, or one without a positive amount, counts as absent.
    pub(crate) fn read(request: &Request<'_>) -> Self {
        let amounts = |name| {
            let amounts = request.tag(name).and_then(read_resource);
            amounts.filter(Amounts::is_strictly_positive)
        };
        Self {
            max: amounts(QUOTA),
            guaranteed: amounts(GUARANTEED),
            max_applications: request.tag(MAX_APPLICATIONS).and_then(count).filter(|max| *max > 0),
        }
    }

    /// Changes the settings of a queue. If only one of both amounts is set, the other one is cleared.
    pub(crate) fn change(self, settings: &mut QueueSettings) {
        if self.max.is_some() || self.guaranteed.is_some() {
            (settings.max, settings.guaranteed) = (self.max, self.guaranteed);
            if settings.guaranteed.is_some() {
                settings.capacity = None; // Its amount is set, whatever part others have.
            }
        }
        if let Some(max) = self.max_applications {
            settings.max_applications = max;
        }
    }
}

/// Returns the value of a tag. `name` must be in lower case.
pub(super) fn find<'tags>(tags: &'tags [(Name, Name)], name: &str) -> Option<&'tags str> {
    let same = |key: &str| key.chars().flat_map(char::to_lowercase).eq(name.chars());
    tags.iter().find(|(key, _)| same(key)).map(|(_, value)| value.as_str())
}

/// Returns whether the tags mark an application that already runs and must be accepted.
pub fn is_forced(tags: &[(Name, Name)]) -> bool {
    let value = find(tags, FORCED).unwrap_or_default();
    // The values that Go parses as true.
    ["1", "t", "T", "TRUE", "true", "True"].contains(&value)
}

/// Parses a number of decimal digits only.
fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
