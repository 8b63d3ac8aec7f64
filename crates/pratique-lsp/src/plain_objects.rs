//! Plain manifests: what an API server says of the objects of built-in kinds in a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pratique::authorization::NoAuthorizer;
use pratique::{Admission, FeatureGates};
use pratique_manifest::convert::{Item, items};
use pratique_manifest::{
    Help, Location, ManifestFile, Problem, Rule, SourceDocument, Span, TreeNode, decode_problems,
    read_contents,
};
use pratique_request::{DEFAULT_NAMESPACE, RequestTemplate, Resolution, kind_of};
use pratique_review::{FieldPath, GivenObject, InvalidCause, Review, ReviewInput, Reviewer, SourceFiles};
use pratique_schema::Release;
use pratique_state::ClusterObjects;
use pratique_typed::decode::received_in;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind};

use crate::other_files::Findings;

/// The size of a file whose objects are reviewed while one types, in bytes: some forty Pods of 3 kB, which take some milliseconds.
const LARGEST: usize = 128 << 10;

/// Reviews the objects of plain manifests as a server does that has no policies: they are decoded, completed and validated.
#[derive(Debug)]
pub(crate) struct ObjectReviewer {
    admission: Option<Admission>,
    cluster: ClusterObjects,
    template: RequestTemplate,
    /// The files that were reviewed, with what was found: other files of a directory change less often than the one that is edited.
    reviewed: BTreeMap<String, (Vec<u8>, Option<Findings>)>,
}

impl ObjectReviewer {
    /// Reviews as a server with these gates, of their release.
    pub(crate) fn new(gates: FeatureGates) -> Self {
        let mut cluster = ClusterObjects::new(gates);
        cluster.objects.assume_namespaces();
        ObjectReviewer {
            // Without policies there is nothing to refuse.
            admission: Admission::builder().feature_gates(gates).build().ok(),
            cluster,
            template: RequestTemplate {
                namespace: DEFAULT_NAMESPACE.to_owned(),
                ..RequestTemplate::default()
            },
            reviewed: BTreeMap::new(),
        }
    }

    /// The findings in a file; `None` if it has no objects of built-in kinds.
    pub(crate) fn check_file(&mut self, file: &ManifestFile) -> Option<Findings> {
        if !is_plain(file) {
            self.forget(&file.path);
            return None;
        }
        let known = self.reviewed.get(&file.path);
        if let Some((_, findings)) = known.filter(|(content, _)| *content == file.content) {
            return findings.clone();
        }
        let findings = self.review_file(file);
        let reviewed = (file.content.clone(), findings.clone());
        self.reviewed.insert(file.path.clone(), reviewed);
        findings
    }

    /// Forgets a file that is closed.
    pub(crate) fn forget(&mut self, file: &str) {
        self.reviewed.remove(file);
    }

    fn review_file(&self, file: &ManifestFile) -> Option<Findings> {
        let mut findings = Findings::default();
        if file.content.len() > LARGEST {
            let message = format!(
                "files of more than {} KiB are not reviewed while one types: `pratique review` does",
                LARGEST >> 10
            );
            let problem = Problem::new(Rule::InvalidField, message);
            findings.cautions.push(problem);
            return Some(findings.located_in(&file.path));
        }
        let contents = read_contents(file);
        findings.problems.extend(contents.errors.problems().cloned());
        let mut is_one = !contents.errors.failures().is_empty();
        for document in &contents.documents {
            let mut has_objects = false;
            for item in items(&document.source).objects {
                has_objects |= self.review_item(document, &item, &mut findings);
            }
            if !has_objects {
                continue;
            }
            is_one = true;
            let duplicates = document.duplicates.iter().map(|duplicate| Problem {
                message: format!("{}: the last value counts", duplicate.message),
                ..duplicate.clone()
            });
            findings.cautions.extend(duplicates);
        }
        is_one.then_some(findings)
    }

