//! Declare functions, structured types and variables of one's own.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use pratique_cel::cost::{self, CallCost, Range};
use pratique_cel::estimate::{UnknownSizes, estimate};
use pratique_cel::function::{Function, Overload};
use pratique_cel::library::arguments;
use pratique_cel::value::Evaluation;
use pratique_cel::{Arena, Context, Environment, Fault, StructType, Type, Value, json};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::standard()
        .with_function(initials())
        .with_function(price(HashMap::from([
            ("tea".to_owned(), 3),
            ("cake".to_owned(), 5),
        ])))
        .with_types(Arc::new(StructType::new(
            "shop.Customer",
            &[("name", Type::String), ("orders", Type::list(Type::String))],
        )))
        .with_variable("customer", Type::named("shop.Customer"));

    // Fields are checked when an expression is compiled.
    let refused = environment
        .compile("customer.surname")
        .err()
        .map(|error| error.to_string());
    assert_eq!(
        refused.as_deref(),
        Some("ERROR: <input>:1:9: undefined field 'surname'\n | customer.surname\n | ........^"),
    );

    let text = "customer.name.initials() == 'AL' && customer.orders.all(o, price(o) < 4)";
    let checked = environment.check_types(environment.parse(text)?)?;
    let program = environment.plan(&checked)?;
    println!("{text}: may cost {:?}", estimate(&checked, &UnknownSizes));

    let document = json::parse(br#"{"name": "Ada Lovelace", "orders": ["tea"]}"#)?;
    let arena = Arena::new();
    let context = Context::new(&arena, 1_000);
    let mut activation = environment.activation();
    let customer = environment.slot("customer").ok_or("not declared")?;
    activation.set(customer, Value::from_json(&document));
    assert!(matches!(
        program.evaluate(&context, &activation)?,
        Value::Bool(true)
    ));
    println!("it cost {}", context.cost());

    // An error of a function is an error of the expression, unless the expression does without its value.
    let evaluate = |text| -> Result<bool, Box<dyn Error>> {
        let program = environment.compile(text)?;
        let arena = Arena::new();
        let result = program.evaluate(&Context::new(&arena, 1_000), &environment.activation());
        Ok(matches!(result, Ok(Value::Bool(true))))
    };
    assert!(!evaluate("price('pie') == 3")?);
    assert!(evaluate("price('pie') == 3 || price('cake') == 5")?);
    Ok(())
}

/// `text.initials()`: a plain function, with what it costs and what it may cost.
fn initials() -> Function {
    fn call<'a>(context: &Context<'a>, given: &[Value<'a>]) -> Evaluation<'a> {
        let words = arguments::string(given, 0)?.split_whitespace();
        let letters: String = words.filter_map(|word| word.chars().next()).collect();
        Ok(Value::String(context.arena.str(&letters)))
    }
    Function::new("initials")
        .member("string_initials", &[Type::String], Type::String, call)
        .costing(cost::reads_first)
        .estimating(|sizes| {
            let text = sizes.first().copied().unwrap_or(Range::UNKNOWN);
            CallCost::new(text.scaled(0.1)).giving(Range::new(0, text.max))
        })
}

/// `price(article)`: a closure that holds what belongs to the host.
fn price(prices: HashMap<String, i64>) -> Function {
    let overload = Overload::new("price_string", false, &[Type::String], Type::Int);
    Function::new("price").with(overload.shared(move |_, given| {
        let article = arguments::string(given, 0)?;
        match prices.get(article) {
            Some(price) => Ok(Value::Int(*price)),
            None => Err(Fault::error(format!("no such article: {article}"))),
        }
    }))
}
