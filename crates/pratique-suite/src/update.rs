//! Updates the expectations of a suite to the actual results, and preserves the rest of the file.

mod edit;
mod expectation;

use pratique_json::Value;
use pratique_manifest::{ManifestFile, NodeId, Span, StringStyle, TreeValue};

use crate::actual::ActualResult;
use crate::compare::compare;
use crate::plugin_outcome::PluginOutcome;
use crate::reader::read_suites;
use crate::suite::{Case, Suite};
use edit::{RangeEdit, apply};
use expectation::NewExpectation;
use pratique_state::yaml;

/// Why a suite's file cannot be updated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// It is JSON.
    #[error("only suites in YAML are changed")]
    Json,
    /// It is of another program.
    #[error("tests of other programs are left as they are")]
    Foreign,
    /// It is not UTF-8.
    #[error("the file is not UTF-8")]
    Encoding,
    /// The changed file cannot be read as suites.
    #[error("its layout is too unusual to be changed in place")]
    Layout,
    /// Several objects share an expectation.
    #[error(
        "{0}: other objects have the same expectation: give those that differ one of their own in `expectObjects`"
    )]
    Shared(String),
    /// Expected changes are not updated.
    #[error("what is expected of `changes` is left as it is")]
    Changes,
    /// An expected object is in another file.
    #[error("the expected object is in {0}, which is left as it is")]
    OtherFile(String),
}

/// The text of a suite file with updated expectations; `None` if everything is as expected.
///
/// # Errors
/// Why the file cannot be updated.
pub fn updated(
    file: &ManifestFile,
    results: &[(&Suite, &Case, &ActualResult)],
) -> Result<Option<String>, UpdateError> {
    let mut edits = Vec::new();
    if file.content.trim_ascii_start().starts_with(b"{") {
        return Err(UpdateError::Json);
    }
    if results.iter().any(|(suite, _, _)| suite.is_foreign) {
        return Err(UpdateError::Foreign);
    }
    for (suite, case, actual) in results {
        CaseUpdater { suite, case, actual }.edits(&mut edits)?;
    }
    if edits.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8(file.content.clone()).map_err(|_| UpdateError::Encoding)?;
    let text = apply(&text, edits);
    let written = ManifestFile {
        path: file.path.clone(),
        content: text.clone().into_bytes(),
    };
    match read_suites(&written) {
        Ok(_) => Ok(Some(text)),
        Err(_) => Err(UpdateError::Layout),
    }
}

struct CaseUpdater<'a> {
    suite: &'a Suite,
    case: &'a Case,
    actual: &'a ActualResult,
}

