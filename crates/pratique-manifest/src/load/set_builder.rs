//! Builds a set from the findings about documents: names are unique, and the policies of bindings exist.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_exclusion::RESERVED_SUFFIX;

use super::document_validator::{DocumentFinding, ManifestScope, UncheckedObject};
use super::options::SourceTexts;
use super::set::ManifestSet;
use crate::kind::Kind;
use crate::parse::source::ObjectSource;
use crate::problem::{Failure, ObjectName};
use crate::validate::problems::ProblemSubject;
use crate::validate::static_rules::{self, FirstNames};

/// Collects objects and failures, one document after the other.
pub(crate) struct SetBuilder {
    scope: ManifestScope,
    texts: SourceTexts,
    set: ManifestSet,
    /// The objects of the current file.
    file_set: ManifestSet,
    failures: Vec<Failure>,
    /// How many failures there were before the current file.
    failures_before: usize,
    /// The first file with a name, by kind and name.
    names: FirstNames,
    /// Names of policies that failed to load: they do not count as missing for bindings.
    failed_policies: HashSet<String>,
    /// The texts of documents that do not parse, which may hold policies.
    unparsed: Vec<Box<str>>,
    /// Whether a file cannot be read: it may hold any policy.
    is_incomplete: bool,
    /// Bindings that failed to load, whose policies may be missing as well.
    failed_bindings: Vec<FailedBinding>,
}

/// A binding that failed to load.
struct FailedBinding {
    name: ObjectName,
    policy: String,
    source: ObjectSource,
}

impl SetBuilder {
    pub(crate) fn new(scope: ManifestScope, texts: SourceTexts) -> Self {
        Self {
            scope,
            texts,
            set: ManifestSet::default(),
            file_set: ManifestSet::default(),
            failures: Vec::new(),
            failures_before: 0,
            names: FirstNames::default(),
            failed_policies: HashSet::new(),
            unparsed: Vec::new(),
            is_incomplete: false,
            failed_bindings: Vec::new(),
        }
    }

    /// Records that a file cannot be read.
    pub(crate) fn mark_incomplete(&mut self) {
        self.is_incomplete = true;
    }

    /// Adds the findings about a document of a file.
    pub(crate) fn add_findings(&mut self, findings: Vec<DocumentFinding>, file: &Arc<str>) {
        for finding in findings {
            match finding {
                DocumentFinding::Uncompiled(failure) => self.file_set.uncompiled.push(failure),
                DocumentFinding::Failure(failure) => self.failures.push(failure),
                DocumentFinding::UndecodedPolicy(name) => {
                    self.failed_policies.insert(name);
                }
                DocumentFinding::Unparsed(text) => self.unparsed.push(text),
                DocumentFinding::Object(candidate) => self.add_candidate(*candidate, file),
                DocumentFinding::TrailingText(location) => self.file_set.unread.push(location),
            }
        }
    }

    /// Ends a file; returns its objects, which are in the set, unless it has failures.
    pub(crate) fn end_file(&mut self) -> Option<ManifestSet> {
        let objects = std::mem::take(&mut self.file_set);
        let is_valid = self.failures.len() == self.failures_before;
        self.failures_before = self.failures.len();
        self.set.extend(&objects);
        is_valid.then_some(objects)
    }

    /// Adds the objects of an unchanged file; false if another file has one of their names.
    pub(crate) fn add_objects(&mut self, objects: &ManifestSet, file: &str) -> bool {
        let names: Vec<_> = objects
            .objects()
            .map(|object| (object.kind, Box::from(object.name)))
            .collect();
        if names.iter().any(|name| self.names.contains_key(name)) {
            return false;
        }
        let file: Arc<str> = file.into();
        self.names
            .extend(names.into_iter().map(|name| (name, Arc::clone(&file))));
        self.set.extend(objects);
        true
    }

