//! Expressions with the bounds of their costs.

use super::*;
use crate::cost::CallCost;
use crate::environment::Environment;

/// Lists of at most 10 elements, strings of at most 100 characters.
struct Bounded;

impl Sizes for Bounded {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        match of {
            Type::List(_) | Type::Map(..) if !path.is_empty() => Some(Range::new(0, 10)),
            Type::String if !path.is_empty() => Some(Range::new(0, 100)),
            _ => None,
        }
    }
}

fn environment() -> Environment {
    let texts = || Type::list(Type::String);
    [
        ("any", Type::Dyn),
        ("object", Type::Dyn),
        ("variables", Type::Dyn),
        ("name", Type::String),
        ("count", Type::Int),
        ("blob", Type::Bytes),
        ("when", Type::Timestamp),
        ("amount", Type::named("kubernetes.Quantity")),
        ("names", texts()),
        ("numbers", Type::list(Type::Int)),
        ("lists", Type::list(texts())),
        ("labels", Type::map(Type::String, Type::String)),
        ("maps", Type::list(Type::map(Type::String, Type::Int))),
        ("authorizer", Type::named("kubernetes.authorization.Authorizer")),
        (
            "authorizer.requestResource",
            Type::named("kubernetes.authorization.ResourceCheck"),
        ),
    ]
    .into_iter()
    .fold(Environment::kubernetes(), |environment, (name, of)| {
        environment.with_variable(name, of)
    })
}

fn cost(text: &str, sizes: &dyn Sizes) -> (u64, u64) {
    let environment = environment();
    let checked = environment
        .parse(text)
        .and_then(|ast| environment.check_types(ast))
        .unwrap();
    let range = estimate(&checked, sizes);
    (range.min, range.max)
}

#[test]
fn costs_are_the_references() {
    let bound = |bound: u64| match bound {
        u64::MAX => "*".to_owned(),
        bound => bound.to_string(),
    };
    let shown = |(min, max)| format!("{}..{}", bound(min), bound(max));
    let table = include_str!("../../testdata/estimates.txt");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.rsplitn(3, "  |  ").collect();
        let [bounded, unknown, text] = columns[..] else {
            panic!("three columns: {line}");
        };
        assert_eq!(shown(cost(text, &UnknownSizes)), unknown, "{text}");
        assert_eq!(shown(cost(text, &Bounded)), bounded, "{text}");
    }
}

#[test]
fn costs_of_unknown_sizes() {
    let check = |text, expected| assert_eq!(cost(text, &UnknownSizes), expected, "{text}");
    check("1 + 2", (1, 1));
    check("any.a.b", (1, 1));
    check("labels.a", (2, 2));
    check("has(labels.a)", (1, 1));
    check("[1, 2].map(x, x + 1)", (49, 49));
    check("any.a == 1 || any.b == 2", (2, 4));
    check("true ? 1 : {1: 2}[1]", (0, 31));
    check("'abc'.startsWith('a') && name == 'abcdefghijklmno'", (1, 4));
    check("names.all(n, n == 'a')", (2, u64::MAX));
}

#[test]
fn costs_of_known_sizes() {
    let check = |text, expected| assert_eq!(cost(text, &Bounded), expected, "{text}");
    check("names.all(n, n.contains('a'))", (2, 142));
    check("names.exists(n, labels.exists(l, l == n))", (2, 1_662));
    check("name + name", (2, 22));
    check("(name + name).matches('^a+$')", (3, 43));
    check("labels[name].size()", (4, 4));
    check("names.map(n, n).all(n, n != '')", (13, 183));
}

#[test]
fn parts_of_what_the_expression_made_have_a_path_without_root() {
    let check = |text, expected| assert_eq!(cost(text, &Bounded), expected, "{text}");
    check("{'a': 1}.map(k, k + 'x')", (55, 65));
    check("{'a': [name]}.a[0] + 'b'", (44, 54));
    check("([name] + names).map(x, x + x)", (38, 398));
    check("name.split(',', 3).map(x, x + name)", (12, 134));
    check("names.map(n, [n, n]).map(l, l.join('-'))", (23, 1_403));
    check("['b', 'a'].isSorted()", (12, 3_689_348_814_741_910_540));
}

#[test]
fn functions_of_the_host() {
    let sizes = |sizes: &[Range]| {
        let text = sizes.first().copied().unwrap_or(Range::UNKNOWN);
        CallCost::new(text).giving(Range::exactly(7))
    };
    let same: crate::function::CallFn =
        |_, arguments| Ok(arguments.first().copied().unwrap_or(crate::Value::Null));
    let function = crate::function::Function::new("same").member("s", &[Type::String], Type::String, same);
    let check = |function: crate::function::Function, text: &str, expected| {
        let environment = Environment::kubernetes()
            .with_variable("name", Type::String)
            .with_function(function);
        let checked = environment
            .parse(text)
            .and_then(|ast| environment.check_types(ast))
            .unwrap();
        let range = estimate(&checked, &Bounded);
        assert_eq!((range.min, range.max), expected, "{text}");
    };
    check(function.clone(), "name.same()", (2, 2));
    check(function.clone().estimating(sizes), "name.same()", (1, 101));
    check(
        function.clone().estimating(sizes),
        "name.same() + 'abc'",
        (2, 102),
    );
}

#[test]
fn deep_trees_fit_a_small_stack() {
    let run = || {
        for (open, close) in [
            ("[1].map(x, true, ", ")"),
            ("optional.of(1).optMap(x, ", ")"),
            ("[", "]"),
        ] {
            for depth in [40, 120, 240] {
                let text = format!("{}[]{}", open.repeat(depth), close.repeat(depth));
                let environment = Environment::kubernetes();
                if let Ok(checked) = environment
                    .parse(&text)
                    .and_then(|ast| environment.check_types(ast))
                {
                    estimate(&checked, &UnknownSizes);
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    assert!(thread.unwrap().join().is_ok());
}
