//! The suite `load`: a directory of static manifests, or an AdmissionConfiguration file.

use std::sync::Arc;

use k8s_openapi::serde::Serialize;
use pratique::expressions::{Cache, Expressions};
use pratique::manifest::{
    ConfigurationLoader, ConfigurationOptions, LoadOptions, Loader, ManifestPlugin, ManifestSet,
    SourcedObject,
};
use pratique_schema::{FeatureGates, Release};
use serde_json::{Value, json};

use super::fixture::CaseDirectory;
use super::{CaseOutcome, release_of};

/// The recording server compiled for the version before its own.
const RECORDED_FOR: u32 = 35;

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    let directory = match CaseDirectory::new(&case["files"]) {
        Ok(directory) => directory,
        Err(error) => return CaseOutcome::failed(case, &format!("cannot write the files: {error}")),
    };
    let expect = with_directory(&case["expect"], &directory);
    let configures = case["plugin"] == "AdmissionConfiguration";
    let path = match case["dir"].as_str() {
        Some("") => String::new(),
        Some(entry) => format!("{}/{entry}", directory.display_path()),
        None if configures => format!("{}/config.yaml", directory.display_path()),
        None => directory.display_path(),
    };
    let release = release_of(case);
    let cache = Arc::new(Cache::new().of_release(release));
    let expressions = if release == Release::latest() {
        Expressions::at(cache, RECORDED_FOR)
    } else {
        Expressions::new(cache)
    };
    let actual = if configures {
        let gate = "ManifestBasedAdmissionControlConfig";
        let gates = FeatureGates::new(release).with(gate, case["gate"] != json!(false));
        configuration(&path, &expressions, gates)
    } else {
        manifests(&path, case["plugin"].as_str().unwrap_or_default(), &expressions)
    };
    compare(&expect, actual)
}

fn with_directory(expect: &Value, directory: &CaseDirectory) -> Value {
    let text = expect.to_string().replace("$DIR", &directory.display_path());
    serde_json::from_str(&text).unwrap_or_default()
}

fn manifests(path: &str, plugin: &str, expressions: &Expressions) -> Value {
    let Some(plugin) = ManifestPlugin::from_name(plugin) else {
        return json!({"unknown plugin": plugin});
    };
    match Loader::for_plugin(plugin, &LoadOptions::new(expressions)).load_directory(path) {
        Ok(set) => {
            let objects = objects(&set);
            json!({"names": names(&objects), "hash": set.hash, "objects": objects})
        }
        Err(errors) => json!({"error": errors.to_string()}),
    }
}

fn configuration(path: &str, expressions: &Expressions, feature_gates: FeatureGates) -> Value {
    let loaded = match ConfigurationLoader::new(&ConfigurationOptions {
        manifests: LoadOptions::new(expressions),
        feature_gates,
    })
    .load(path)
    {
        Ok(loaded) => loaded,
        Err(errors) if errors.exit_code == 1 => return json!({"error": errors.to_string()}),
        Err(errors) => return json!({"error": errors.to_string(), "exitCode": errors.exit_code}),
    };
    let plugins = loaded.plugins.iter().map(|plugin| {
        let directory = plugin.static_manifests_dir.as_ref();
        let members = [
            ("staticManifestsDir", directory.map(|directory| json!(directory))),
            (
                "names",
                directory.map(|_| json!(names(&objects(&plugin.manifests)))),
            ),
            ("hash", directory.map(|_| json!(plugin.manifests.hash))),
            (
                "kubeConfigFile",
                plugin.kube_config_file.as_ref().map(|file| json!(file)),
            ),
        ];
        let present = members
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        (plugin.plugin.name().to_owned(), Value::Object(present.collect()))
    });
    json!({"plugins": Value::Object(plugins.collect())})
}

/// Policies by name, then bindings by name.
fn objects(set: &ManifestSet) -> Vec<Value> {
    fn values<T: Serialize>(loaded: &[SourcedObject<T>]) -> Vec<Value> {
        let value = |loaded: &SourcedObject<T>| serde_json::to_value(&*loaded.object).unwrap_or_default();
        let mut values: Vec<Value> = loaded.iter().map(value).collect();
        values.sort_by_key(name);
        values
    }
    [
        values(&set.validating_policies),
        values(&set.mutating_policies),
        values(&set.validating_bindings),
        values(&set.mutating_bindings),
        values(&set.validating_webhooks),
        values(&set.mutating_webhooks),
    ]
    .concat()
}

fn names(objects: &[Value]) -> Vec<String> {
    objects.iter().map(name).collect()
}

fn name(object: &Value) -> String {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

fn compare(expect: &Value, actual: Value) -> CaseOutcome {
    let text = |of: &Value| of.get("error").and_then(Value::as_str).map(str::to_owned);
    let (expected, text) = (text(expect), text(&actual));
    let decision = match expected {
        Some(_) => text.is_some() && expect.get("exitCode") == actual.get("exitCode"),
        None => *expect == actual,
    };
    CaseOutcome::new(decision, expect, actual).compare_texts(expected.as_deref(), text.as_deref())
}
