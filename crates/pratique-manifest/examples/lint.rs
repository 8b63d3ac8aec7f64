//! Says what a kube-apiserver would not like of a directory of static manifests: `lint DIRECTORY PLUGIN`. Expressions are
//! compiled as it compiles them.

use std::error::Error;
use std::fmt::Write as _;

use pratique_manifest::{Loader, Options, Plugin};

/// The report, and whether everything loads.
pub(crate) fn lint(directory: &str, plugin: Plugin) -> (String, bool) {
    let errors = match Loader::for_plugin(plugin, &Options::checked()).load_directory(directory) {
        Ok(set) => return (format!("{directory}: loads, {}\n", set.hash), true),
        Err(errors) => errors,
    };
    let mut report = String::new();
    for problem in errors.problems() {
        if let Some(location) = &problem.location {
            let _ = write!(
                report,
                "{}:{}:{}: ",
                location.file, location.start.line, location.start.column
            );
        }
        let _ = writeln!(report, "{}", problem.message);
        if let Some(help) = &problem.help {
            let _ = writeln!(report, "  help: {help}");
        }
    }
    (report, false)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, plugin] = arguments.as_slice() else {
        return Err("usage: lint DIRECTORY PLUGIN".into());
    };
    let named = Plugin::START_ORDER
        .into_iter()
        .find(|known| known.name() == plugin);
    let plugin = named.ok_or_else(|| format!("there is no plugin {plugin}"))?;
    let (report, loads) = lint(directory, plugin);
    print!("{report}");
    loads.then_some(()).ok_or_else(|| "it does not load".into())
}
