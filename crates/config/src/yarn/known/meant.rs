//! Suggests the intended property: by its spelling, by its words, or by its name in other schedulers and older
//! versions of Hadoop.

use crate::spelling::nearest;

/// Words of other names, and the corresponding words of `CapacityScheduler`.
const WORDS: &[(&str, &str)] = &[
    ("max", "maximum"),
    ("min", "minimum"),
    ("app", "applications"),
    ("apps", "applications"),
    ("application", "applications"),
    ("job", "applications"),
    ("jobs", "applications"),
    ("admin", "administer"),
    ("mem", "mb"),
    ("memory", "mb"),
    ("cores", "vcores"),
    ("label", "labels"),
];

/// Other names in these words, and the corresponding properties.
const NAMES: &[(&str, &str)] = &[
    ("acl-submit", "acl_submit_applications"),
    ("acl-administer", "acl_administer_queue"),
    ("acl-administer-applications", "acl_administer_queue"),
    ("minimum-capacity", "capacity"),
    ("guaranteed-capacity", "capacity"),
    ("weight", "capacity"),
    ("user-limit", "minimum-user-limit-percent"),
    ("user-limit-percent", "minimum-user-limit-percent"),
    ("minimum-user-limit", "minimum-user-limit-percent"),
    ("maximum-user-limit-factor", "user-limit-factor"),
    ("am-resource-percent", "maximum-am-resource-percent"),
    ("maximum-am-percent", "maximum-am-resource-percent"),
    ("maximum-am-share", "maximum-am-resource-percent"),
    ("maximum-running-applications", "max-parallel-apps"),
    ("maximum-system-applications", "maximum-applications"),
    ("maximum-lifetime", "maximum-application-lifetime"),
    ("node-labels", "accessible-node-labels"),
    ("default-node-labels", "default-node-label-expression"),
    ("scheduling-policy", "ordering-policy"),
    ("children", "queues"),
    ("child-queues", "queues"),
];

/// Returns the property that an unknown name probably means.
pub(super) fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let by_words = || {
        let words = in_words(name);
        let same = known.iter().find(|key| in_words(key) == words);
        let named = || {
            let (_, key) = NAMES.iter().find(|(other, _)| *other == words)?;
            known.iter().find(|one| *one == key)
        };
        same.or_else(named).copied()
    };
    nearest(name, known).or_else(by_words)
}

/// Maximum number of characters of a name that are split into words.
const NAME_MAX: usize = 200;

/// Returns a name as words with dashes between them: `aclSubmitApps` becomes `acl-submit-applications`.
fn in_words(name: &str) -> String {
    let mut apart = String::new();
    let mut after_small = false;
    for letter in name.chars().take(NAME_MAX) {
        if letter.is_ascii_uppercase() && after_small {
            apart.push('-');
        }
        after_small = letter.is_ascii_lowercase();
        apart.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    let word = |word: &str| {
        let known = WORDS.iter().find(|(other, _)| *other == word);
        known.map_or(word.to_owned(), |(_, own)| (*own).to_owned())
    };
    apart.split('-').map(word).collect::<Vec<_>>().join("-")
}
