//! The page as a directory of static files.

use std::fs;
use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::module::compressed;
use crate::source;

/// An example of the page, whose texts are files of the workspace.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PageExample {
    title: String,
    #[serde(default)]
    mode: Option<String>,
    /// Texts by the name of their editor: paths of files, or the text itself.
    #[serde(default)]
    files: std::collections::BTreeMap<String, Vec<String>>,
    #[serde(default)]
    texts: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    request: Value,
}

/// Writes the page, its examples and the module; returns a summary with the number of files.
pub(crate) fn write(module: &Path, out: &Path) -> Result<String, ToolError> {
    if out.exists() {
        fs::remove_dir_all(out).map_err(ToolError::file(&out))?;
    }
    fs::create_dir_all(out).map_err(ToolError::file(&out))?;
    let mut count = 0;
    let mut put = |name: &str, content: &[u8]| {
        count += 1;
        let path = out.join(name);
        fs::write(&path, content).map_err(ToolError::file(&path))
    };
    for name in page()? {
        let path = source("playground").join(&name);
        put(&name, &fs::read(&path).map_err(ToolError::file(&path))?)?;
    }
    let engine = source("bindings/javascript/engine.js");
    put("engine.js", &fs::read(&engine).map_err(ToolError::file(&engine))?)?;
    let listed = source("playground/examples.json");
    let listed = fs::read_to_string(&listed).map_err(ToolError::file(&listed))?;
    put("examples.json", examples(&listed)?.to_string().as_bytes())?;
    let module = fs::read(module).map_err(ToolError::file(&module))?;
    put("pratique.wasm", &module)?;
    put("pratique.wasm.gz", &compressed(&module)?)?;
    Ok(format!("{count} files in {}", out.display()))
}

/// The names of the files that are on the page as they are.
fn page() -> Result<Vec<String>, ToolError> {
    let page = source("playground");
    let mut names = Vec::new();
    for entry in fs::read_dir(&page).map_err(ToolError::file(&page))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_page = ["html", "css", "js"]
            .iter()
            .any(|kind| name.ends_with(&format!(".{kind}")));
        if is_page {
            names.push(name);
        }
    }
    Ok(names)
}

/// The examples, with their texts.
fn examples(listed: &str) -> Result<Value, ToolError> {
    let listed: Vec<PageExample> =
        serde_json::from_str(listed).map_err(|error| format!("playground/examples.json: {error}"))?;
    listed.into_iter().map(whole).collect()
}

fn whole(example: PageExample) -> Result<Value, ToolError> {
    let mut state = json!({"title": example.title, "mode": example.mode.as_deref().unwrap_or("policies"),
        "request": example.request});
    let Some(members) = state.as_object_mut() else {
        return Err("an example is an object".into());
    };
    members.extend(example.texts.into_iter().map(|(name, text)| (name, text.into())));
    for (name, paths) in example.files {
        let read = |path: &String| {
            let path = source(path);
            fs::read_to_string(&path).map_err(ToolError::file(&path))
        };
        let texts: Vec<String> = paths.iter().map(read).collect::<Result<_, _>>()?;
        members.insert(name, texts.join("---\n").into());
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is missing in the program is missing on its page, which otherwise only a browser would show.
    #[test]
    fn the_program_embeds_every_file() {
        let embedded =
            fs::read_to_string(source("crates/pratique-cli/src/playground/embedded_site.rs")).unwrap();
        let others = ["engine.js", "examples.json", "pratique.wasm.gz"].map(str::to_owned);
        for name in page().unwrap().into_iter().chain(others) {
            assert!(embedded.contains(&format!("\"{name}\"")), "{name}");
        }
    }

    /// Every example loads, and is decided.
    #[test]
    fn examples_are_decided() {
        let listed = fs::read_to_string(source("playground/examples.json")).unwrap();
        let all = examples(&listed).unwrap();
        let all = all.as_array().unwrap();
        assert!(all.len() >= 5, "{}", all.len());
        for example in all {
            let answer = answered(example);
            let title = example.get("title");
            assert_eq!(answer.get("fault"), None, "{title:?}: {answer}");
            if example.get("mode").unwrap() == "expression" {
                assert!(answer.get("value").is_some(), "{title:?}: {answer}");
                continue;
            }
            assert_eq!(answer.get("problems"), Some(&json!([])), "{title:?}");
            let decision = answer.get("decision").and_then(Value::as_str);
            assert!(
                matches!(decision, Some("allowed" | "denied")),
                "{title:?}: {answer}"
            );
        }
    }

    /// A request in the form of the page.
    fn answered(example: &Value) -> Value {
        let text = |name: &str| example.get(name).and_then(Value::as_str).unwrap_or_default();
        let file = |name: &str| json!({"path": name, "text": text(name)});
        let request = match text("mode") {
            "expression" => {
                json!({"expression": {"expression": text("expression"), "variablesText": text("variables")}})
            }
            _ => {
                let supplied = |name: &str| Some(text(name)).filter(|text| !text.is_empty());
                let user = example.pointer("/request/user");
                json!({"evaluate": {"policies": [file("policies")], "object": text("object"),
                    "oldObject": supplied("oldObject"), "authorizer": supplied("authorizer"),
                    "user": user.map(|name| json!({"name": name})),
                    "cluster": [file("params"), file("namespace")]}})
            }
        };
        serde_json::from_slice(&pratique_wasm::answer(request.to_string().as_bytes())).unwrap()
    }
}
