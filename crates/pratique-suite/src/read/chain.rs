//! Decodes what is about the server's chain: its plugins, what webhooks answer, and what is expected of them.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_manifest::{NodeId, Rule};
use pratique_types::Operation;
use pratique_types::admission_plugins::{BuiltIn, PluginSwitches, known};

use super::{Fields, SuiteDecoder};
use crate::decision::from_name;
use crate::plugin_outcome::PluginOutcome;
use crate::scripted_webhooks::{CallOutcome, WebhookResponse, WebhookScript};
use crate::select::ObjectSelector;
use crate::substitute::ObjectPath;
use crate::suite::{ExpectedResult, FieldPath};
use pratique_review::chain::{ChainSettings, DEFAULTING, PREPARATION};

/// The fields of a webhook that an answer has, and a call that fails has not.
const OF_ANSWERS: [&str; 8] = [
    "allowed",
    "code",
    "reason",
    "message",
    "patch",
    "merge",
    "warnings",
    "auditAnnotations",
];

impl<'a> SuiteDecoder<'a> {
    /// The plugins of the chain, if requests go through it.
    pub(super) fn chain(&mut self, root: &Fields<'a>) -> Option<ChainSettings> {
        let id = root.node("chain")?;
        match root.bool("chain") {
            Some(true) => return Some(ChainSettings::default()),
            Some(false) => return None,
            None => {}
        }
        let fields = self.fields(id);
        let enabled = fields.node("enableAdmissionPlugins");
        let settings = ChainSettings {
            switches: PluginSwitches {
                enabled: enabled.map(|_| self.plugins(&fields, "enableAdmissionPlugins")),
                disabled: self.plugins(&fields, "disableAdmissionPlugins"),
                ..PluginSwitches::default()
            },
            ..ChainSettings::default()
        };
        let seconds = |name: &str, default: i64| fields.integer(name).map_or(default, i64::from);
        Some(ChainSettings {
            not_ready_toleration_seconds: seconds(
                "defaultNotReadyTolerationSeconds",
                settings.not_ready_toleration_seconds,
            ),
            unreachable_toleration_seconds: seconds(
                "defaultUnreachableTolerationSeconds",
                settings.unreachable_toleration_seconds,
            ),
            ..settings
        })
    }

