//! Texts that many objects share are stored once.
//!
//! Labels, resources, and names of namespaces repeat in every pod. Each thread that decodes objects has a pool of such
//! texts. The pool only saves memory: no result depends on it. It has at most [`MAX_BYTES`] of texts, and is emptied when
//! it is full; texts in use stay alive. Long texts repeat too, such as the task groups of a gang in each of its pods.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// Most bytes of a pool, with [`OVERHEAD`] for each text.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Bytes that a text needs besides its own.
const OVERHEAD: usize = 64;

/// Longest text of a pool, in bytes.
const MAX_LENGTH: usize = 16 * 1024;

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

#[derive(Default)]
struct Pool {
    texts: HashSet<Arc<str>>,
    bytes: usize,
}

/// Returns a shared copy of a text.
pub(super) fn shared(text: &str) -> Arc<str> {
    if text.len() > MAX_LENGTH {
        return text.into();
    }
    POOL.with_borrow_mut(|pool| {
        if let Some(found) = pool.texts.get(text) {
            return Arc::clone(found);
        }
        pool.bytes += text.len() + OVERHEAD;
        if pool.bytes > MAX_BYTES {
            *pool = Pool { bytes: text.len() + OVERHEAD, ..Pool::default() };
        }
        let new: Arc<str> = text.into();
        pool.texts.insert(Arc::clone(&new));
        new
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_memory_and_a_full_pool_starts_again() {
        let first = shared("label");
        assert!(Arc::ptr_eq(&first, &shared("label")));
        for number in 0..MAX_BYTES / OVERHEAD {
            shared(&number.to_string());
        }
        POOL.with_borrow(|pool| assert!(pool.bytes <= MAX_BYTES && pool.texts.len() > 1));
        assert!(!Arc::ptr_eq(&first, &shared("label")), "the pool was emptied");
        assert_eq!(&*first, "label");
    }
}
