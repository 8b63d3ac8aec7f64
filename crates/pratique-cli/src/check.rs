//! `pratique check`: would an API server start with this?

mod guess;
mod subject;

use std::sync::Arc;

use pratique::{Cache, Expressions};
use pratique_manifest::{LoadErrors, Plugin};
use serde::Serialize;

use crate::arguments::{CheckArguments, Format};
use crate::exit::{Answer, Trouble};
use crate::output::excerpt::Texts;
use crate::output::{self, problems};
use crate::style::{Style, Tone};
pub(crate) use guess::plugin_of;
use subject::{Found, Loaded, Subject};

/// What became of one path.
struct Checked {
    path: String,
    loaded: Result<Vec<Loaded>, Refusal>,
}

/// Why a server would not start, and how it would end.
pub(crate) struct Refusal {
    pub(crate) errors: LoadErrors,
    pub(crate) exit_code: u8,
}

/// Checks every path, and answers whether all of them load.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Answer, Trouble> {
    let expressions = Expressions::new(Arc::new(Cache::new()));
    let mut checked = Vec::new();
    for path in &arguments.paths {
        let subject = Subject::of(path, arguments.plugin)?;
        let loaded = subject.load(&expressions, arguments.common.feature_gates);
        checked.push(Checked {
            path: path.clone(),
            loaded,
        });
    }
    match arguments.common.output {
        Format::Human => output::answer(&human(&checked))?,
        Format::Json => output::answer_json(&JsonReport {
            results: checked.iter().map(JsonResult::from).collect(),
        })?,
    }
    Ok(Answer::of(checked.iter().all(|checked| checked.loaded.is_ok())))
}

fn human(checked: &[Checked]) -> String {
    let style = Style::of_stdout();
    let mut texts = Texts::default();
    let reports = checked.iter().map(|checked| match &checked.loaded {
        Ok(loaded) => loads(&checked.path, loaded, style),
        Err(refusal) => problems::human(&refusal.errors, &mut texts, style),
    });
    reports.collect::<Vec<_>>().join("\n")
}

/// What was loaded, plugin by plugin.
fn loads(path: &str, loaded: &[Loaded], style: Style) -> String {
    let mut out = format!(
        "{}: {}\n",
        style.paint(Tone::Place, path),
        style.paint(Tone::Good, "valid")
    );
    for plugin in loaded {
        let hash = if plugin.hash.is_empty() {
            "no content"
        } else {
            &plugin.hash
        };
        out.push_str(&format!(
            "\n{} {}\n",
            plugin.plugin,
            style.paint(Tone::Faint, hash)
        ));
        if let Some(directory) = &plugin.directory {
            out.push_str(&format!("  manifests in {directory}\n"));
        }
        for Found { kind, name, location } in &plugin.objects {
            let place = style.paint(Tone::Faint, &problems::place(location));
            out.push_str(&format!("  {kind} {name} {place}\n"));
        }
    }
    out
}

#[derive(Serialize)]
struct JsonReport<'a> {
    results: Vec<JsonResult<'a>>,
}

/// One path's answer for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonResult<'a> {
    path: &'a str,
    valid: bool,
    /// What the server stops with.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<problems::JsonProblem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<JsonPlugin<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonPlugin<'a> {
    plugin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    static_manifests_dir: Option<&'a str>,
    hash: &'a str,
    objects: Vec<JsonObject<'a>>,
}

#[derive(Serialize)]
struct JsonObject<'a> {
    kind: &'static str,
    name: &'a str,
    location: problems::JsonLocation<'a>,
}

impl<'a> From<&'a Checked> for JsonResult<'a> {
    fn from(checked: &'a Checked) -> Self {
        let empty = JsonResult {
            path: &checked.path,
            valid: false,
            error: None,
            exit_code: None,
            problems: Vec::new(),
            plugins: Vec::new(),
        };
        match &checked.loaded {
            Ok(loaded) => JsonResult {
                valid: true,
                plugins: loaded.iter().map(JsonPlugin::from).collect(),
                ..empty
            },
            Err(refusal) => JsonResult {
                error: Some(refusal.errors.to_string()),
                exit_code: Some(refusal.exit_code),
                problems: refusal
                    .errors
                    .problems()
                    .map(problems::JsonProblem::from)
                    .collect(),
                ..empty
            },
        }
    }
}

impl<'a> From<&'a Loaded> for JsonPlugin<'a> {
    fn from(loaded: &'a Loaded) -> Self {
        let objects = loaded.objects.iter().map(|found| JsonObject {
            kind: found.kind.name(),
            name: &found.name,
            location: (&found.location).into(),
        });
        JsonPlugin {
            plugin: Plugin::name(loaded.plugin),
            static_manifests_dir: loaded.directory.as_deref(),
            hash: &loaded.hash,
            objects: objects.collect(),
        }
    }
}