    fn plugins(&mut self, fields: &Fields<'a>, name: &str) -> Vec<&'static BuiltIn> {
        let mut plugins = Vec::new();
        for id in fields.list(name) {
            match known(&self.fields(id).as_text().unwrap_or_default()) {
                Ok(plugin) => plugins.push(plugin),
                Err(error) => self.fault(Rule::InvalidField, error.to_string(), id),
            }
        }
        plugins
    }

    /// What webhooks answer, if the fields say it.
    pub(super) fn webhooks(&mut self, fields: &Fields<'a>) -> Option<Vec<WebhookScript>> {
        fields.node("webhooks")?;
        let listed = fields.list("webhooks").into_iter();
        Some(listed.filter_map(|id| self.script(id)).collect())
    }

    fn script(&mut self, id: NodeId) -> Option<WebhookScript> {
        let fields = self.fields(id);
        let mut objects = Vec::new();
        for id in fields.list("objects") {
            let text = self.fields(id).as_text().unwrap_or_default();
            match ObjectSelector::parse(&text) {
                Some(selector) => objects.push(selector),
                None => {
                    let message = format!("`{text}` is no NAME, KIND/NAME or KIND/NAMESPACE/NAME");
                    self.fault(Rule::InvalidField, message, id);
                }
            }
        }
        let operations = fields.texts("operations");
        let operations = operations.iter().filter_map(|name| Operation::from_name(name));
        Some(WebhookScript {
            name: fields.read_text("name")?,
            location: self.location(fields.node("name").unwrap_or(id)),
            objects,
            operations: operations.collect(),
            answer: self.answer(&fields, id)?,
        })
    }

    fn answer(&mut self, fields: &Fields<'a>, id: NodeId) -> Option<CallOutcome> {
        let error = fields.read_text("error");
        let times_out = fields.bool("timeout").unwrap_or_default();
        let answered = OF_ANSWERS.iter().find(|name| fields.node(name).is_some());
        let problem = match (&error, times_out, answered) {
            (Some(_), true, _) => Some("a call either fails with `error` or has a `timeout`".to_owned()),
            (Some(_), _, Some(name)) => Some(format!("a call that fails with `error` has no `{name}`")),
            (_, true, Some(name)) => Some(format!("a call with a `timeout` has no `{name}`")),
            _ if fields.node("patch").is_some() && fields.node("merge").is_some() => {
                Some("an answer has either a `patch` or a `merge`".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.fault(Rule::InvalidField, problem, id);
            return None;
        }
        if let Some(why) = error {
            return Some(CallOutcome::Error(why));
        }
        if times_out {
            return Some(CallOutcome::Timeout);
        }
        Some(CallOutcome::Response(Box::new(WebhookResponse {
            allowed: fields.bool("allowed").unwrap_or(true),
            code: fields.integer("code"),
            reason: fields.read_text("reason"),
            message: fields.read_text("message"),
            patch: fields.value("patch"),
            merge: fields.value("merge"),
            warnings: fields.texts("warnings"),
            audit_annotations: fields.map("auditAnnotations", |value| value.as_text().unwrap_or_default()),
        })))
    }

    /// Decodes what is expected of the chain.
    pub(super) fn expected_of_chain(&mut self, fields: &Fields<'a>) -> ExpectedResult {
        for name in ["plugins", "changes", "quotas"] {
            self.needs_chain.extend(fields.node(name).map(|id| (id, name)));
        }
        if let Some(id) = fields.node("plugin") {
            self.check_plugin(&fields.read_text("plugin").unwrap_or_default(), id);
        }
        for entry in fields.entries("plugins") {
            if *entry.key != *DEFAULTING && *entry.key != *PREPARATION {
                self.check_plugin(&entry.key, entry.value);
            }
        }
        let outcomes = fields.map("plugins", |value| -> Option<PluginOutcome> {
            from_name(&value.as_text().unwrap_or_default())
        });
        let amounts = |value: Fields<'a>| -> BTreeMap<String, String> {
            let amounts = match value.value_of() {
                Value::Object(amounts) => amounts,
                _ => return BTreeMap::new(),
            };
            let text = |value: &Value<'_>| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let amounts = amounts.iter().map(|(name, value)| (name.to_owned(), text(value)));
            amounts.collect()
        };
        ExpectedResult {
            plugin: fields.read_text("plugin"),
            plugins: outcomes
                .into_iter()
                .filter_map(|(name, outcome)| Some((name, outcome?)))
                .collect(),
            changes: self.changes(fields),
            quotas: fields.map("quotas", amounts),
            ..ExpectedResult::default()
        }
    }

    fn check_plugin(&mut self, name: &str, id: NodeId) {
        if let Err(error) = known(name) {
            self.fault(Rule::InvalidField, error.to_string(), id);
        }
    }

    fn changes(&mut self, fields: &Fields<'a>) -> BTreeMap<String, Vec<FieldPath>> {
        let mut changes: BTreeMap<String, Vec<FieldPath>> = BTreeMap::new();
        for entry in fields.entries("changes") {
            let paths = changes.entry(entry.key.to_string()).or_default();
            for id in self.fields(entry.value).nodes() {
                let text = self.fields(id).as_text().unwrap_or_default();
                match ObjectPath::parse(&text) {
                    Ok((root, path)) if root == "object" => paths.push(FieldPath { text, path }),
                    Ok(_) => {
                        let message = format!("{text}: a path of a change starts with object");
                        self.fault(Rule::InvalidField, message, id);
                    }
                    Err(why) => self.fault(Rule::InvalidField, format!("{text}: {why}"), id),
                }
            }
        }
        changes
    }

    /// Checks that what depends on the chain is in a suite whose requests go through it.
    pub(super) fn check_chain(&mut self, root: &Fields<'a>, has_chain: bool, has_webhooks: bool) {
        if has_chain && root.bool("defaults") == Some(false) {
            let id = root.node("defaults").unwrap_or(root.id);
            let message = "the chain sets defaults: a suite with `chain` has no `defaults: false`";
            self.fault(Rule::InvalidField, message.to_owned(), id);
        }
        for (id, name) in std::mem::take(&mut self.needs_chain) {
            let of_plugins = matches!(name, "quotas" | "complete");
            if has_chain || (has_webhooks && !of_plugins) {
                continue;
            }
            let message =
                format!("`{name}` is about the admission plugins of a server: give the suite `chain: true`");
            self.fault(Rule::InvalidField, message, id);
        }
    }
}
