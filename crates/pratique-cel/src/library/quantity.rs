//! Quantities of resources: `quantity('1Gi').isLessThan(quantity('2Gi'))`.

use std::any::Any;

use pratique_gotext::quantity::{OutOfRange, Quantity};

use super::arguments::{int, opaque, string};
use crate::arena::Arena;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const TYPE: &str = "kubernetes.Quantity";

/// Functions that read, compare and add quantities: `quantity('1Gi').add(quantity('1')).isInteger()`.
pub fn library() -> Library {
    let of = || Type::named(TYPE);
    Library::of(vec![
        Function::new("quantity")
            .global("string_to_quantity", &[Type::String], of(), parse)
            .with_text(of_text)
            .costing_always(cost::reads_first),
        Function::new("isQuantity")
            .global("is_quantity_string", &[Type::String], Type::Bool, is_quantity)
            .costing_always(cost::reads_first),
        Function::new("sign").global("quantity_sign", &[of()], Type::Int, sign),
        Function::new("isGreaterThan").member(
            "quantity_is_greater_than",
            &[of(), of()],
            Type::Bool,
            is_greater_than,
        ),
        Function::new("isLessThan").member("quantity_is_less_than", &[of(), of()], Type::Bool, is_less_than),
        Function::new("compareTo").member("quantity_compare_to", &[of(), of()], Type::Int, compare_to),
        Function::new("asApproximateFloat").member(
            "quantity_get_float",
            &[of()],
            Type::Double,
            as_approximate_float,
        ),
        Function::new("asInteger").member("quantity_get_int", &[of()], Type::Int, as_integer),
        Function::new("isInteger").member("quantity_is_integer", &[of()], Type::Bool, is_integer),
        Function::new("add")
            .member("quantity_add", &[of(), of()], of(), add)
            .member("quantity_add_int", &[of(), Type::Int], of(), add_int),
        Function::new("sub")
            .member("quantity_sub", &[of(), of()], of(), sub)
            .member("quantity_sub_int", &[of(), Type::Int], of(), sub_int),
    ])
}

/// A quantity as a value.
#[derive(Debug)]
struct QuantityValue {
    quantity: Quantity,
    /// Whether `add` or `sub` made it: upstream's `==` does not know such a quantity on its right side.
    computed: bool,
}

impl QuantityValue {
    fn stored(self, arena: &Arena) -> Value<'_> {
        match self.quantity.owns_nothing() {
            true => arena.undropped(self),
            false => arena.opaque(self),
        }
    }
}

impl Opaque for QuantityValue {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        match other.downcast::<Self>() {
            Some(other) if !other.computed => Ok(self.quantity == other.quantity),
            _ => Err(Fault::no_such_overload()),
        }
    }

    fn text(&self) -> String {
        self.quantity.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.quantity.owned_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Value<'a> {
    /// A quantity, as `quantity('…')` gives it.
    pub fn from_quantity(quantity: Quantity, arena: &'a Arena) -> Self {
        let value = QuantityValue {
            quantity,
            computed: false,
        };
        value.stored(arena)
    }

    /// The quantity that the value is.
    pub fn as_quantity(&self) -> Option<&'a Quantity> {
        self.downcast::<QuantityValue>().map(|value| &value.quantity)
    }
}

fn quantity_at<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a Quantity, Fault> {
    Ok(&opaque::<QuantityValue>(arguments, index)?.quantity)
}

fn parse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let quantity = Quantity::parse(string(arguments, 0)?).map_err(|error| Fault::error(error.to_string()))?;
    Ok(Value::from_quantity(quantity, context.arena))
}

fn of_text(text: &str) -> Option<ConstantValue> {
    let quantity = Quantity::parse(text).ok()?;
    Some(ConstantValue::new(move |arena| {
        Value::from_quantity(quantity.clone(), arena)
    }))
}

fn is_quantity<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(Quantity::parse(string(arguments, 0)?).is_ok()))
}

fn sign<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Int(quantity_at(arguments, 0)?.signum()))
}

fn is_greater_than<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(
        quantity_at(arguments, 0)? > quantity_at(arguments, 1)?,
    ))
}