    /// Adds what is found in an object; whether it is of a built-in kind.
    fn review_item(&self, document: &SourceDocument, item: &Item, findings: &mut Findings) -> bool {
        let source = &document.source;
        let object = item.value(source.tree());
        let Ok(kind) = kind_of(&object) else {
            return false;
        };
        let Ok(resolution) = self.template.resolve(&kind, &self.cluster.resolver) else {
            return false;
        };
        if matches!(resolution, Resolution::Assumed(_)) || kind.group == ADMISSION_GROUP {
            return false;
        }
        let place = PlacedObject { document, item, kind };
        if matches!(resolution, Resolution::Known(_))
            && place.add_decode_problems(self.cluster.resolver.release(), findings)
        {
            return true;
        }
        // What decoding has against it was told with its place.
        let given = GivenObject::stored(object);
        let resolver = &self.cluster.resolver;
        let input = ReviewInput::from_object(given, &self.template, resolver, |_, _| None, 1);
        let Ok((mut input, _)) = input else {
            return true;
        };
        let reviewer = self
            .admission
            .as_ref()
            .map(|admission| Reviewer::policies(admission, Arc::new(NoAuthorizer)));
        let review = reviewer
            .map(|reviewer| reviewer.review(&self.cluster.objects, Some(&self.cluster.kinds), &mut input))
            .and_then(Result::ok);
        if let Some(review) = review {
            place.add_review(&review, input.help(), findings);
        }
        true
    }
}

/// Whether a file may have objects: sources of Kustomize and Helm and the like have none.
fn is_plain(file: &ManifestFile) -> bool {
    let text = String::from_utf8_lossy(&file.content);
    // What is beside it may have changed.
    let mut sources = SourceFiles::default();
    text.contains("apiVersion")
        && text.contains("kind")
        && sources
            .recognize_content(Path::new(&file.path), &file.content)
            .is_none()
}

/// An object in its document.
struct PlacedObject<'d> {
    document: &'d SourceDocument,
    item: &'d Item,
    kind: GroupVersionKind,
}

impl PlacedObject<'_> {
    /// Where a field is; of one that is not there, what should have it.
    fn locate(&self, field: &str) -> Location {
        self.document.source.document().location(self.span(field))
    }

    fn span(&self, field: &str) -> Span {
        FieldPath::parse(field).nearest_span(self.document.source.tree(), self.item.node)
    }

    /// Adds what decoding has against the object; whether a server cannot decode it.
    fn add_decode_problems(&self, release: &'static Release, findings: &mut Findings) -> bool {
        let source = &self.document.source;
        let decoded = received_in(
            release.schema(),
            &self.kind,
            TreeNode::new(source.tree(), self.item.node),
        );
        if decoded.as_ref().is_ok_and(Vec::is_empty) {
            return false;
        }
        for problem in decode_problems(release, source, self.item.node, &self.kind) {
            // By default, a server drops such fields, and warns.
            match problem.rule {
                Rule::UnknownField | Rule::DuplicateField => findings.cautions.push(problem),
                _ => findings.problems.push(problem),
            }
        }
        decoded.is_err()
    }

    /// Adds what a server says of an object that it decoded.
    fn add_review(&self, review: &Review, help: Option<&str>, findings: &mut Findings) {
        let causes = review.causes.iter().map(|cause| self.cause_problem(cause));
        findings.problems.extend(causes);
        let status = review.outcome.status.as_ref();
        if let Some(status) = status.filter(|_| review.causes.is_empty()) {
            let location = self.locate("kind");
            let problem = Problem::new(Rule::InvalidField, &status.message).at(location);
            findings.problems.push(Problem {
                help: help.map(Help::from),
                ..problem
            });
        }
        let warnings = review.outcome.warnings.iter().map(|warning| {
            // Most begin with their field; others are about the kind.
            let field = warning.split_once(": ").map(|(field, _)| field);
            let field = field.filter(|field| !field.contains(char::is_whitespace));
            let location = self.locate(field.unwrap_or("kind"));
            Problem::new(Rule::InvalidField, warning).at(location)
        });
        findings.cautions.extend(warnings);
        let dropped = review.dropped.iter().map(|dropped| Problem {
            field: Some(dropped.field.clone()),
            help: dropped.help.as_deref().map(Help::from),
            ..Problem::new(Rule::DroppedField, &dropped.message).at(self.locate(&dropped.field))
        });
        findings.cautions.extend(dropped);
    }

    fn cause_problem(&self, cause: &InvalidCause) -> Problem {
        let message = format!("{}: {}", cause.field, cause.message);
        let help = cause.help.as_deref().map(|text| {
            let help = Help::new(text);
            match &cause.replacement {
                Some(meant) => {
                    help.replacing(self.document.source.document(), self.span(&cause.field), meant)
                }
                None => help,
            }
        });
        Problem {
            field: Some(cause.field.clone()),
            help,
            ..Problem::new(Rule::InvalidField, message).at(self.locate(&cause.field))
        }
    }
}
