//! Addresses: `ip('10.0.0.1').isLoopback()`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/ip.go

use pratique_gotext::net::{Ip, IpError};

use super::arguments::equal_opaque;
use super::methods::{method, of_text};
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function, Overload};
use crate::types::Type;
use crate::value::{Opaque, Value};

const NAME: &str = "net.IP";

/// Functions that parse and classify addresses: `ip('10.0.0.1').family()`.
pub fn library() -> Library {
    let predicate = |name: &str, id: &str, holds: fn(&Ip) -> bool| {
        Function::new(name).with(method(id, ty(), Type::Bool, holds))
    };
    let to_string = method("ip_to_string", ty(), Type::String, Ip::to_string);
    let family = |ip: &Ip| i64::from(ip.family());
    Library::from_functions(vec![
        of_text("ip", "string_to_ip", ty(), Ip::parse)
            .with_text(|text| Ip::parse(text).ok().map(ConstantValue::opaque))
            .costing_always(cost::reads_first),
        of_text("isIP", "is_ip", Type::Bool, |text| Ip::parse(text).is_ok())
            .costing_always(cost::reads_first),
        of_text("ip.isCanonical", "ip_is_canonical", Type::Bool, is_canonical)
            .costing_always(cost::reads_first_twice),
        Function::new("string").with(Overload {
            member: false,
            ..to_string
        }),
        Function::new("family").with(method("ip_family", ty(), Type::Int, family)),
        predicate("isUnspecified", "ip_is_unspecified", |ip| ip.is_unspecified()),
        predicate("isLoopback", "ip_is_loopback", |ip| ip.is_loopback()),
        predicate("isLinkLocalMulticast", "ip_is_link_local_multicast", |ip| {
            ip.is_link_local_multicast()
        }),
        predicate("isLinkLocalUnicast", "ip_is_link_local_unicast", |ip| {
            ip.is_link_local_unicast()
        }),
        predicate("isGlobalUnicast", "ip_is_global_unicast", |ip| {
            ip.is_global_unicast()
        }),
    ])
    .naming(NAME, ty())
}

/// The type of addresses.
pub(super) fn ty() -> Type {
    Type::Opaque(NAME.into(), [].into())
}

impl Opaque for Ip {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        equal_opaque(self, other)
    }

    fn to_text(&self) -> String {
        self.to_string()
    }

    fn size(&self) -> Option<u64> {
        Some(Ip::size(*self))
    }
}

fn is_canonical(text: &str) -> Result<bool, IpError> {
    Ok(Ip::parse(text)?.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn addresses() {
        let caller = Caller::new(library());
        let text = Value::String;
        caller.check("string_to_ip", &[text("2001:DB8::1")], "2001:db8::1", 2);
        let mapped = "IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed";
        caller.check("string_to_ip", &[text("::ffff:1.2.3.4")], mapped, 2);
        caller.check("is_ip", &[text("10.0.0.1")], "true", 1);
        caller.check("ip_is_canonical", &[text("10.0.0.1")], "true", 2);
        caller.check("ip_is_canonical", &[text("2001:DB8::1")], "false", 3);
        let ip = |text| caller.make("string_to_ip", text);
        caller.check("ip_family", &[ip("::1")], "6", 1);
        caller.check("ip_is_loopback", &[ip("::1")], "true", 1);
        caller.check("ip_is_unspecified", &[ip("::")], "true", 1);
        caller.check("ip_is_link_local_multicast", &[ip("224.0.0.1")], "true", 1);
        caller.check("ip_is_link_local_unicast", &[ip("169.254.0.1")], "true", 1);
        caller.check("ip_is_global_unicast", &[ip("10.0.0.1")], "true", 1);
        caller.check("ip_to_string", &[ip("1:0::2")], "'1::2'", 1);
    }
}
