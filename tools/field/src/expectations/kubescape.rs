//! The tests of kubescape's library: templates of objects with changes, and whether an API server takes them.
// Upstream: kubescape/cel-admission-library scripts/run-control-tests.py, change-yaml-field.py

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pratique_harness::ToolError;
use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_review::Decision;
use pratique_state::yaml;
use pratique_suite::{Roots, SuiteReader, read_file};

use super::TestExpectations;

/// The name of the files.
pub(super) const TESTS: &str = "tests.json";

/// Runs the tests of a control, in whose directory they are: converted to a suite in a temporary directory.
pub(super) fn run(path: &Path, expectations: &mut TestExpectations) -> Result<(), ToolError> {
    let control = path.parent().unwrap_or(Path::new(""));
    let Some(top) = control
        .ancestors()
        .find(|above| above.join("test-resources").is_dir())
    else {
        return Ok(());
    };
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let tests = pratique_json::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let policy = fs::read_to_string(control.join("policy.yaml")).unwrap_or_default();
    let name = policy
        .lines()
        .find_map(|line| line.strip_prefix("  name: "))
        .map(|name| name.trim().trim_matches('"').to_owned())
        .unwrap_or_default();
    let directory = std::env::temp_dir().join(format!("pratique-field-{}", std::process::id()));
    for test in tests.as_array().unwrap_or_default() {
        let made = ConvertedTest {
            top,
            name: &name,
            policy: &policy,
            directory: &directory,
        };
        let ran = made.run(test, expectations);
        let removed = fs::remove_dir_all(&directory);
        ran?;
        removed.map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    expectations.policies.insert(name);
    Ok(())
}

/// A test on its way to a suite.
struct ConvertedTest<'a> {
    top: &'a Path,
    name: &'a str,
    policy: &'a str,
    directory: &'a Path,
}

impl ConvertedTest<'_> {
    fn run(&self, test: &Value<'_>, expectations: &mut TestExpectations) -> Result<(), ToolError> {
        let text = |name: &str, default: &'static str| {
            let value = test.get(name).and_then(Value::as_str);
            value.unwrap_or(default).to_owned()
        };
        let resource = |name: &str| {
            let path = self.top.join("test-resources").join(name);
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let object = resource(&text("template", ""))?;
        let binding = resource(&text("binding_template", "policy-binding.yaml"))?;
        let param = resource(&text("param_template", "default-control-configuration.yaml"))?;
        let definition = self
            .top
            .join("configuration/policy-configuration-definition.yaml");
        let definition =
            fs::read_to_string(&definition).map_err(|error| format!("{}: {error}", definition.display()))?;
        let changes = test.get("field_change_list").and_then(Value::as_array);
        let mut set = Vec::new();
        for change in changes.unwrap_or_default().iter().filter_map(Value::as_str) {
            let Some((path, value)) = change.split_once('=') else {
                expectations.refused.push(format!("{}: {change}", self.name));
                return Ok(());
            };
            let path = path.replace(".[", "[");
            let value = pratique_json::parse(value.as_bytes())
                .map(Value::into_owned)
                .unwrap_or_else(|_| Value::from(value.to_owned()));
            set.push(format!("object.{path}: {}", yaml::flow(&value)));
        }
        let suite = format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policy.yaml, binding.yaml]\ntests:\n- name: test\n  \
             object: object.yaml\n  cluster: {{objects: [definition.yaml, param.yaml]}}\n  each:\n  - name: row\n    set:\n{}",
            if set.is_empty() {
                "      object.kind: ~\n".to_owned()
            } else {
                set.iter().map(|line| format!("      {line}\n")).collect()
            }
        );
        // Nothing is set where nothing changes.
        let suite = suite.replace("    set:\n      object.kind: ~\n", "");
        let files = [
            ("policy.yaml", self.policy.to_owned()),
            ("object.yaml", object),
            (
                "binding.yaml",
                binding
                    .replacen("placeholder", &format!("{}-binding", self.name), 1)
                    .replacen("placeholder", self.name, 1)
                    .replacen("placeholder", &format!("{}-params", self.name), 1),
            ),
            (
                "param.yaml",
                param.replacen("placeholder", &format!("{}-params", self.name), 1),
            ),
            ("definition.yaml", definition),
            ("suite.yaml", suite),
        ];
        fs::create_dir_all(self.directory).map_err(|error| error.to_string())?;
        for (name, text) in files {
            fs::write(self.directory.join(name), text).map_err(|error| error.to_string())?;
        }
        let place = format!("{}: {}", self.name, text("name", ""));
        self.compare(&place, &text("expected", ""), expectations);
        Ok(())
    }

    /// Runs the suite, and compares as the script does.
    fn compare(&self, place: &str, expected: &str, expectations: &mut TestExpectations) {
        let refused = |expectations: &mut TestExpectations, why: String| {
            expectations.refused.push(format!("{place}: {why}"))
        };
        let path = self.directory.join("suite.yaml");
        let file: ManifestFile = match read_file(&path) {
            Ok(file) => file,
            Err(error) => return refused(expectations, error.to_string()),
        };
        let first = |problems: pratique_manifest::ProblemList| {
            let messages: BTreeSet<String> = problems.into_iter().map(|problem| problem.message).collect();
            messages.into_iter().next().unwrap_or_default()
        };
        let suites = match SuiteReader::default().read(&path, &file, &Roots::default()) {
            Ok(suites) => suites,
            Err(problems) => return refused(expectations, first(problems)),
        };
        let Some(suite) = suites.first() else { return };
        let policies = match suite.policies() {
            Ok(policies) => policies,
            Err(problems) => return refused(expectations, first(problems)),
        };
        let Some(case) = suite.cases.first() else { return };
        let actual = match suite.test(case, &policies, None).actual {
            Ok(actual) => actual,
            Err(why) => {
                return expectations
                    .differing
                    .push(format!("{place}: expected {expected}, actual {why}"));
            }
        };
        expectations.ask(suite, case, &policies, &actual);
        let names = |text: &String| text.contains(self.name);
        let is_equal = match expected {
            "pass" => actual.decision == Decision::Allowed,
            "fail" => actual.decision.denies() && names(&actual.message),
            "warn" => actual.decision == Decision::Allowed && actual.warnings.iter().any(names),
            _ => false,
        };
        if is_equal {
            expectations.equal += 1
        } else {
            expectations.differing.push(format!(
                "{place}: expected {expected}, actual {} {}",
                actual.decision.as_str(),
                actual.message
            ))
        }
    }
}
