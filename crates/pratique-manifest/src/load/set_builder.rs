//! Objects beside each other: names that are given once, and bindings of policies that are there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document_validator::{Candidate, Finding, Home};
use super::options::Texts;
use super::set::ManifestSet;
use crate::kind::Kind;
use crate::parse::source::ObjectSource;
use crate::problem::{Failure, ObjectName};
use crate::validate::problems::Subject;
use crate::validate::static_rules::{self, Names};

/// Takes what documents say, one after the other, and keeps their objects and what is wrong with them.
pub(crate) struct StaticRules {
    home: Home,
    texts: Texts,
    set: ManifestSet,
    /// The objects of the file that documents are being taken of.
    of_file: ManifestSet,
    failures: Vec<Failure>,
    /// How many failures there were before that file.
    failures_before: usize,
    /// The file that first had a name, by its kind and name.
    names: Names,
    /// Names of policies at fault, so that bindings are not blamed for it.
    policies: HashSet<String>,
    /// The texts of documents that cannot be read, which may be policies.
    unread: Vec<Box<str>>,
    /// Whether a file is missing, which may have any policy.
    incomplete: bool,
    /// Bindings at fault, whose policies may be missing as well.
    faulty_bindings: Vec<FaultyBinding>,
}

impl StaticRules {
    pub(crate) fn new(home: Home, texts: Texts) -> Self {
        Self {
            home,
            texts,
            set: ManifestSet::default(),
            of_file: ManifestSet::default(),
            failures: Vec::new(),
            failures_before: 0,
            names: HashMap::new(),
            policies: HashSet::new(),
            unread: Vec::new(),
            incomplete: false,
            faulty_bindings: Vec::new(),
        }
    }

    /// A file cannot be read.
    pub(crate) fn miss_file(&mut self) {
        self.incomplete = true;
    }

    /// Takes what a document of a file says.
    pub(crate) fn accept(&mut self, findings: Vec<Finding>, file: &Arc<str>) {
        for finding in findings {
            match finding {
                Finding::Fault(failure) => self.failures.push(failure),
                Finding::Undecoded(policy) => {
                    self.policies.insert(policy);
                }
                Finding::Unread(text) => self.unread.push(text),
                Finding::Object(candidate) => self.accept_object(*candidate, file),
                Finding::PassedOver(location) => self.of_file.unread.push(location),
            }
        }
    }

    /// Ends a file, and gives its objects if they are wanted and nothing is wrong with any.
    pub(crate) fn end_file(&mut self, wanted: bool) -> Option<ManifestSet> {
        let mut objects = std::mem::take(&mut self.of_file);
        let is_good = self.failures.len() == self.failures_before;
        self.failures_before = self.failures.len();
        let given = (wanted && is_good).then(|| objects.clone());
        self.set.append(&mut objects);
        given
    }

    /// Takes a file's objects that were taken before, unless another file has one of their names.
    pub(crate) fn accept_known(&mut self, objects: &ManifestSet, file: &str) -> bool {
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
        self.set.append(&mut objects.clone());
        true
    }

    fn accept_object(&mut self, candidate: Candidate, file: &Arc<str>) {
        let name = &candidate.name;
        let subject = Subject {
            name,
            source: &candidate.source,
            file,
        };
        let of_name = match self.home {
            // A name that is not there has been complained about.
            _ if name.name.is_empty() => None,
            Home::Plugin(_) => static_rules::static_name(&subject, &mut self.names),
            Home::Api => static_rules::repeated_name(&subject, &mut self.names),
        };
        // The server stops at the first.
        let faults: Vec<_> = of_name.into_iter().chain(candidate.faults).collect();
        if !faults.is_empty() && !name.kind.is_binding() {
            // Bindings may name it as it will be named.
            self.policies
                .insert(format!("{}{}", name.name, static_rules::SUFFIX));
            self.policies.insert(name.name.clone());
        }
        let is_good = faults.is_empty() && !name.name.is_empty();
        self.failures
            .extend(faults.into_iter().map(|failure| failure.in_file(file)));
        match (candidate.object.filter(|_| is_good), candidate.policy) {
            (Some(object), policy) => {
                let bound = name.kind.bound_kind().zip(policy);
                let lacks_policy = bound.is_some_and(|(kind, policy)| !self.is_named(kind, &policy));
                let mut source = candidate.source;
                // The place of a binding's policy is still needed if the policy was not there before.
                if self.texts == Texts::LetGo && !lacks_policy {
                    source.discard_text();
                }
                object.add_to(&mut self.of_file, source);
            }
            (None, Some(policy)) => self.faulty_bindings.push(FaultyBinding {
                name: candidate.name,
                policy,
                source: candidate.source,
            }),
            (None, None) => {}
        }
    }

    fn is_named(&self, kind: Kind, policy: &str) -> bool {
        self.names.contains_key(&(kind, policy.into()))
            || self.policies.contains(policy)
            || self.incomplete
            || self.unread.iter().any(|text| text.contains(policy))
    }

    /// The names of the policies of a kind that are there.
    fn names_of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let of_kind = self.names.keys().filter(move |(own, _)| *own == kind);
        of_kind
            .map(|(_, name)| &**name)
            .chain(self.policies.iter().map(String::as_str))
    }

    /// Looks at the bindings' policies, and gives the set, sorted by name, and everything that is wrong.
    pub(crate) fn finish(mut self) -> (ManifestSet, Vec<Failure>) {
        if self.home != Home::Api {
            let missing = self.missing_policies();
            self.failures.extend(missing);
        }
        drop((self.names, self.policies, self.unread, self.faulty_bindings));
        if self.texts == Texts::LetGo {
            self.set.discard_texts();
        }
        self.set.sort();
        (self.set, self.failures)
    }
}

impl StaticRules {
    /// The bindings whose policies are not there: those that are at fault in other ways come last.
    fn missing_policies(&self) -> Vec<Failure> {
        let bindings = self.set.bindings();
        let bindings = bindings.map(|(binding, policy)| (binding.kind, binding.name, policy, binding.source));
        // That a name does not end as it has to is another error.
        let faulty = self.faulty_bindings.iter();
        let faulty = faulty.filter(|binding| binding.policy.ends_with(static_rules::SUFFIX));
        let faulty = faulty.map(|binding| {
            let ObjectName { kind, name } = &binding.name;
            (*kind, name.as_str(), binding.policy.as_str(), &binding.source)
        });
        let missing = bindings.chain(faulty).filter_map(|(kind, name, policy, source)| {
            let of = kind.bound_kind()?;
            let is_missing = !self.is_named(of, policy);
            is_missing.then(|| static_rules::missing_policy((kind, name), policy, self.names_of(of), source))
        });
        missing.collect()
    }
}

/// A binding that does not load.
struct FaultyBinding {
    name: ObjectName,
    policy: String,
    source: ObjectSource,
}
