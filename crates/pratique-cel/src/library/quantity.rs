//! Quantities of resources: `quantity('1Gi').isLessThan(quantity('2Gi'))`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/quantity.go

use pratique_gotext::quantity::{OutOfRange, Quantity};

use super::arguments::{int, opaque};
use super::methods::{MethodOperand, MethodResult, method, method_of_two, of_text};
use crate::arena::Arena;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function, Overload};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const TYPE: &str = "kubernetes.Quantity";

/// Functions that read, compare and add quantities: `quantity('1Gi').add(quantity('1')).isInteger()`.
pub fn library() -> Library {
    Library::from_functions(vec![
        of_text("quantity", "string_to_quantity", ty(), Quantity::parse)
            .with_text(of_constant)
            .costing_always(cost::reads_first),
        of_text("isQuantity", "is_quantity_string", Type::Bool, |text| {
            Quantity::parse(text).is_ok()
        })
        .costing_always(cost::reads_first),
        Function::new("sign").with(Overload {
            member: false,
            ..method("quantity_sign", ty(), Type::Int, Quantity::signum)
        }),
        comparison(
            "isGreaterThan",
            "quantity_is_greater_than",
            Type::Bool,
            |one, other| one > other,
        ),
        comparison("isLessThan", "quantity_is_less_than", Type::Bool, |one, other| {
            one < other
        }),
        comparison("compareTo", "quantity_compare_to", Type::Int, |one, other| {
            one.cmp(other) as i64
        }),
        reading(
            "asApproximateFloat",
            "quantity_get_float",
            Type::Double,
            |quantity| quantity.as_approximate_float(),
        ),
        reading("asInteger", "quantity_get_int", Type::Int, |quantity| {
            quantity
                .as_integer()
                .ok_or_else(|| Fault::error("cannot convert value to integer"))
        }),
        reading("isInteger", "quantity_is_integer", Type::Bool, |quantity| {
            quantity.as_integer().is_some()
        }),
        arithmetic("add", Quantity::add),
        arithmetic("sub", Quantity::sub),
    ])
}

fn ty() -> Type {
    Type::named(TYPE)
}

/// A function that reads a property of a quantity.
fn reading<R: MethodResult + 'static>(
    name: &str,
    id: &str,
    result: Type,
    read: fn(&Quantity) -> R,
) -> Function {
    Function::new(name).with(method(id, ty(), result, read))
}

/// A function that compares two quantities.
fn comparison<R: MethodResult + 'static>(
    name: &str,
    id: &str,
    result: Type,
    compare: fn(&Quantity, &Quantity) -> R,
) -> Function {
    Function::new(name).with(method_of_two(id, [ty(), ty()], result, compare))
}

/// A function of a quantity and another or an integer.
fn arithmetic(name: &str, compute: fn(&Quantity, &Quantity) -> Result<Quantity, OutOfRange>) -> Function {
    let overload = |id: String, other: Type| Overload::new(&id, true, &[ty(), other], ty());
    Function::new(name)
        .with(
            overload(format!("quantity_{name}"), ty()).shared(move |context, arguments| {
                computed(
                    context.arena,
                    compute(Quantity::at(arguments, 0)?, Quantity::at(arguments, 1)?),
                )
            }),
        )
        .with(
            overload(format!("quantity_{name}_int"), Type::Int).shared(move |context, arguments| {
                let number = Quantity::from_integer(int(arguments, 1)?);
                computed(context.arena, compute(Quantity::at(arguments, 0)?, &number))
            }),
        )
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
        if self.quantity.owns_nothing() {
            arena.undropped(self)
        } else {
            arena.opaque(self)
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

    fn to_text(&self) -> String {
        self.quantity.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.quantity.owned_bytes()
    }
}

impl MethodResult for Quantity {
    fn into_value(self, arena: &Arena) -> Evaluation<'_> {
        Ok(Value::from_quantity(self, arena))
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

impl MethodOperand for Quantity {
    fn at<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a Self, Fault> {
        Ok(&opaque::<QuantityValue>(arguments, index)?.quantity)
    }
}

fn of_constant(text: &str) -> Option<ConstantValue> {
    let quantity = Quantity::parse(text).ok()?;
    Some(ConstantValue::new(move |arena| {
        Value::from_quantity(quantity.clone(), arena)
    }))
}

fn computed(arena: &Arena, quantity: Result<Quantity, OutOfRange>) -> Evaluation<'_> {
    let quantity = quantity.map_err(Fault::from_display)?;
    let value = QuantityValue {
        quantity,
        computed: true,
    };
    Ok(value.stored(arena))
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
