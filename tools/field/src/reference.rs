//! The decisions of the reference's own plugins on the requests of the repositories.

use std::collections::VecDeque;

use pratique_differential::{PolicyQuestion, PolicyWorld, differs, outcomes, start_policies};
use pratique_harness::ToolError;
use pratique_manifest::{ManifestSet, SourcedObject};
use pratique_types::AdmissionRequest;
use serde::Serialize;
use serde_json::{Value, json};

/// Requests with a set of policies, and our decisions on them.
#[derive(Debug, Default)]
pub struct QuestionSet {
    world: PolicyWorld,
    requests: Vec<OurDecision>,
}

/// Our decision on a request.
#[derive(Debug)]
pub struct OurDecision {
    /// The policies and the object.
    pub place: String,
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why not; `None` if that is not compared.
    pub message: Option<String>,
}

/// The results of the comparison with the reference.
#[derive(Debug, Default)]
pub struct ReferenceComparison {
    /// How many requests the reference decided.
    pub requests: usize,
    /// How many decisions are the same.
    pub same: usize,
    /// The differences.
    pub differing: Vec<String>,
    /// Requests without an answer, and why.
    pub unanswered: Vec<String>,
}

impl QuestionSet {
    /// An empty set for policies in a cluster with objects.
    pub fn new<'s>(
        sets: impl Iterator<Item = &'s ManifestSet>,
        objects: impl IntoIterator<Item = Value>,
    ) -> Self {
        let mut world = PolicyWorld::default();
        world.objects = objects.into_iter().collect();
        world.allow = json!([]);
        for set in sets {
            add(&mut world.api, &set.validating_policies);
            add(&mut world.api, &set.validating_bindings);
            add(&mut world.api, &set.mutating_policies);
            add(&mut world.api, &set.mutating_bindings);
        }
        QuestionSet {
            world,
            requests: Vec::new(),
        }
    }

    /// Adds a request with our decision.
    pub fn add(&mut self, request: &AdmissionRequest<'_>, decided: OurDecision) {
        let mut text = serde_json::to_value(request).unwrap_or_default();
        if let Value::Object(members) = &mut text {
            // The plugins find out themselves.
            for name in ["requestKind", "requestResource", "requestSubResource"] {
                members.remove(name);
            }
        }
        let namespace = request.namespace.as_str();
        let is = |object: &Value| {
            let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
            text("/kind") == Some("Namespace") && text("/metadata/name") == Some(namespace)
        };
        if !namespace.is_empty() && !self.world.objects.iter().any(is) {
            let labels = json!({"kubernetes.io/metadata.name": namespace});
            let metadata = json!({"name": namespace, "labels": labels});
            self.world
                .objects
                .push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        }
        self.world.requests.push(text);
        self.requests.push(decided);
    }
}

fn add<T: Serialize>(to: &mut Vec<Value>, all: &[SourcedObject<T>]) {
    to.extend(
        all.iter()
            .filter_map(|loaded| serde_json::to_value(&*loaded.object).ok()),
    );
}

/// How many questions the reference works at: most of setting one up is waiting.
const AHEAD: usize = 16;

/// Compares our decisions with those of the reference.
///
/// # Errors
/// It does not start, or ends.
pub fn compare(questions: Vec<QuestionSet>) -> Result<ReferenceComparison, ToolError> {
    let mut compared = ReferenceComparison::default();
    let mut questions = questions
        .into_iter()
        .filter(|question| !question.requests.is_empty());
    let mut reference = start_policies()?;
    let mut open = VecDeque::new();
    loop {
        while open.len() < AHEAD
            && let Some(question) = questions.next()
        {
            reference.ask(&PolicyQuestion {
                world: &question.world,
                times: 1,
            })?;
            open.push_back(question);
        }
        let Some(question) = open.pop_front() else { break };
        match reference.answer()? {
            Ok(theirs) => compared.take(&question, &theirs),
            Err(error) => {
                let why = error.lines().next().unwrap_or_default();
                let places = question
                    .requests
                    .iter()
                    .map(|decided| format!("{}: {why}", decided.place));
                compared.unanswered.extend(places);
            }
        }
    }
    compared.differing.sort();
    Ok(compared)
}

impl ReferenceComparison {
    fn take(&mut self, question: &QuestionSet, theirs: &[Vec<Value>]) {
        let ours = outcomes(&question.world);
        let all = question.requests.iter().zip(theirs).enumerate();
        for (index, (decided, theirs)) in all {
            let Some(theirs) = theirs.first() else { continue };
            self.requests += 1;
            let engine = ours.as_ref().ok().and_then(|ours| ours.get(index));
            let text = |path: &str| theirs.pointer(path).and_then(Value::as_str).unwrap_or_default();
            let is_same_message =
                |message: &String| message == text("/status/message") || theirs["allowed"] == true;
            let difference = if theirs["allowed"] != decided.allowed {
                Some("it decides otherwise")
            } else if !decided.message.as_ref().is_none_or(is_same_message) {
                Some("its message is another")
            } else if engine.is_none_or(|ours| differs(ours, theirs).is_some()) {
                Some("the rest of its outcome is another")
            } else {
                None
            };
            match difference {
                None => self.same += 1,
                Some(what) => self.differing.push(format!(
                    "{}: {what}: {} ({}); here {} ({})",
                    decided.place,
                    if theirs["allowed"] == true {
                        "allowed"
                    } else {
                        "denied"
                    },
                    text("/status/message"),
                    if decided.allowed { "allowed" } else { "denied" },
                    decided.message.as_deref().unwrap_or_default(),
                )),
            }
        }
    }

    /// Adds the results of other questions.
    pub fn extend(&mut self, other: ReferenceComparison) {
        self.requests += other.requests;
        self.same += other.same;
        self.differing.extend(other.differing);
        self.unanswered.extend(other.unanswered);
    }
}
