//! What connections may send beyond what they have earned.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::turns::{AddressTurns, SharedTurn};

/// What a connection may send at once.
const CONNECTION_FRAMES: u32 = 1000;
/// What it may send each second.
const CONNECTION_FRAMES_PER_SECOND: u32 = 200;
/// What all connections of an address may send at once, and each second.
const ADDRESS_FRAMES: u32 = 4000;
const ADDRESS_FRAMES_PER_SECOND: u32 = 1000;

/// An amount that comes back with time.
#[derive(Debug)]
pub(super) struct FrameAllowance {
    /// What is left; negative where more was taken.
    left: f64,
    at: Instant,
    most: u32,
    per_second: u32,
}

impl FrameAllowance {
    fn new(most: u32, per_second: u32) -> Self {
        FrameAllowance {
            left: f64::from(most),
            at: Instant::now(),
            most,
            per_second,
        }
    }

    /// That of a connection.
    pub(super) fn of_connection() -> Self {
        FrameAllowance::new(CONNECTION_FRAMES, CONNECTION_FRAMES_PER_SECOND)
    }

    /// Takes an amount; returns the time until nothing is owed any more.
    pub(super) fn take(&mut self, amount: usize) -> Duration {
        let now = Instant::now();
        let returned = (now - self.at).as_secs_f64() * f64::from(self.per_second);
        self.left = (self.left + returned).min(f64::from(self.most));
        self.at = now;
        self.left -= f64::from(u32::try_from(amount).unwrap_or(u32::MAX));
        Duration::from_secs_f64((-self.left).max(0.0) / f64::from(self.per_second))
    }
}

/// What the connections of an address share.
#[derive(Debug)]
pub(crate) struct AddressShare {
    pub(super) allowance: Mutex<FrameAllowance>,
    pub(crate) turns: AddressTurns,
}

/// What the connections of each address share, for the addresses that have connections.
#[derive(Debug, Default)]
pub(crate) struct AddressShares {
    addresses: Mutex<HashMap<IpAddr, Weak<AddressShare>>>,
    turn: SharedTurn,
}

/// Past so many addresses, those without connections are forgotten whenever one is added.
const ADDRESSES: usize = 64;

impl AddressShares {
    /// What a connection of this address shares.
    pub(crate) fn of_address(&self, address: IpAddr) -> Arc<AddressShare> {
        let mut addresses = self.lock();
        let owner = owner(address);
        if let Some(share) = addresses.get(&owner).and_then(Weak::upgrade) {
            return share;
        }
        if addresses.len() >= ADDRESSES {
            addresses.retain(|_, share| share.strong_count() > 0);
        }
        let allowance = FrameAllowance::new(ADDRESS_FRAMES, ADDRESS_FRAMES_PER_SECOND);
        let share = Arc::new(AddressShare {
            allowance: Mutex::new(allowance),
            turns: AddressTurns::new(self.turn.clone()),
        });
        addresses.insert(owner, Arc::downgrade(&share));
        share
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Weak<AddressShare>>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that stands for its owner: a host has a network of IPv6 of its own.
fn owner(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn allowances_come_back() {
        let mut allowance = FrameAllowance::new(100, 10);
        assert_eq!(allowance.take(100), Duration::ZERO);
        assert_eq!(allowance.take(5), Duration::from_millis(500));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(allowance.take(5), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(allowance.take(110), Duration::from_secs(1));
    }

    #[tokio::test]
    async fn connections_of_an_address_share() {
        let addresses = AddressShares::default();
        let of = |address: &str| addresses.of_address(address.parse().unwrap());
        let check = |first: &str, second: &str, expected: bool| {
            let is_shared = Arc::ptr_eq(&of(first), &of(second));
            assert_eq!(is_shared, expected, "{first} {second}");
        };
        let (_first, _second) = (of("10.0.0.1"), of("2001:db8::1"));
        check("10.0.0.1", "10.0.0.1", true);
        check("10.0.0.1", "::ffff:10.0.0.1", true);
        check("10.0.0.1", "10.0.0.2", false);
        check("2001:db8::1", "2001:db8::2:3:4", true);
        check("2001:db8::1", "2001:db8:0:1::1", false);
        for number in 0..10 * ADDRESSES {
            drop(of(&format!("10.1.{}.{}", number / 256, number % 256)));
        }
        assert!(addresses.lock().len() <= ADDRESSES);
    }
}
