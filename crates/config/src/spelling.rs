//! Suggestions for misspelled words.

/// Returns the known key that differs only in case, or otherwise in at most two letters. The keys are in lower case.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase();
    let (distance, key) = known.iter().map(|key| (letters_apart(&lower, key), *key)).min()?;
    (distance <= 2).then_some(key)
}

/// Returns the number of letters to insert, delete, or replace to change one text into the other. Texts of very
/// different lengths are not compared.
pub(crate) fn letters_apart(one: &str, two: &str) -> usize {
    if one.len().abs_diff(two.len()) > 2 { usize::MAX } else { distance(one, two) }
}

/// Returns the edit distance of two texts. The cost is the product of their lengths.
pub(crate) fn distance(one: &str, two: &str) -> usize {
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (position, left) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (column, right) in two.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[two.len()]
}
