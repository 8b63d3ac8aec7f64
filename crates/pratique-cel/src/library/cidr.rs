//! Networks: `cidr('10.0.0.0/8').containsIP('10.1.2.3')`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/cidr.go

use pratique_gotext::net::{Cidr, Ip};

use super::arguments::{equal_opaque, opaque, string};
use super::ip;
use super::methods::{method, method_of_two, of_text};
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function, Overload};
use crate::types::Type;
use crate::value::{Opaque, Value};

const NAME: &str = "net.CIDR";

/// Functions that parse networks and test what they contain: `cidr('10.0.0.0/8').containsIP('10.0.0.1')`. Needs [`ip`](super::ip()).
pub fn library() -> Library {
    let to_string = method("cidr_to_string", ty(), Type::String, Cidr::to_string);
    let prefix_length = |cidr: &Cidr| i64::from(cidr.prefix_length());
    let is_cidr = |text: &str| Cidr::parse(text).is_ok();
    Library::from_functions(vec![
        of_text("cidr", "string_to_cidr", ty(), read)
            .with_text(|text| Cidr::parse(text).ok().map(ConstantValue::opaque))
            .costing_always(cost::reads_first),
        of_text("isCIDR", "is_cidr", Type::Bool, is_cidr).costing_always(cost::reads_first),
        contains_ip(),
        contains_cidr(),
        Function::new("ip")
            .with(method("cidr_ip", ty(), ip::ty(), |cidr: &Cidr| cidr.ip()))
            .costing(cost::nominal),
        Function::new("prefixLength").with(method("cidr_prefix_length", ty(), Type::Int, prefix_length)),
        Function::new("masked").with(method("cidr_masked", ty(), ty(), |cidr: &Cidr| cidr.masked())),
        Function::new("string").with(Overload {
            member: false,
            ..to_string
        }),
    ])
    .naming(NAME, ty())
}

/// `isMask`: whether an address has no bits behind its prefix.
// Upstream: the library's version 1, since Kubernetes 1.38
pub(super) fn masks() -> Library {
    let is_mask = |cidr: &Cidr| *cidr == cidr.masked();
    Library::from_functions(vec![Function::new("isMask").with(method(
        "cidr_is_mask",
        ty(),
        Type::Bool,
        is_mask,
    ))])
}

fn ty() -> Type {
    Type::Opaque(NAME.into(), [].into())
}

fn contains_ip() -> Function {
    let params = [ty(), ip::ty()];
    Function::new("containsIP")
        .member(
            "cidr_contains_ip_string",
            &[ty(), Type::String],
            Type::Bool,
            |_, arguments| {
                let cidr: &Cidr = opaque(arguments, 0)?;
                // A malformed address has no overload; upstream drops the reason.
                let ip = Ip::parse(string(arguments, 1)?).map_err(|_| Fault::no_such_overload())?;
                Ok(Value::Bool(cidr.contains_ip(ip)))
            },
        )
        .costing(|arguments, result| comparing(arguments, result) + reading_second(arguments))
        .with(method_of_two(
            "cidr_contains_ip_ip",
            params,
            Type::Bool,
            |cidr: &Cidr, ip: &Ip| cidr.contains_ip(*ip),
        ))
        .costing_always(comparing)
}

fn contains_cidr() -> Function {
    let params = [ty(), ty()];
    Function::new("containsCIDR")
        .member(
            "cidr_contains_cidr_string",
            &[ty(), Type::String],
            Type::Bool,
            |_, arguments| {
                let cidr: &Cidr = opaque(arguments, 0)?;
                Ok(Value::Bool(cidr.contains_cidr(read(string(arguments, 1)?)?)))
            },
        )
        .costing(|arguments, result| masking(arguments, result) + reading_second(arguments))
        .with(method_of_two(
            "cidr_contains_cidr",
            params,
            Type::Bool,
            |cidr: &Cidr, other: &Cidr| cidr.contains_cidr(*other),
        ))
        .costing_always(masking)
}

impl Opaque for Cidr {
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
        Some(Cidr::size(*self))
    }
}

/// Comparing the bytes of the prefix with as many others.
fn comparing(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    cost::traversal(cost::size_at(arguments, 0) * 2)
}

/// Comparing, after masking the operand.
fn masking(arguments: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    comparing(arguments, result) + cost::traversal(cost::size_at(arguments, 0)) + 1
}

fn reading_second(arguments: &[Value<'_>]) -> u64 {
    cost::traversal(cost::size_at(arguments, 1))
}

fn read(text: &str) -> Result<Cidr, Fault> {
    Cidr::parse(text).map_err(|error| {
        Fault::error(format!(
            "network address parse error during conversion from string: {error}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn networks() {
        let caller = Caller::new(library());
        caller.check("string_to_cidr", &[Value::String("10.1.2.3/8")], "10.1.2.3/8", 1);
        let twice = "network address parse error during conversion from string: \
            network address parse error during conversion from string: netip.ParsePrefix(\"x\"): no '/'";
        caller.check("string_to_cidr", &[Value::String("x")], twice, 1);
        caller.check("is_cidr", &[Value::String("10.0.0.0/33")], "false", 2);
        let net = caller.make("string_to_cidr", "10.1.2.3/8");
        caller.check("cidr_ip", &[net], "10.1.2.3", 1);
        caller.check("cidr_masked", &[net], "10.0.0.0/8", 1);
        caller.check("cidr_prefix_length", &[net], "8", 1);
        caller.check("cidr_to_string", &[net], "'10.1.2.3/8'", 1);
    }

    #[test]
    fn containing() {
        let caller = Caller::new(library());
        let net = |text| caller.make("string_to_cidr", text);
        let ip = caller.call("cidr_ip", &[net("10.1.2.3/32")]).unwrap();
        caller.check("cidr_contains_ip_ip", &[net("10.0.0.0/8"), ip], "true", 1);
        caller.check(
            "cidr_contains_ip_string",
            &[net("10.0.0.0/8"), Value::String("10.1.2.3")],
            "true",
            2,
        );
        caller.check(
            "cidr_contains_ip_string",
            &[net("10.0.0.0/8"), Value::String("x")],
            "no such overload",
            2,
        );
        caller.check(
            "cidr_contains_cidr",
            &[net("2001:db8::/64"), net("2001:db8::/65")],
            "true",
            4,
        );
        caller.check(
            "cidr_contains_cidr_string",
            &[net("10.0.0.0/8"), Value::String("10.0.0.0/7")],
            "false",
            4,
        );
    }
}
