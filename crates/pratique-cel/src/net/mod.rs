//! Network addresses and networks as the `ip()` and `cidr()` functions know them.
//!
//! Stricter than most parsers: no leading zeroes, no zones, no IPv4 addresses mapped into IPv6.

mod address;
mod cidr;
mod ip;

pub(crate) use address::Address;
pub use address::AddressError;
pub use cidr::{Cidr, CidrError, PrefixError};
pub use ip::{Ip, IpError};
