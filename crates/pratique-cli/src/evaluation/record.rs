//! A decision with its place, in one form for all outputs but text.

use std::collections::BTreeMap;

use pratique_manifest::Location;
use pratique_report::{Action, Decision};
use pratique_request::server_warnings;
use pratique_types::Operation;
use serde::Serialize;

use crate::acceptance::accepted_finding::{AcceptedBy, AcceptedFinding};
use crate::evaluation::decision::{choose_graver, read_decision};
use crate::evaluation::missing_input::JsonUndecided;
use crate::evaluation::placed_cause::PlacedCause;
use crate::evaluation::placed_drop::PlacedDrop;
use crate::evaluation::pod_findings::{add_policies, add_undecided};
use crate::evaluation::request_subject::RequestSubject;
use crate::evaluation::result::{MadePod, ReviewResult};
use crate::output::finding::AnnotationLevel;
use crate::output::json::is_zero;
use crate::output::place::InputPlace;
use crate::output::problems;
use pratique_review::PolicyDecision;
use pratique_review::{DroppedField, ParentWorkload};

/// The decision on a request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecisionRecord {
    /// Where the object is, with its end.
    #[serde(skip)]
    pub(crate) location: Location,
    /// The file, or the path of an object of a cluster, which has no lines.
    pub(crate) file: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) line: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) column: u32,
    /// Where it was read, if the file is the source that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) operation: Operation,
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<ParentWorkload>,
    /// The Pods that the object makes, if they are reviewed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pods: Vec<MadePod>,
    pub(crate) decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// Why the server's own validation refuses the object, field by field.
    #[serde(rename = "causes", skip_serializing_if = "Vec::is_empty")]
    pub(crate) invalid: Vec<PlacedCause>,
    /// The fields that the server drops without a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) dropped: Vec<PlacedDrop>,
    /// What else can be said about the denial, and done.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// The admission plugin that denies, where the whole chain was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused_by: Option<String>,
    pub(crate) policies: Vec<PolicyDecision>,
    /// What exceptions and a baseline accept of what policies, and others, decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) accepted: Vec<AcceptedFinding>,
    /// Whether there is a baseline that may know what is found.
    #[serde(skip)]
    pub(crate) is_compared: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) undecided: Vec<JsonUndecided>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Those of the warnings that no policy's decision gives.
    #[serde(skip)]
    pub(crate) server_warnings: Vec<String>,
    /// Where the fields are that warnings and the message are about, by their texts.
    #[serde(skip)]
    pub(crate) warning_places: BTreeMap<String, Location>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    changed: bool,
}

/// The rule of denials that are not those of a validating policy.
const DENIED: &str = "denied";
/// The rule of warnings that are not those of a validating policy.
pub(crate) const SERVER_WARNING: &str = "server-warning";

/// Something to report about a request.
pub(crate) struct RequestRemark<'r> {
    /// What follows.
    pub(crate) action: Action,
    /// The policy or webhook; `None` where the server itself denies or warns.
    pub(crate) policy: Option<&'r str>,
    pub(crate) message: String,
    /// The field that it is about, if it is about one.
    pub(crate) location: Option<&'r Location>,
    /// Why it is accepted, if it is.
    pub(crate) accepted: Option<&'r AcceptedFinding>,
}

/// The rule of what the server's own validation refuses.
pub(crate) const INVALID: &str = "invalid";

impl RequestRemark<'_> {
    /// How grave it is, in outputs of CI servers.
    pub(crate) fn level(&self) -> AnnotationLevel {
        match self.action {
            _ if self.accepted.is_some() => AnnotationLevel::Note,
            Action::Warn | Action::Ignore => AnnotationLevel::Warning,
            Action::Audit | Action::Accepted => AnnotationLevel::Note,
            Action::Deny | Action::Undecided => AnnotationLevel::Error,
        }
    }

    /// Whether another says the same of the same place, whatever follows from it.
    fn says_same(&self, other: &RequestRemark<'_>) -> bool {
        (self.policy, &self.message, self.location) == (other.policy, &other.message, other.location)
    }

    /// The stable name of what it is about: the policy, or else what the server does.
    pub(crate) fn rule(&self) -> &str {
        self.policy.unwrap_or(match self.action {
            Action::Warn => SERVER_WARNING,
            Action::Deny | Action::Audit | Action::Ignore | Action::Undecided | Action::Accepted => DENIED,
        })
    }
}