fn is_less_than<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(
        quantity_at(arguments, 0)? < quantity_at(arguments, 1)?,
    ))
}

fn compare_to<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let ordering = quantity_at(arguments, 0)?.cmp(quantity_at(arguments, 1)?);
    Ok(Value::Int(ordering as i64))
}

fn as_approximate_float<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Double(quantity_at(arguments, 0)?.as_approximate_float()))
}

fn as_integer<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let integer = quantity_at(arguments, 0)?.as_integer();
    integer
        .map(Value::Int)
        .ok_or_else(|| Fault::error("cannot convert value to integer"))
}

fn is_integer<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(quantity_at(arguments, 0)?.as_integer().is_some()))
}

fn add<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    computed(
        context,
        quantity_at(arguments, 0)?.add(quantity_at(arguments, 1)?),
    )
}

fn add_int<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let number = Quantity::from_integer(int(arguments, 1)?);
    computed(context, quantity_at(arguments, 0)?.add(&number))
}

fn sub<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    computed(
        context,
        quantity_at(arguments, 0)?.sub(quantity_at(arguments, 1)?),
    )
}

fn sub_int<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let number = Quantity::from_integer(int(arguments, 1)?);
    computed(context, quantity_at(arguments, 0)?.sub(&number))
}

fn computed<'a>(context: &Context<'a>, quantity: Result<Quantity, OutOfRange>) -> Evaluation<'a> {
    let quantity = quantity.map_err(|error| Fault::error(error.to_string()))?;
    let value = QuantityValue {
        quantity,
        computed: true,
    };
    Ok(value.stored(context.arena))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn reading() {
        let caller = Caller::new(library());
        caller.check("string_to_quantity", &[Value::String("1.5Gi")], "1536Mi", 1);
        caller.check(
            "string_to_quantity",
            &[Value::String("12345678901")],
            "12345678901",
            2,
        );
        caller.check(
            "string_to_quantity",
            &[Value::String("1K")],
            "unable to parse quantity's suffix",
            1,
        );
        caller.check("is_quantity_string", &[Value::String("1K")], "false", 1);
        caller.check("is_quantity_string", &[Value::String("")], "false", 0);
    }

    #[test]
    fn using() {
        let caller = Caller::new(library());
        let quantity = |text| caller.make("string_to_quantity", text);
        let (small, large) = (quantity("1k"), quantity("1Ki"));
        caller.check("quantity_is_less_than", &[small, large], "true", 1);
        caller.check("quantity_is_greater_than", &[small, large], "false", 1);
        caller.check("quantity_compare_to", &[large, small], "1", 1);
        caller.check("quantity_sign", &[quantity("-3")], "-1", 1);
        caller.check("quantity_get_int", &[large], "1024", 1);
        caller.check(
            "quantity_get_int",
            &[quantity("1m")],
            "cannot convert value to integer",
            1,
        );
        caller.check("quantity_is_integer", &[quantity("1m")], "false", 1);
        caller.check("quantity_get_float", &[quantity("1500m")], "1.5", 1);
        caller.check("quantity_add", &[small, large], "2024", 1);
        caller.check("quantity_add_int", &[small, Value::Int(1)], "1001", 1);
        caller.check("quantity_sub", &[large, small], "24", 1);
        caller.check(
            "quantity_sub_int",
            &[quantity("0"), Value::Int(1_000_000)],
            "-1e6",
            1,
        );
    }

    #[test]
    fn a_computed_quantity_equals_only_to_its_right() {
        let caller = Caller::new(library());
        let plain = caller.make("string_to_quantity", "2");
        let computed = caller
            .call("quantity_add", &[caller.make("string_to_quantity", "1"); 2])
            .unwrap();
        let equal = |left: &Value<'_>, right| match left {
            Value::Opaque(left) => left.equal(right),
            _ => panic!("{left:?}"),
        };
        assert_eq!(equal(&plain, &plain), Ok(true));
        assert_eq!(equal(&computed, &plain), Ok(true));
        assert_eq!(equal(&plain, &computed), Err(Fault::no_such_overload()));
        assert_eq!(equal(&plain, &Value::Int(2)), Err(Fault::no_such_overload()));
    }
}
