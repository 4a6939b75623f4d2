//! Tags of an application that mean something to the core. Their names count in any case.

use crate::books::QueueSettings;
use crate::name::Name;
use crate::resource::Amounts;

use super::Request;
use super::json::read_resource;

const QUOTA: &str = "namespace.resourcequota";
const GUARANTEED: &str = "namespace.resourceguaranteed";
const MAX_APPLICATIONS: &str = "namespace.resourcemaxapps";
const FORCED: &str = "application.create.force";

/// What the tags of an application say of its queue, if it was made by a rule.
///
/// Source: queues and limits §4.9.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueTags {
    max: Option<Amounts>,
    guaranteed: Option<Amounts>,
    max_applications: Option<u64>,
}

impl QueueTags {
    /// What cannot be read, or grants nothing, is as good as absent.
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

    /// Change the settings of a queue. One amount alone clears the other.
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

/// The value of a tag, whose name is given in lower case.
pub(super) fn find<'tags>(tags: &'tags [(Name, Name)], name: &str) -> Option<&'tags str> {
    let same = |key: &str| key.chars().flat_map(char::to_lowercase).eq(name.chars());
    tags.iter().find(|(key, _)| same(key)).map(|(_, value)| value.as_str())
}

/// Whether an application runs already and must be taken in, by its tags.
pub fn is_forced(tags: &[(Name, Name)]) -> bool {
    let value = find(tags, FORCED).unwrap_or_default();
    // As Go reads a boolean.
    ["1", "t", "T", "TRUE", "true", "True"].contains(&value)
}

/// A number of decimal digits alone.
fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
