//! Filters of the status page by namespace, policy and kind of decision, given in the query.
//!
//! Filters are links, so that the page needs no scripts, and keeps them when it reloads.

use std::collections::BTreeSet;

use url::form_urlencoded;

use super::html::HtmlPage;
use crate::recent::{DecisionKind, RecentDecision};

/// A filter. Empty texts match anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DecisionFilter {
    namespace: String,
    policy: String,
    decision: String,
}

/// The parameters of the query.
const NAMESPACE: &str = "namespace";
const POLICY: &str = "policy";
const DECISION: &str = "decision";

impl DecisionFilter {
    /// Parses the filter of a query. Other parameters are ignored.
    pub(super) fn new(query: Option<&str>) -> Self {
        let mut filter = DecisionFilter::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if let Some(field) = filter.field(&name) {
                *field = value.into_owned();
            }
        }
        filter
    }

    /// Whether a decision is shown.
    pub(super) fn matches(&self, decision: &RecentDecision) -> bool {
        let kind = DecisionKind::ALL
            .iter()
            .find(|kind| kind.as_str() == self.decision);
        let matches_kind = self.decision.is_empty() || kind.is_some_and(|kind| decision.is(*kind));
        let matches_policy = self.policy.is_empty() || decision.policies.contains(&self.policy);
        matches_kind && matches_policy && (self.namespace.is_empty() || decision.namespace == self.namespace)
    }

    /// Writes links to the filters that match any of the decisions.
    pub(super) fn write(&self, out: &mut HtmlPage, all: &[RecentDecision]) {
        let namespaces = all.iter().map(|decision| decision.namespace.as_str());
        self.links(out, ("Namespace", NAMESPACE), &self.namespace, namespaces);
        let policies = all.iter().flat_map(|decision| &decision.policies);
        self.links(
            out,
            ("Policy", POLICY),
            &self.policy,
            policies.map(String::as_str),
        );
        let kinds = DecisionKind::ALL.iter();
        let kinds = kinds.filter(|kind| all.iter().any(|decision| decision.is(**kind)));
        let kinds = kinds.map(|kind| kind.as_str());
        self.links(out, ("Decision", DECISION), &self.decision, kinds);
    }

    fn links<'a>(
        &'a self,
        out: &mut HtmlPage,
        (label, name): (&str, &str),
        chosen: &'a str,
        values: impl Iterator<Item = &'a str>,
    ) {
        let values: BTreeSet<&str> = values.chain([chosen]).filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return;
        }
        out.raw("<p class=\"filter\"><span class=\"quiet\">")
            .push_text(label)
            .raw("</span>");
        for (value, text) in [("", "all")]
            .into_iter()
            .chain(values.iter().map(|value| (*value, *value)))
        {
            let link = self.with(name, value).query();
            out.raw(" <a href=\"").push_text(&link).raw("\"");
            if value == chosen {
                out.raw(" aria-current=\"true\"");
            }
            out.raw(">").push_text(text).raw("</a>");
        }
        out.raw("</p>");
    }

    fn with(&self, name: &str, value: &str) -> Self {
        let mut filter = self.clone();
        if let Some(field) = filter.field(name) {
            value.clone_into(field);
        }
        filter
    }

    fn field(&mut self, name: &str) -> Option<&mut String> {
        match name {
            NAMESPACE => Some(&mut self.namespace),
            POLICY => Some(&mut self.policy),
            DECISION => Some(&mut self.decision),
            _ => None,
        }
    }

    /// The query of the filter, relative to the page.
    fn query(&self) -> String {
        let parts = [
            (NAMESPACE, &self.namespace),
            (POLICY, &self.policy),
            (DECISION, &self.decision),
        ];
        let parts = parts.into_iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(parts)
            .finish();
        format!("?{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_and_written() {
        let check = |query: &str, expected: [&str; 3], written: &str| {
            let filter = DecisionFilter::new(Some(query));
            let found = [&filter.namespace, &filter.policy, &filter.decision];
            assert_eq!(found, expected, "{query}");
            assert_eq!(filter.query(), written);
            assert_eq!(DecisionFilter::new(written.strip_prefix('?')), filter);
        };
        check("", ["", "", ""], "?");
        check(
            "namespace=a&decision=denied",
            ["a", "", "denied"],
            "?namespace=a&decision=denied",
        );
        check(
            "policy=%3Ci%3E%26+%c3%A4",
            ["", "<i>& ä", ""],
            "?policy=%3Ci%3E%26+%C3%A4",
        );
        check("other=1&namespace=%zz%", ["%zz%", "", ""], "?namespace=%25zz%25");
        assert_eq!(DecisionFilter::new(None), DecisionFilter::default());
    }
}
