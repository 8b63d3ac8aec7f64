//! The variables that expressions are about: their declarations, and data for them.

use std::sync::{Arc, OnceLock};

use pratique_cel::json;
use pratique_cel::time::{Duration, Timestamp};
use pratique_cel::{Activation, Arena, Environment, StructType, Type, Value};
use pratique_gotext::quantity::Quantity;
use proptest::prelude::*;

/// The declarations.
pub(crate) fn environment() -> &'static Environment {
    static MADE: OnceLock<Environment> = OnceLock::new();
    MADE.get_or_init(|| {
        let texts = || Type::list(Type::String);
        let thing = StructType::new(
            "test.Thing",
            &[("name", Type::String), ("count", Type::Int), ("tags", texts())],
        );
        [
            ("flag", Type::Bool),
            ("count", Type::Int),
            ("big", Type::Uint),
            ("ratio", Type::Double),
            ("name", Type::String),
            ("blob", Type::Bytes),
            ("when", Type::Timestamp),
            ("span", Type::Duration),
            ("amount", Type::named("kubernetes.Quantity")),
            ("names", texts()),
            ("counts", Type::list(Type::Int)),
            ("lists_of_texts", Type::list(texts())),
            ("labels", Type::map(Type::String, Type::String)),
            ("limits", Type::map(Type::String, Type::Int)),
            ("thing", Type::named("test.Thing")),
        ]
        .into_iter()
        .fold(Environment::kubernetes(), |environment, (name, of)| {
            environment.with_variable(name, of)
        })
        .with_types(Arc::new(thing))
    })
}

/// The names of the variables.
pub(crate) const NAMES: [&str; 15] = [
    "flag",
    "count",
    "big",
    "ratio",
    "name",
    "blob",
    "when",
    "span",
    "amount",
    "names",
    "counts",
    "lists_of_texts",
    "labels",
    "limits",
    "thing",
];

/// Any JSON, in a list.
pub(crate) fn data() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        (-3..9i64).prop_map(|number| number.to_string()),
        (-1e3..1e3f64).prop_map(|number| format!("{number:?}")),
        "[a-c0-9é☃/:. ]{0,6}".prop_map(|text| quoted(&text)),
    ];
    let value = scalar.prop_recursive(3, 20, 4, |inner| {
        let key = "[a-c]|name|tags|count";
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(", "))),
            proptest::collection::btree_map(key, inner, 0..4).prop_map(|all| {
                let all: Vec<String> = all
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                format!("{{{}}}", all.join(", "))
            }),
        ]
    });
    proptest::collection::vec(value, 0..=NAMES.len()).prop_map(|all| format!("[{}]", all.join(", ")))
}

/// Data for the variables.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// What JSON can hold, by variable.
    pub(crate) json: String,
    pub(crate) big: u64,
    pub(crate) blob: Vec<u8>,
    pub(crate) when: i64,
    pub(crate) span: i64,
    pub(crate) amount: i64,
}

/// How long strings of data are at most, in characters; also how many bytes `blob` holds.
pub(crate) const LONGEST: usize = 8;
/// How many elements or entries lists and maps of data have at most.
pub(crate) const MOST: usize = 3;

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let texts = || proptest::collection::vec(text(), 0..=MOST);
    let maps = |value: BoxedStrategy<String>| {
        proptest::collection::btree_map("[a-c]", value, 0..=MOST).prop_map(|entries| {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("\"{key}\": {value}"))
                .collect();
            format!("{{{}}}", entries.join(", "))
        })
    };
    let quoted = || text().prop_map(|text| quoted(&text)).boxed();
    let number = || prop_oneof![-3i64..20, any::<i64>()];
    let scalars = (
        any::<bool>(),
        number(),
        -1e3..1e3f64,
        quoted(),
        quoted(),
        number(),
    );
    let lists = (
        texts(),
        proptest::collection::vec(number(), 0..=MOST),
        proptest::collection::vec(texts(), 0..=MOST),
        texts(),
        maps(quoted()),
        maps(number().prop_map(|number| number.to_string()).boxed()),
    );
    let others = (
        any::<u64>(),
        proptest::collection::vec(any::<u8>(), 0..=LONGEST),
        0..2_000_000_000i64,
        any::<i32>(),
        any::<i16>(),
    );
    (scalars, lists, others).prop_map(|(scalars, lists, (big, blob, when, span, amount))| {
        let (flag, count, ratio, name, thing_name, thing_count) = scalars;
        let (names, counts, deep, tags, labels, limits) = lists;
        let deep: Vec<String> = deep.iter().map(|names| list(names)).collect();
        let (names, tags) = (list(&names), list(&tags));
        let json = format!(
            r#"{{"flag": {flag}, "count": {count}, "ratio": {ratio:?}, "name": {name}, "names": {names}, "counts": {counts:?},
            "lists_of_texts": [{}], "labels": {labels}, "limits": {limits},
            "thing": {{"name": {thing_name}, "count": {thing_count}, "tags": {tags}}}}}"#,
            deep.join(", ")
        );
        World {
            json,
            big,
            blob,
            when,
            span: i64::from(span),
            amount: i64::from(amount),
        }
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,8}",
        "[0-9]{1,3}",
        "[a-cé☃]{0,4}",
        Just("1h".to_owned()),
        Just("10.0.0.1".to_owned())
    ]
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

impl World {
    /// Data with a text of so many characters, and a list of so many of it.
    pub(crate) fn of_size(characters: usize, elements: usize) -> Self {
        let name = "x".repeat(characters);
        let names = vec![name.clone(); elements];
        World {
            json: format!(
                r#"{{"flag": true, "count": 3, "name": "{name}", "names": {}}}"#,
                list(&names)
            ),
            big: 0,
            blob: Vec::new(),
            when: 0,
            span: 0,
            amount: 0,
        }
    }

    /// Gives the variables their values.
    pub(crate) fn with<R>(&self, run: impl for<'a> FnOnce(&'a Arena, &Activation<'a>) -> R) -> R {
        let document = json::parse(self.json.as_bytes()).expect("the data is JSON");
        let arena = Arena::new();
        let environment = environment();
        let mut activation = environment.activation();
        let mut set = |name: &str, value| activation.set(environment.slot(name).expect(name), value);
        for (name, value) in document.as_object().expect("an object").members() {
            set(name, Value::from_json(value));
        }
        set("big", Value::Uint(self.big));
        set("blob", Value::Bytes(&self.blob));
        set(
            "when",
            Value::Timestamp(Timestamp::from_seconds(self.when).expect("in range")),
        );
        set("span", Value::Duration(Duration::from_nanos(self.span)));
        set(
            "amount",
            Value::from_quantity(Quantity::from_integer(self.amount), &arena),
        );
        run(&arena, &activation)
    }
}
