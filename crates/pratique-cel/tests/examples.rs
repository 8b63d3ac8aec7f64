//! The examples do what they say.

#[path = "../examples/authorizer.rs"]
mod authorizer;
#[path = "../examples/evaluate.rs"]
mod evaluate;
#[path = "../examples/functions.rs"]
mod functions;
#[path = "../examples/limits.rs"]
mod limits;
#[path = "../examples/report.rs"]
mod report;

type Ended = Result<(), Box<dyn std::error::Error>>;

#[test]
fn compile_once_evaluate_many() -> Ended {
    evaluate::main()
}

#[test]
fn own_functions_and_types() -> Ended {
    functions::main()
}

#[test]
fn limits_of_cost() -> Ended {
    limits::main()
}

#[test]
fn pending_authorization_checks() -> Ended {
    authorizer::main()
}

#[test]
fn reports() -> Ended {
    report::main()
}

#[test]
fn programs_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<pratique_cel::Environment>();
    shared::<pratique_cel::Program>();
}
