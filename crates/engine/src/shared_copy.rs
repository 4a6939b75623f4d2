//! A copy of the books that all readers at the same record share.

use std::cell::RefCell;
use std::sync::Arc;

use headroom_core::books::Books;

/// The last copy of the books, with its record.
///
/// The cost of a copy is the chunks of the books, and each chunk is copied again when it changes. At most one copy
/// therefore exists for each record. Views and explanations share this copy.
#[derive(Debug, Default)]
pub(crate) struct SharedCopy(RefCell<Option<(u64, Arc<Books>)>>);

impl SharedCopy {
    /// Returns an existing copy of the books after this record.
    pub(crate) const fn from(sequence: u64, copy: Arc<Books>) -> Self {
        Self(RefCell::new(Some((sequence, copy))))
    }

    /// Returns a copy of the books after this record.
    pub(crate) fn of(&self, books: &Books, sequence: u64) -> Arc<Books> {
        let mut last = self.0.borrow_mut();
        if let Some((at, copy)) = &*last
            && *at == sequence
        {
            return Arc::clone(copy);
        }
        let copy = Arc::new(books.clone());
        *last = Some((sequence, Arc::clone(&copy)));
        copy
    }

    /// Drops the copy, because the books were changed without a record.
    #[cfg(feature = "testkit")]
    pub(crate) fn forget(&self) {
        self.0.replace(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_made_once_for_each_record() {
        let (copies, books) = (SharedCopy::default(), Books::default());
        let first = copies.of(&books, 7);
        assert!(Arc::ptr_eq(&first, &copies.of(&books, 7)));
        let next = copies.of(&books, 8);
        assert!(!Arc::ptr_eq(&first, &next));
        assert!(Arc::ptr_eq(&next, &copies.of(&books, 8)));
    }
}
