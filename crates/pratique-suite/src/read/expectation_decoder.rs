//! Decodes expectations.

use std::collections::BTreeMap;

use pratique_manifest::NodeId;

use super::SuiteDecoder;
use crate::decision::{expectable_decision, from_name};
use crate::policy_outcome::PolicyOutcome;
use crate::suite::ExpectedResult;

impl SuiteDecoder<'_> {
    /// Decodes an expectation, which may be only a decision.
    pub(super) fn expected(&mut self, id: NodeId) -> Option<ExpectedResult> {
        let fields = self.fields(id);
        if let Some(name) = fields.as_text() {
            return Some(ExpectedResult {
                decision: Some(expectable_decision(&name)?),
                ..ExpectedResult::default()
            });
        }
        let outcomes = |name| -> BTreeMap<String, Vec<PolicyOutcome>> {
            let named = fields.map(name, |value| from_name(&value.as_text().unwrap_or_default()));
            let named = named.into_iter();
            named
                .filter_map(|(name, outcome)| Some((name, vec![outcome?])))
                .collect()
        };
        let annotations = fields.map("auditAnnotations", |value| value.as_text().unwrap_or_default());
        Some(ExpectedResult {
            decision: Some(expectable_decision(&fields.read_text("verdict")?)?),
            violations: Vec::new(),
            code: fields.integer("code"),
            reason: fields.read_text("reason"),
            message: fields.read_text("message"),
            message_contains: fields.read_text("messageContains"),
            invalid: fields.map("invalid", |value| value.as_text().unwrap_or_default()),
            policy: fields.read_text("policy"),
            policies: outcomes("policies"),
            bindings: outcomes("bindings"),
            warnings: fields.node("warnings").map(|_| fields.texts("warnings")),
            audit_annotations: annotations,
            object: self.object(&fields, "object"),
            object_contains: self.object(&fields, "objectContains"),
            unchanged: fields.bool("unchanged"),
            ..self.expected_of_chain(&fields)
        })
    }
}
