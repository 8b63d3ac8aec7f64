//! The kubeconfig that a webhook plugin's configuration names: it must be there and decode.
//!
//! What it says is for whoever calls webhooks.

use std::collections::HashSet;

use pratique_cel::quote::quoted;
use serde_json::Value as Json;

use super::open::whole_file;
use crate::parse::{Parsed, parse_yaml};
use crate::{decode, directory, header, registry, schema};

/// Checks a file; the error is the server's text.
pub(super) fn check(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Ok(());
    }
    directory::is_directory(path)?;
    load(path).map_err(|reason| format!("error loading config file {}: {reason}", quoted(path)))
}

fn load(path: &str) -> Result<(), String> {
    let bytes = directory::read_file(path)?;
    if bytes.is_empty() {
        return Ok(());
    }
    let parsed = parse_yaml(whole_file(path, bytes)).map_err(|report| report.text)?;
    check_header(&parsed)?;
    let decoded = decode::decode(parsed.tree(), parsed.root, &schema::KUBE_CONFIG, "v1");
    if let Some(fault) = decoded.fatal.first().or(decoded.types.first()) {
        return Err(fault.message.clone());
    }
    check_names(&decoded.value)
}

/// Without kind or version it is taken for a Config.
fn check_header(parsed: &Parsed) -> Result<(), String> {
    let mut header = header::interpret(parsed.tree(), parsed.root).map_err(|(text, _)| text)?;
    if header.kind.is_empty() {
        "Config".clone_into(&mut header.kind);
    }
    if header.version.is_empty() && header.group.is_empty() {
        "v1".clone_into(&mut header.version);
    }
    if header.version.is_empty() {
        let text = parsed.raw_text(parsed.root);
        return Err(format!("Object 'apiVersion' is missing in '{text}'"));
    }
    let known = header.group.is_empty() && header.version == "v1" && header.kind == "Config";
    if known {
        Ok(())
    } else {
        Err(registry::not_registered(&header))
    }
}

/// Lists become maps, so that a name may not be given twice.
fn check_names(config: &Json) -> Result<(), String> {
    for (list, kind, to) in [
        ("clusters", "NamedCluster", "*api.Cluster"),
        ("users", "NamedAuthInfo", "*api.AuthInfo"),
        ("contexts", "NamedContext", "*api.Context"),
    ] {
        let mut seen = HashSet::new();
        let items = config.get(list).and_then(Json::as_array).into_iter().flatten();
        for name in items.filter_map(|item| item.get("name").and_then(Json::as_str)) {
            if !seen.insert(name) {
                let text = format!(
                    "error converting *[]{kind} into *map[string]{to}: duplicate name \"{name}\" in list"
                );
                return Err(text);
            }
        }
    }
    Ok(())
}
