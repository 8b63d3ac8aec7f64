//! Requests with what an API server answered, in `testdata/pod-security`.

use std::path::Path;

use pratique_pod_security::FACTORY;
use pratique_testkit::check_plugin_cases;

#[test]
fn answers_are_those_of_an_api_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pod-security/cases.json");
    check_plugin_cases(&FACTORY, &path);
}
