//! Says what a kube-apiserver would not like of a directory of static manifests: `lint DIRECTORY PLUGIN`. Expressions are
//! compiled as it compiles them.

use std::error::Error;

use pratique_manifest::{LoadOptions, Loader, ManifestPlugin};

/// The report, and whether everything loads.
pub(crate) fn lint(directory: &str, plugin: ManifestPlugin) -> (String, bool) {
    let errors = match Loader::for_plugin(plugin, &LoadOptions::checked()).load_directory(directory) {
        Ok(set) => return (format!("{directory}: loads, {}\n", set.hash), true),
        Err(errors) => errors,
    };
    // All problems with their places and how to mend them. Without `#` it is what that server says: the first one.
    (format!("{errors:#}\n"), false)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, plugin] = arguments.as_slice() else {
        return Err("usage: lint DIRECTORY PLUGIN".into());
    };
    let (report, loads) = lint(directory, plugin.parse()?);
    print!("{report}");
    loads.then_some(()).ok_or_else(|| "it does not load".into())
}
