//! Bound what an expression may cost: before it is evaluated, while it is, and from outside.

use std::error::Error;
use std::time::{Duration, Instant};

use pratique_cel::cost::Range;
use pratique_cel::estimate::{Sizes, estimate};
use pratique_cel::value::List;
use pratique_cel::{Arena, Context, Environment, FaultKind, Interrupt, Stop, Type, Value};

/// What is known of the variables: no list holds more than 100 elements, no string more than 20 characters.
struct KnownSizes;

impl Sizes for KnownSizes {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        match (path, of) {
            ([], _) => None,
            (_, Type::List(_)) => Some(Range::new(0, 100)),
            (_, Type::String) => Some(Range::new(0, 20)),
            _ => None,
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::standard().with_variable("names", Type::list(Type::String));
    let text = "names.all(a, names.exists_one(b, a == b))";

    // Before: the worst case, from the sizes that the host declares.
    let checked = environment.check_types(environment.parse(text)?)?;
    let bounds = estimate(&checked, &KnownSizes);
    println!("{text}: {} to {}", bounds.min, bounds.max);
    assert!(bounds.max > 10_000);

    // While: the evaluation stops once it has cost more than its limit, and nothing absorbs that.
    let guarded = environment.compile(&format!("{text} || true"))?;
    let names: Vec<String> = (0..100).map(|number| format!("name-{number}")).collect();
    let names: Vec<Value<'_>> = names.iter().map(|name| Value::String(name)).collect();
    let mut activation = environment.activation();
    let slot = environment.slot("names").ok_or("not declared")?;
    activation.set(slot, Value::List(List::Values(&names)));
    let arena = Arena::new();
    let context = Context::new(&arena, 1_000);
    let fault = guarded
        .evaluate(&context, &activation)
        .err()
        .ok_or("stayed below its limit")?;
    assert_eq!(fault.kind(), &FaultKind::Stopped(Stop::CostLimit));
    println!("{fault}");

    // A budget of several expressions: give each what the ones before it have left.
    let mut budget = 100_000;
    for text in ["names.size() == 100", text] {
        let arena = Arena::new();
        let context = Context::new(&arena, budget);
        environment.compile(text)?.evaluate(&context, &activation)?;
        budget -= context.cost();
        println!("{text} cost {}, {budget} left", context.cost());
    }

    // From outside: at a deadline, or when another thread sets it.
    let interrupt = Interrupt::new().with_deadline(Instant::now() + Duration::from_secs(10));
    let other = interrupt.clone();
    std::thread::spawn(move || other.set())
        .join()
        .map_err(|_| "a panic")?;
    let context = Context::new(&arena, u64::MAX).with_interrupt(&interrupt);
    let fault = guarded
        .evaluate(&context, &activation)
        .err()
        .ok_or("was not interrupted")?;
    assert_eq!(fault.kind(), &FaultKind::Stopped(Stop::Interrupted));
    Ok(())
}
