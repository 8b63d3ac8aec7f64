//! Compile an expression once, evaluate it for many documents.

use std::error::Error;

use pratique_cel::{Arena, Context, Environment, Type, Value, json, library};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Declarations: the language of the specification, one extension, one variable.
    let environment = Environment::standard()
        .with_library(library::optionals())
        .with_variable("pod", Type::Dyn);
    let program = environment.compile("pod.spec.?replicas.orValue(1) <= 3 || pod.name in ['db', 'web']")?;
    let pod = environment.slot("pod").ok_or("not declared")?;

    let documents = [
        (r#"{"name": "db", "spec": {"replicas": 5}}"#, true),
        (r#"{"name": "api", "spec": {"replicas": 5}}"#, false),
        (r#"{"name": "api", "spec": {}}"#, true),
    ];
    for (text, expected) in documents {
        // The value borrows from the document, and temporaries live in the arena: nothing is copied.
        let document = json::parse(text.as_bytes())?;
        let arena = Arena::new();
        let context = Context::new(&arena, 1_000_000);
        let mut activation = environment.activation();
        activation.set(pod, Value::from_json(&document));

        let result = program.evaluate(&context, &activation)?;
        println!("{text}: {result:?}, cost {}", context.cost());
        assert!(matches!(result, Value::Bool(found) if found == expected));
    }
    Ok(())
}
