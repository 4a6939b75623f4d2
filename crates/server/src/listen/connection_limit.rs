//! Limits the number of connections, in total and per client address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts connections. Clones share the count.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLimit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    most_per_address: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

/// Reason why a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The limit of all connections is reached.
    All,
    /// The limit of one address is reached.
    Address,
}

/// Permit of a connection, which counts until the permit is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    address: IpAddr,
    bound: ConnectionLimit,
}

impl ConnectionLimit {
    pub(super) fn new(most: usize, most_per_address: usize) -> Self {
        Self(Arc::new(Shared { most, most_per_address, open: Mutex::default() }))
    }

    /// Counts a connection from this address, if the limits allow another connection.
    pub(super) fn take(&self, address: IpAddr) -> Result<ConnectionPermit, Full> {
        let mut open = self.open();
        if open.all >= self.0.most {
            return Err(Full::All);
        }
        let count = open.by_address.entry(address).or_default();
        if *count >= self.0.most_per_address {
            return Err(Full::Address);
        }
        *count += 1;
        open.all += 1;
        Ok(ConnectionPermit { address, bound: self.clone() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.bound.open();
        open.all -= 1;
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{ConnectionLimit, Full};

    #[test]
    fn places_are_counted_and_given_back() {
        let [one, two, three] = [1, 2, 3].map(|last| IpAddr::from(Ipv4Addr::new(10, 0, 0, last)));
        let bound = ConnectionLimit::new(3, 2);
        let first = bound.take(one).unwrap();
        let _second = bound.take(one).unwrap();
        assert_eq!(bound.take(one).unwrap_err(), Full::Address);
        let _other = bound.take(two).unwrap();
        assert_eq!(bound.take(three).unwrap_err(), Full::All);
        drop(first);
        let _again = bound.take(one).unwrap();
        assert_eq!(bound.open().by_address.len(), 2);
    }
}
