//! Networks: `cidr('10.0.0.0/8').containsIP('10.1.2.3')`.

use std::any::Any;

use pratique_gotext::net::{Cidr, Ip};

use super::arguments::{equal_opaque, opaque, string};
use super::ip;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function, Overload};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const NAME: &str = "net.CIDR";

/// Functions that read networks and say what lies in them: `cidr('10.0.0.0/8').containsIP('10.0.0.1')`. Needs [`ip`](super::ip()).
pub fn library() -> Library {
    Library::of(vec![
        Function::new("cidr")
            .global("string_to_cidr", &[Type::String], of(), parse)
            .with_text(of_text)
            .costing_always(cost::reads_first),
        Function::new("isCIDR")
            .global("is_cidr", &[Type::String], Type::Bool, is_cidr)
            .costing_always(cost::reads_first),
        contains_ip(),
        contains_cidr(),
        Function::new("ip")
            .member("cidr_ip", &[of()], ip::of(), address)
            .costing(cost::nominal),
        Function::new("prefixLength").member("cidr_prefix_length", &[of()], Type::Int, prefix_length),
        Function::new("masked").member("cidr_masked", &[of()], of(), masked),
        Function::new("string").global("cidr_to_string", &[of()], Type::String, to_string),
    ])
    .naming(NAME, of())
}

fn of() -> Type {
    Type::Opaque(NAME.into(), [].into())
}

fn contains_ip() -> Function {
    let with_string = Overload::new("cidr_contains_ip_string", true, &[of(), Type::String], Type::Bool);
    Function::new("containsIP")
        .with(
            with_string
                .implemented(contains_ip_string)
                .costing(comparing_and_reading),
        )
        .member(
            "cidr_contains_ip_ip",
            &[of(), ip::of()],
            Type::Bool,
            contains_ip_ip,
        )
        .costing_always(comparing)
}

fn contains_cidr() -> Function {
    let with_string = Overload::new(
        "cidr_contains_cidr_string",
        true,
        &[of(), Type::String],
        Type::Bool,
    );
    Function::new("containsCIDR")
        .with(
            with_string
                .implemented(contains_cidr_string)
                .costing(masking_and_reading),
        )
        .member(
            "cidr_contains_cidr",
            &[of(), of()],
            Type::Bool,
            contains_cidr_cidr,
        )
        .costing_always(masking)
}

impl Opaque for Cidr {
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
        Some(Cidr::size(*self))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Comparing the bytes of the prefix with as many others.
fn comparing(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    cost::traversal(cost::size_at(arguments, 0) * 2)
}

fn comparing_and_reading(arguments: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    comparing(arguments, result) + cost::traversal(cost::size_at(arguments, 1))
}

/// Comparing, after masking what is compared.
fn masking(arguments: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    comparing(arguments, result) + cost::traversal(cost::size_at(arguments, 0)) + 1
}

fn masking_and_reading(arguments: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    masking(arguments, result) + cost::traversal(cost::size_at(arguments, 1))
}

fn cidr_at(arguments: &[Value<'_>], index: usize) -> Result<Cidr, Fault> {
    opaque(arguments, index).copied()
}

fn read(text: &str) -> Result<Cidr, Fault> {
    Cidr::parse(text).map_err(|error| {
        Fault::error(format!(
            "network address parse error during conversion from string: {error}"
        ))
    })
}

fn parse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(context.arena.opaque(read(string(arguments, 0)?)?))
}

fn of_text(text: &str) -> Option<ConstantValue> {
    read(text).ok().map(ConstantValue::opaque)
}

fn is_cidr<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(Cidr::parse(string(arguments, 0)?).is_ok()))
}

/// A malformed address has no overload; upstream drops the reason.
fn contains_ip_string<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let ip = Ip::parse(string(arguments, 1)?).map_err(|_| Fault::no_such_overload())?;
    Ok(Value::Bool(cidr_at(arguments, 0)?.contains_ip(ip)))
}

fn contains_ip_ip<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let ip: &Ip = opaque(arguments, 1)?;
    Ok(Value::Bool(cidr_at(arguments, 0)?.contains_ip(*ip)))
}

fn contains_cidr_string<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let other = read(string(arguments, 1)?)?;
    Ok(Value::Bool(cidr_at(arguments, 0)?.contains_cidr(other)))
}

fn contains_cidr_cidr<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(
        cidr_at(arguments, 0)?.contains_cidr(cidr_at(arguments, 1)?),
    ))
}

fn address<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(context.arena.opaque(cidr_at(arguments, 0)?.ip()))
}

fn prefix_length<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Int(cidr_at(arguments, 0)?.prefix_length().into()))
}

fn masked<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(context.arena.opaque(cidr_at(arguments, 0)?.masked()))
}

fn to_string<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(
        context.arena.str(&cidr_at(arguments, 0)?.to_string()),
    ))
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
