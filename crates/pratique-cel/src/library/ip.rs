//! Addresses: `ip('10.0.0.1').isLoopback()`.

use std::any::Any;

use pratique_gotext::net::Ip;

use super::arguments::{equal_opaque, opaque, string};
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, ConstantValue, Function};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const NAME: &str = "net.IP";

/// Functions that read addresses and say of what kind they are: `ip('10.0.0.1').family()`.
pub fn library() -> Library {
    let accessor = |name: &str, id: &str, result: Type, call: CallFn| {
        Function::new(name).member(id, &[of()], result, call)
    };
    let predicate = |name: &str, id: &str, call: CallFn| accessor(name, id, Type::Bool, call);
    Library::of(vec![
        Function::new("ip")
            .global("string_to_ip", &[Type::String], of(), parse)
            .with_text(of_text)
            .costing_always(cost::reads_first),
        Function::new("isIP")
            .global("is_ip", &[Type::String], Type::Bool, is_ip)
            .costing_always(cost::reads_first),
        Function::new("ip.isCanonical")
            .global("ip_is_canonical", &[Type::String], Type::Bool, is_canonical)
            .costing_always(cost::reads_first_twice),
        Function::new("string").global("ip_to_string", &[of()], Type::String, to_string),
        accessor("family", "ip_family", Type::Int, family),
        predicate("isUnspecified", "ip_is_unspecified", is_unspecified),
        predicate("isLoopback", "ip_is_loopback", is_loopback),
        predicate(
            "isLinkLocalMulticast",
            "ip_is_link_local_multicast",
            is_link_local_multicast,
        ),
        predicate(
            "isLinkLocalUnicast",
            "ip_is_link_local_unicast",
            is_link_local_unicast,
        ),
        predicate("isGlobalUnicast", "ip_is_global_unicast", is_global_unicast),
    ])
    .naming(NAME, of())
}

/// The type of addresses.
pub(super) fn of() -> Type {
    Type::Opaque(NAME.into(), [].into())
}

impl Opaque for Ip {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        equal_opaque(self, other)
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn size(&self) -> Option<u64> {
        Some(Ip::size(*self))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn ip_at(arguments: &[Value<'_>]) -> Result<Ip, Fault> {
    opaque(arguments, 0).copied()
}

fn read(text: &str) -> Result<Ip, Fault> {
    Ip::parse(text).map_err(|error| Fault::error(error.to_string()))
}

fn parse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(context.arena.opaque(read(string(arguments, 0)?)?))
}

fn of_text(text: &str) -> Option<ConstantValue> {
    read(text).ok().map(ConstantValue::opaque)
}

fn is_ip<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(Ip::parse(string(arguments, 0)?).is_ok()))
}

fn is_canonical<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = string(arguments, 0)?;
    Ok(Value::Bool(read(text)?.to_string() == text))
}

fn to_string<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(context.arena.str(&ip_at(arguments)?.to_string())))
}

fn family<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Int(ip_at(arguments)?.family().into()))
}

fn is_unspecified<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(ip_at(arguments)?.is_unspecified()))
}

fn is_loopback<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(ip_at(arguments)?.is_loopback()))
}

fn is_link_local_multicast<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(ip_at(arguments)?.is_link_local_multicast()))
}

fn is_link_local_unicast<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(ip_at(arguments)?.is_link_local_unicast()))
}

fn is_global_unicast<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(ip_at(arguments)?.is_global_unicast()))
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