/// A name with its namespace, if it has one: `shop/web`.
pub(crate) fn namespaced(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    }
}

impl DecisionRecord {
    /// Takes what policies decided out of the result.
    pub(crate) fn new(result: &mut ReviewResult<'_>) -> Self {
        let policies = std::mem::take(&mut result.decisions);
        let invalid = std::mem::take(&mut result.placed);
        let dropped = std::mem::take(&mut result.drops);
        let warning_places = std::mem::take(&mut result.warning_places);
        let pods = result.pods.clone();
        let (input, outcome) = (result.input, &result.outcome);
        let request = &input.request;
        let warned = policies.iter().filter(|decision| decision.action == Action::Warn);
        let warned = warned.map(PolicyDecision::names_and_message);
        let server_warnings = server_warnings(&outcome.warnings, warned);
        let server_warnings = server_warnings.into_iter().map(str::to_owned).collect();
        let place = input.shown_location();
        DecisionRecord {
            location: place.clone(),
            file: place.file.to_string(),
            line: place.start.line,
            column: place.start.column,
            rendered: input.origin.as_ref().map(|_| problems::place(&input.location)),
            api_version: request.kind.api_version(),
            kind: request.kind.kind.clone(),
            namespace: request.namespace.clone(),
            name: input.name().to_owned(),
            operation: request.operation,
            resource: request.resource.group_resource().to_string(),
            subresource: request.sub_resource.clone(),
            parent: input.parent.clone(),
            pods,
            decision: read_decision(outcome),
            message: outcome.status.as_ref().map(|status| status.message.clone()),
            invalid,
            dropped,
            help: result.help().map(str::to_owned),
            refused_by: result.refused_by().map(str::to_owned),
            policies,
            accepted: Vec::new(),
            is_compared: false,
            undecided: outcome.undecided.iter().map(JsonUndecided::from).collect(),
            warnings: outcome.warnings.clone(),
            server_warnings,
            warning_places,
            changed: outcome.object.is_some(),
        }
    }

    /// Adds the decision on a Pod that the object makes. What refuses the Pod refuses what the object is for.
    ///
    /// The server's own warnings about the Pod are left out: it gives them to the controller, and for the template in the object to
    /// the user.
    pub(crate) fn add_pod(&mut self, pod: DecisionRecord) {
        self.pods.push(MadePod {
            name: pod.name,
            decision: pod.decision,
        });
        if pod.decision.denies() && !self.decision.denies() {
            self.message = pod.message;
            self.invalid = pod.invalid;
            self.help = pod.help;
            self.refused_by = pod.refused_by;
        }
        self.decision = choose_graver(self.decision, pod.decision);
        add_policies(&mut self.policies, pod.policies);
        add_undecided(&mut self.undecided, pod.undecided);
    }

    /// Whether all that is accepted is known to a baseline.
    pub(crate) fn is_known(&self) -> bool {
        let mut accepted = self.accepted.iter();
        accepted.all(|finding| matches!(finding.by, AcceptedBy::Baseline))
    }

    /// Where the object is.
    pub(crate) fn input_place(&self) -> InputPlace {
        InputPlace {
            file: self.file.clone(),
            line: self.line,
            column: self.column,
        }
    }

    /// The object: `shop/Deployment/web`.
    pub(crate) fn name_in_cluster(&self) -> String {
        namespaced(&self.namespace, &format!("{}/{}", self.kind, self.name))
    }

    /// The name by which findings about it are known again, or the workload that makes it, `Deployment/web`: the name of its Pod
    /// changes with its template.
    pub(crate) fn finding_names(&self) -> (String, String) {
        match &self.parent {
            None => (self.name.clone(), String::new()),
            Some(parent) => (String::new(), format!("{}/{}", parent.kind, parent.name)),
        }
    }

    /// The resource, and the part of it: `deployments.apps/scale`.
    pub(crate) fn resource_with_part(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }

