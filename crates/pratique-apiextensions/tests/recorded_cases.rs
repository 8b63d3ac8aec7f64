//! Cases whose outcome was recorded from the server's own code (`tools/go/apiextensions`).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pratique_apiextensions::{CustomResource, Validation, Version};
use pratique_json::Value;
use pratique_schema::Release;
use serde_json::{Value as Json, json};

fn directory() -> PathBuf {
    match std::env::var_os("PRATIQUE_APIEXTENSIONS_CASES") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/apiextensions"),
    }
}

fn definition(group: &Json) -> Json {
    let mut version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": group["schema"]},
    });
    if let Some(subresources) = group.get("subresources") {
        version["subresources"] = subresources.clone();
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": group.get("scope").cloned().unwrap_or_else(|| json!("Namespaced")),
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version],
        },
    })
}

fn parsed(json: &Json) -> Value<'static> {
    pratique_json::parse(json.to_string().as_bytes())
        .unwrap()
        .into_owned()
}

fn errors(errors: &[pratique_types::field::Error]) -> Json {
    let mut all: Vec<[String; 3]> = errors
        .iter()
        .map(|error| {
            [
                error.kind.reason().to_owned(),
                error.field.clone(),
                named(&error.body),
            ]
        })
        .collect();
    all.sort_by_key(|error| format!("[{}]", error.join(" ")));
    json!(all)
}

/// The name of the type of `self` is made of the time.
fn named(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once("selfType") {
        let _ = write!(text, "{before}selfType");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text + rest
}

fn decoded(version: &Version, object: &Json) -> Result<(Value<'static>, Vec<String>), String> {
    let mut value = parsed(object);
    let unknown = version.prune(&mut value).map_err(|error| error.to_string())?;
    version.default(&mut value);
    Ok((value, unknown))
}

fn outcome(version: &Version, case: &Json) -> Json {
    let mut found = serde_json::Map::new();
    let given = &case["object"];
    let (mut value, unknown) = match decoded(version, given) {
        Ok(decoded) => decoded,
        Err(message) => return json!({"decode": message}),
    };
    if !unknown.is_empty() {
        found.insert("unknown".to_owned(), json!(unknown));
    }
    if parsed(given) != value {
        found.insert(
            "stored".to_owned(),
            serde_json::from_str(&value.to_string()).unwrap(),
        );
    }
    let Validation {
        errors: refused,
        mut warnings,
    } = match case.get("old") {
        None => {
            version.prepare_create(&mut value);
            version.validate_create(&value)
        }
        Some(old) => {
            let (old, _) = decoded(version, old).unwrap();
            version.prepare_update(&mut value, &old);
            version.validate_update(&value, &old)
        }
    };
    if !refused.is_empty() {
        found.insert("errors".to_owned(), errors(&refused));
    }
    if refused.len() == 1 && case["expect"].get("message").is_some() {
        found.insert(
            "message".to_owned(),
            json!(named(&version.message(&value, &refused))),
        );
    }
    if !warnings.is_empty() {
        warnings.sort();
        found.insert("warnings".to_owned(), json!(warnings));
    }
    Json::Object(found)
}

/// The release whose servers gave the answers: `releases-1.34.json` says it, other files are of the newest.
fn release(path: &Path) -> &'static Release {
    let stem = path.file_stem().unwrap().to_string_lossy();
    match stem.rsplit_once('-') {
        Some((_, version)) => Release::by_version(version).unwrap(),
        None => Release::latest(),
    }
}

/// A case as it was recorded, without what differs each time.
fn expected(expect: &Json) -> Json {
    serde_json::from_str(&named(&expect.to_string())).unwrap()
}

fn check(path: &Path, differences: &mut Vec<String>) -> usize {
    let release = release(path);
    let groups: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut count = 0;
    for group in groups.as_array().unwrap() {
        let name = format!("{release} {}", group["name"].as_str().unwrap());
        let text = parsed(&definition(group));
        if let Some(definition) = group.get("definition") {
            count += 1;
            let found = match CustomResource::compile_in(release, &text) {
                Ok(_) => json!({}),
                Err(error) => json!({"errors": errors(&error.errors)}),
            };
            let expected = expected(definition);
            if found != expected {
                differences.push(format!(
                    "{name}: definition\n  found    {found}\n  expected {expected}"
                ));
            }
        }
        let Some(cases) = group.get("cases") else {
            continue;
        };
        let compiled = match CustomResource::stored_in(release, &text) {
            Ok((compiled, _)) => compiled,
            Err(error) => {
                differences.push(format!("{name}: {error}"));
                continue;
            }
        };
        for (at, case) in cases.as_array().unwrap().iter().enumerate() {
            count += 1;
            let found = outcome(compiled.version("v1").unwrap(), case);
            let expected = expected(&case["expect"]);
            if found != expected {
                let object = &case["object"];
                differences.push(format!(
                    "{name} #{at}: {object}\n  found    {found}\n  expected {expected}"
                ));
            }
        }
    }
    count
}

#[test]
fn outcomes_are_the_servers() {
    let mut differences = Vec::new();
    let mut count = 0;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    for path in paths {
        count += check(&path, &mut differences);
    }
    assert!(
        differences.is_empty(),
        "{} of {count} cases differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(count >= 600, "{count} cases");
}