    fn add_candidate(&mut self, candidate: UncheckedObject, file: &Arc<str>) {
        let name = &candidate.name;
        let subject = ProblemSubject {
            name,
            source: &candidate.source,
            file,
        };
        let name_failure = match self.scope {
            // Validation has reported that the name is missing.
            _ if name.name.is_empty() => None,
            ManifestScope::Plugin(_) => static_rules::static_name(&subject, &mut self.names),
            // Objects that are applied later replace it.
            ManifestScope::Api => {
                self.names
                    .insert((name.kind, name.name.as_str().into()), Arc::clone(file));
                None
            }
        };
        // The server stops at the first.
        let failures: Vec<_> = name_failure.into_iter().chain(candidate.failures).collect();
        if !failures.is_empty() && !name.kind.is_binding() {
            // Bindings may already refer to the corrected name.
            self.failed_policies
                .insert(format!("{}{RESERVED_SUFFIX}", name.name));
            self.failed_policies.insert(name.name.clone());
        }
        let is_valid = failures.is_empty() && !name.name.is_empty();
        self.failures.extend(
            failures
                .into_iter()
                .map(|failure| self.scope.placed(failure, file)),
        );
        match (candidate.object.filter(|_| is_valid), candidate.policy) {
            (Some(object), policy) => {
                let bound = name.kind.bound_kind().zip(policy);
                let lacks_policy = bound.is_some_and(|(kind, policy)| !self.may_exist(kind, &policy));
                let mut source = candidate.source;
                // A binding without a policy so far may need its text to say where it names it.
                if self.texts == SourceTexts::Discarded && !lacks_policy {
                    source.discard_text();
                }
                object.add_to(&mut self.file_set, source);
                self.file_set.older.extend(candidate.older);
                self.file_set.optional.extend(candidate.optional);
            }
            (None, Some(policy)) => self.failed_bindings.push(FailedBinding {
                name: candidate.name,
                policy,
                source: candidate.source,
            }),
            (None, None) => {}
        }
    }

    /// Whether there is a policy of this name, or may be in a file that failed to load.
    fn may_exist(&self, kind: Kind, policy: &str) -> bool {
        self.names.contains_key(&(kind, policy.into()))
            || self.failed_policies.contains(policy)
            || self.is_incomplete
            || self.unparsed.iter().any(|text| text.contains(policy))
    }

    /// The names of the policies of a kind.
    fn policy_names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let of_kind = self.names.keys().filter(move |(name_kind, _)| *name_kind == kind);
        of_kind
            .map(|(_, name)| &**name)
            .chain(self.failed_policies.iter().map(String::as_str))
    }

    /// The set, sorted by name, and all failures, those of bindings without a policy last.
    pub(crate) fn finish(mut self) -> (ManifestSet, Vec<Failure>) {
        if self.scope != ManifestScope::Api {
            let missing = self.missing_policies();
            self.failures.extend(missing);
        }
        // Sorting and discarding take memory of their own.
        drop((
            self.names,
            self.failed_policies,
            self.unparsed,
            self.failed_bindings,
        ));
        self.set.sort();
        if self.scope == ManifestScope::Api {
            self.set.replace_repeated();
        }
        if self.texts == SourceTexts::Discarded {
            self.set.discard_texts();
        }
        (self.set, self.failures)
    }

    /// The failures of bindings whose policies do not exist; bindings that failed to load come last.
    fn missing_policies(&self) -> Vec<Failure> {
        let bindings = self.set.bindings();
        let bindings = bindings.map(|(binding, policy)| (binding.kind, binding.name, policy, binding.source));
        // A policy name without the suffix is reported as that.
        let failed = self.failed_bindings.iter();
        let failed = failed.filter(|binding| binding.policy.ends_with(RESERVED_SUFFIX));
        let failed = failed.map(|binding| {
            let ObjectName { kind, name } = &binding.name;
            (*kind, name.as_str(), binding.policy.as_str(), &binding.source)
        });
        let missing = bindings.chain(failed).filter_map(|(kind, name, policy, source)| {
            let of = kind.bound_kind()?;
            let is_missing = !self.may_exist(of, policy);
            is_missing
                .then(|| static_rules::missing_policy((kind, name), policy, self.policy_names(of), source))
        });
        missing.collect()
    }
}
