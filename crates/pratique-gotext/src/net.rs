//! Network addresses and networks: `net/netip`, as `k8s.io/apiserver`'s `ip()` and `cidr()` use it.
//!
//! Stricter than most parsers: no leading zeroes, no zones, no IPv4 addresses mapped into IPv6. [`parse_sloppy_ip`] and
//! [`parse_sloppy_cidr`] read what Go took before 1.17.
//!
//! ```
//! use pratique_gotext::net::{Cidr, Ip};
//!
//! let network = Cidr::parse("10.0.0.0/8")?;
//! assert!(network.contains_ip(Ip::parse("10.2.3.4")?));
//! assert_eq!(
//!     Ip::parse("010.0.0.1").unwrap_err().to_string(),
//!     "IP Address \"010.0.0.1\" parse error during conversion from string: \
//!      ParseAddr(\"010.0.0.1\"): IPv4 field has octet with leading zero",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod cidr;
mod ip;
mod sloppy;

pub use address::AddressError;
pub(crate) use address::WrittenAddress;
pub use cidr::{Cidr, CidrError, PrefixError};
pub use ip::{Ip, IpError};
pub use sloppy::{parse_sloppy_cidr, parse_sloppy_ip};
