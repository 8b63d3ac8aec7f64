//! Requests with what an API server answered, in `testdata/quota`.

use std::path::Path;

use pratique_plugin::{Plugin, PluginGates, PluginSettings};
use pratique_quota::{FACTORY, NAME};
use pratique_testkit::check_plugin_case;
use serde_json::Value;

/// The plugin with a configuration file.
fn plugin(configuration: Option<&str>) -> Result<Box<dyn Plugin>, String> {
    let gates = PluginGates::default();
    let settings = PluginSettings::new(&gates).with_configuration(configuration.map(str::as_bytes));
    FACTORY.start(&settings).map_err(|error| error.of_plugin(NAME))
}

#[test]
fn answers_are_those_of_an_api_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/quota/cases.json");
    let text = std::fs::read_to_string(path).expect("the cases");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
    assert!(cases.len() > 50);
    let differing: Vec<String> = cases
        .iter()
        .flat_map(|case| {
            let differences = check_plugin_case(case, &plugin);
            differences
                .into_iter()
                .map(|difference| format!("{}: {difference}", case["name"]))
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