impl CaseUpdater<'_> {
    fn edits(&self, edits: &mut Vec<RangeEdit>) -> Result<(), UpdateError> {
        let expected = self.case.expected.as_ref();
        let differences = expected.map(|expected| compare(expected, self.actual));
        if differences.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        if self.case.nodes.shared {
            return Err(UpdateError::Shared(self.case.name.clone()));
        }
        let Some(id) = self.case.nodes.expect else {
            edits.push(self.added(self.case.nodes.node, &NewExpectation::new(self.actual)));
            return Ok(());
        };
        let decision = expected.and_then(|expected| expected.decision);
        let flips = decision.is_some_and(|decision| decision != self.actual.decision);
        if let TreeValue::String(..) = self.node(id) {
            edits.push(self.replaced(id, self.actual.decision.as_str().to_owned()));
        } else if flips {
            edits.push(self.replaced_whole(id, &NewExpectation::new(self.actual)));
        } else {
            let fields = differences.unwrap_or_default();
            self.fields(
                id,
                fields.iter().map(|difference| difference.field.as_str()),
                edits,
            )?;
        }
        Ok(())
    }

    /// Updates single fields of an expectation.
    fn fields<'f>(
        &self,
        id: NodeId,
        fields: impl Iterator<Item = &'f str>,
        edits: &mut Vec<RangeEdit>,
    ) -> Result<(), UpdateError> {
        let mut objects = false;
        for field in fields {
            let value = |name: &str| self.suite.source.tree().entry(id, name).map(|entry| entry.value);
            let text = |text: &str| Value::from(text.to_owned());
            let replaced =
                |name: &str, with: Value<'static>| value(name).map(|id| self.replaced_value(id, &with));
            let actual = self.actual;
            match field {
                "code" => edits.extend(replaced(field, Value::Int(actual.code.into()))),
                "reason" => edits.extend(replaced(field, text(&actual.reason))),
                "message" => edits.extend(replaced(field, text(&actual.message))),
                "messageContains" => edits.extend(replaced(field, text(&actual.message))),
                "policy" => edits.extend(replaced(
                    field,
                    text(actual.policy.as_deref().unwrap_or_default()),
                )),
                "plugin" => edits.extend(replaced(
                    field,
                    text(actual.plugin.as_deref().unwrap_or_default()),
                )),
                field if field.starts_with("changes[") => return Err(UpdateError::Changes),
                field if field.starts_with("plugins[") || field.starts_with("quotas[") => {
                    let name = field.split('[').next().unwrap_or_default();
                    edits.extend(value(name).and_then(|id| self.of_chain(id, field)));
                }
                "unchanged" => edits.extend(replaced(field, Value::Bool(!actual.changed))),
                field if field.starts_with("policies[") || field.starts_with("bindings[") => {
                    let (name, key) = field.split_once('[').unwrap_or((field, ""));
                    let (key, outcomes) = (key.trim_end_matches(']'), &actual.outcomes);
                    let actual_outcome = match name {
                        "policies" => outcomes.policies.get(key),
                        _ => outcomes.bindings.get(key),
                    };
                    let known = value(name).and_then(|id| self.suite.source.tree().entry(id, key));
                    // What does not exist has no outcome to write.
                    if let (Some(entry), Some(actual_outcome)) = (known, actual_outcome) {
                        edits.push(self.replaced_value(entry.value, &text(actual_outcome.name())));
                    }
                }
                field if field.starts_with("invalid[") => {
                    let key = field
                        .strip_prefix("invalid[")
                        .and_then(|key| key.strip_suffix(']'));
                    let key = key.unwrap_or_default();
                    let known = value("invalid").and_then(|id| self.suite.source.tree().entry(id, key));
                    let actual_reason = actual.invalid.iter().find(|(name, _)| name == key);
                    // A field that is valid has no reason to write.
                    if let (Some(entry), Some((_, reason))) = (known, actual_reason) {
                        edits.push(self.replaced_value(entry.value, &text(reason)));
                    }
                }
                "warnings" => edits.extend(replaced(field, expectation::texts(&actual.warnings))),
                field if field.starts_with("auditAnnotations") => {
                    // One edit updates all annotations.
                    if let Some(id) =
                        value("auditAnnotations").filter(|_| !self.has_edit(edits, value("auditAnnotations")))
                    {
                        let names = self.keys(id);
                        edits.push(self.replaced_value(id, &expectation::annotations(actual, &names)));
                    }
                }
                _ if !objects => {
                    objects = true;
                    self.objects(id, edits)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Updates what became of the request in an admission plugin, `plugins[NAME]`, or an amount, `quotas[NAME][RESOURCE]`;
    /// `id` is the mapping of all.
    fn of_chain(&self, id: NodeId, field: &str) -> Option<RangeEdit> {
        let entry = |id: NodeId, key: &str| Some(self.suite.source.tree().entry(id, key)?.value);
        let keys = field.split_once('[')?.1.strip_suffix(']')?;
        match keys.split_once("][") {
            None if field.starts_with("plugins") => {
                let known_outcome = self.actual.plugins.get(keys).copied();
                let outcome = known_outcome.unwrap_or(PluginOutcome::Skipped);
                Some(self.replaced_value(entry(id, keys)?, &Value::from(outcome.name())))
            }
            // What does not exist has no amounts to write.
            None => None,
            Some((quota, resource)) => {
                let key = self.actual.quota_key(quota);
                let amount = self.actual.quotas.get(&key)?.get(resource)?;
                let at = entry(entry(id, quota)?, resource)?;
                Some(self.replaced_value(at, &Value::from(amount.clone())))
            }
        }
    }

    /// Updates the objects of an expectation.
    fn objects(&self, id: NodeId, edits: &mut Vec<RangeEdit>) -> Result<(), UpdateError> {
        for name in ["object", "objectContains"] {
            let Some(entry) = self.suite.source.tree().entry(id, name) else {
                continue;
            };
            if let TreeValue::String(path, _) = self.node(entry.value) {
                return Err(UpdateError::OtherFile(path.to_string()));
            }
            let object = match (name, &self.case.expected) {
                ("objectContains", Some(expected)) => {
                    let part = expected.object_contains.clone().unwrap_or_default();
                    expectation::part(&part, &self.actual.object)
                }
                _ => self.actual.object.clone(),
            };
            edits.push(self.replaced_value(entry.value, &object));
        }
        Ok(())
    }

    fn has_edit(&self, edits: &[RangeEdit], id: Option<NodeId>) -> bool {
        id.is_some_and(|id| {
            let start = self.offset(self.span(id).start);
            edits.iter().any(|edit| edit.start == start)
        })
    }

    fn keys(&self, id: NodeId) -> Vec<String> {
        match self.node(id) {
            TreeValue::Map(entries) => entries.iter().map(|entry| entry.key.to_string()).collect(),
            _ => Vec::new(),
        }
    }

    fn node(&self, id: NodeId) -> &TreeValue {
        &self.suite.source.tree().get(id).value
    }

    fn span(&self, id: NodeId) -> Span {
        let source = self.suite.source.document();
        let mut start = self.suite.source.tree().get(id).span.start;
        if let TreeValue::String(_, StringStyle::Literal | StringStyle::Folded) = self.node(id) {
            // The block indicator is before the text.
            let preceding_text = source.as_str().get(..start as usize).unwrap_or_default();
            let indicator = preceding_text.rfind(['|', '>']);
            start = indicator.and_then(|at| u32::try_from(at).ok()).unwrap_or(start);
        }
        Span {
            start,
            end: self.content_end(id),
        }
    }

    /// The end of the content of a value; the span of a block may include trailing blank lines and comments.
    fn content_end(&self, id: NodeId) -> u32 {
        let source = self.suite.source.document();
        let span = self.suite.source.tree().get(id).span;
        let is_flow = source.slice(span).starts_with(['{', '[']);
        let end = match self.node(id) {
            TreeValue::Map(entries) if !is_flow => {
                entries.iter().map(|entry| self.content_end(entry.value)).max()
            }
            TreeValue::List(items) if !is_flow => items.iter().map(|item| self.content_end(*item)).max(),
            _ => None,
        };
        let text = source.slice(Span {
            start: span.start,
            end: end.unwrap_or(span.end),
        });
        span.start + u32::try_from(text.trim_end().len()).unwrap_or_default()
    }

    fn offset(&self, at: u32) -> usize {
        self.suite.source.document().position(at as usize).offset
    }

    /// The column of an offset, counted from 0.
    fn column(&self, at: u32) -> usize {
        let column = self.suite.source.document().position(at as usize).column;
        (column as usize).saturating_sub(1)
    }

    fn replaced(&self, id: NodeId, with: String) -> RangeEdit {
        let span = self.span(id);
        RangeEdit {
            start: self.offset(span.start),
            end: self.offset(span.end),
            text: with,
        }
    }

    /// Replaces a value, in the same style.
    fn replaced_value(&self, id: NodeId, with: &Value<'static>) -> RangeEdit {
        let span = self.suite.source.tree().get(id).span;
        let is_flow = self.suite.source.document().slice(span).starts_with(['{', '[']);
        let is_block = matches!(self.node(id), TreeValue::Map(_) | TreeValue::List(_)) && !is_flow;
        let nests = matches!(with, Value::Object(object) if !object.is_empty())
            || matches!(with, Value::Array(array) if !array.is_empty());
        if is_block && nests {
            let column = self.column(span.start);
            let block = yaml::block(with, column);
            return self.replaced(id, block.trim().to_owned());
        }
        self.replaced(id, yaml::flow(with))
    }

    /// Replaces a whole expectation.
    fn replaced_whole(&self, id: NodeId, with: &NewExpectation) -> RangeEdit {
        let span = self.suite.source.tree().get(id).span;
        let is_flow = self.suite.source.document().slice(span).starts_with('{');
        if is_flow || with.decision_only().is_some() {
            self.replaced(id, with.flow())
        } else {
            self.replaced(id, with.block(self.column(span.start)).trim().to_owned())
        }
    }

    /// Adds an expectation to a mapping, after its last field.
    fn added(&self, id: NodeId, expect: &NewExpectation) -> RangeEdit {
        let span = self.span(id);
        let source = self.suite.source.document();
        let flow = Some(source.slice(span)).filter(|text| text.starts_with('{'));
        if let Some(inner) = flow.and_then(|text| text.strip_suffix('}')) {
            let inner = inner.trim_end();
            let at = self.offset(span.start + u32::try_from(inner.len()).unwrap_or_default());
            let comma = if inner.ends_with(['{', ',']) { " " } else { ", " };
            return RangeEdit {
                start: at,
                end: at,
                text: format!("{comma}expect: {}", expect.flow()),
            };
        }
        let column = self.column(span.start);
        let value = match expect.decision_only() {
            Some(_) => format!(" {}", expect.flow()),
            None => format!("\n{}", expect.block(column + 2).trim_end()),
        };
        let rest = source.as_str().get(span.end as usize..).unwrap_or_default();
        let line = rest.find('\n').unwrap_or(rest.len());
        let at = self.offset(span.end + u32::try_from(line).unwrap_or_default());
        RangeEdit {
            start: at,
            end: at,
            text: format!("\n{}expect:{value}", " ".repeat(column)),
        }
    }
}

#[cfg(test)]
mod tests;
