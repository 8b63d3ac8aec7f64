//! Say what an expression is, reads, calls and may cost, without evaluating it.

use std::error::Error;

use pratique_cel::cost::Range;
use pratique_cel::estimate::Sizes;
use pratique_cel::{Environment, Report, Type};

/// Lists of containers hold at most ten, whatever else is not known.
struct ContainerSizes;

impl Sizes for ContainerSizes {
    fn size(&self, path: &[String], _: &Type) -> Option<Range> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["object", "spec", "containers"] => Some(Range::new(0, 10)),
            _ => None,
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::kubernetes()
        .with_variable("object", Type::Dyn)
        .with_variable("params", Type::Dyn);
    let text = "object.spec.containers.all(c, has(c.resources) && c.name in params.names)";
    let checked = environment.check_types(environment.parse(text)?)?;
    let report = Report::new(&environment, &checked, &ContainerSizes);
    println!("{report}");
    assert_eq!(report.result, Type::Bool);
    assert!(report.variables.iter().eq(["object", "params"]));
    assert!(report.paths.iter().eq([
        "object.spec.containers[].name",
        "object.spec.containers[].resources",
        "params.names",
    ]));
    assert!(!report.cost.is_bounded(), "nothing bounds the list of names");
    Ok(())
}