    /// The request: `CREATE deployments.apps shop/web`.
    pub(crate) fn subject(&self) -> String {
        let subject = RequestSubject {
            operation: self.operation,
            resource: &self.resource,
            subresource: &self.subresource,
            namespace: &self.namespace,
            name: &self.name,
            parent: self.parent.as_ref(),
        };
        subject.to_string()
    }

    /// The [remarks](Self::remarks) for readers: what a binding both warns of and records is said once, as the graver of the two.
    pub(crate) fn distinct_remarks(&self) -> Vec<RequestRemark<'_>> {
        let mut distinct: Vec<RequestRemark<'_>> = Vec::new();
        for remark in self.remarks() {
            match distinct.iter_mut().find(|known| known.says_same(&remark)) {
                Some(known) if known.level() > remark.level() => *known = remark,
                Some(_) => {}
                None => distinct.push(remark),
            }
        }
        distinct
    }

    /// The actions and policies of the [remarks](Self::remarks), without their texts.
    pub(crate) fn causes(&self) -> impl Iterator<Item = (Action, Option<&str>)> {
        let policies = self
            .policies
            .iter()
            .filter(|decision| decision.action != Action::Ignore);
        let by_validation = self.invalid.first().map(|_| INVALID);
        let by_others = self
            .other_denial()
            .map(|_| (Action::Deny, self.refused_by.as_deref().or(by_validation)));
        let warnings = self.server_warnings.iter().map(|_| (Action::Warn, None));
        let dropped = self
            .dropped
            .iter()
            .map(|_| (Action::Warn, Some(DroppedField::RULE)));
        let undecided = self
            .undecided
            .iter()
            .map(|undecided| (Action::Undecided, Some(undecided.source())));
        policies
            .map(|decision| (decision.action, Some(decision.policy.as_str())))
            .chain(by_others)
            .chain(warnings)
            .chain(dropped)
            .chain(undecided)
    }

    /// The message of a denial by anything but a policy.
    pub(crate) fn other_denial(&self) -> Option<&str> {
        let is_by_policy = self
            .policies
            .iter()
            .any(|decision| decision.action == Action::Deny);
        self.message
            .as_deref()
            .filter(|_| self.decision.denies() && !is_by_policy)
    }

    /// The remarks: what is accepted last, and before it each decision of a policy, a denial and warnings by anything else, and what is undecided.
    pub(crate) fn remarks(&self) -> Vec<RequestRemark<'_>> {
        let policies = self.policies.iter();
        let mut remarks: Vec<RequestRemark<'_>> = policies
            .map(|decision| RequestRemark {
                action: decision.action,
                policy: Some(&decision.policy),
                message: decision.message.clone(),
                location: None,
                accepted: None,
            })
            .collect();
        remarks.extend(self.invalid.iter().map(|cause| RequestRemark {
            action: Action::Deny,
            policy: Some(INVALID),
            message: cause.message(),
            location: cause.location.as_ref(),
            accepted: None,
        }));
        let other = self.other_denial().filter(|_| self.invalid.is_empty());
        remarks.extend(other.map(|message| RequestRemark {
            action: Action::Deny,
            policy: self.refused_by.as_deref(),
            location: self.warning_places.get(message),
            accepted: None,
            message: match &self.help {
                Some(help) => format!("{message}: {help}"),
                None => message.to_owned(),
            },
        }));
        remarks.extend(self.server_warnings.iter().map(|warning| RequestRemark {
            action: Action::Warn,
            policy: None,
            message: warning.clone(),
            location: self.warning_places.get(warning),
            accepted: None,
        }));
        remarks.extend(self.dropped.iter().map(|placed| RequestRemark {
            action: Action::Warn,
            policy: Some(DroppedField::RULE),
            message: placed.subject.told(),
            location: placed.location.as_ref(),
            accepted: None,
        }));
        remarks.extend(self.undecided.iter().map(|undecided| RequestRemark {
            action: Action::Undecided,
            policy: Some(undecided.source()),
            message: format!("undecided: {}: {}", undecided.message, undecided.help),
            location: None,
            accepted: None,
        }));
        remarks.extend(self.accepted.iter().map(|finding| RequestRemark {
            action: finding.action,
            policy: Some(finding.policy.as_str()).filter(|policy| !policy.is_empty()),
            message: format!("accepted: {}", finding.told()),
            location: None,
            accepted: Some(finding),
        }));
        remarks
    }
}
