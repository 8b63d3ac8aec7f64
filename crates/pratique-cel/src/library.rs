//! The function libraries.
//!
//! Each library is a module with one function that gives its [`Library`]: signatures, implementations and
//! costs together. [`Environment::kubernetes`] is all that a Kubernetes API server declares.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/environment/base.go

pub mod arguments;
pub mod authz;
mod before_1_37;
mod bounds;
mod cidr;
mod format;
mod ip;
mod json_patch;
mod lists;
mod macros;
mod methods;
pub mod mutation;
mod named_format;
mod optional;
mod protobuf;
mod quantity;
mod regex;
mod results;
mod scalars;
mod semver;
mod sets;
mod standard;
mod strings;
#[cfg(test)]
mod testing;
mod url;

use crate::environment::Environment;

pub use crate::environment::Library;

pub use cidr::library as cidr;
pub use format::library as named_formats;
pub use ip::library as ip;
pub use json_patch::library as json_patch;
pub use lists::kubernetes_with_includes as kubernetes_lists;
pub use macros::{bindings, two_variables};
pub use quantity::library as quantity;
pub use regex::library as regex;
pub use semver::library as semver;
pub use sets::library as sets;
pub use strings::library as strings;
pub use url::library as url;

impl Environment {
    /// The language as the CEL specification defines it: standard functions, operators and macros.
    ///
    /// Extensions are added one by one ([`library`](crate::library)); [`kubernetes`](Self::kubernetes) is all that Kubernetes has.
    pub fn standard() -> Self {
        Environment::new().with_library(standard())
    }

    /// The environment of a Kubernetes 1.37 API server, without variables.
    pub fn kubernetes() -> Self {
        Self::kubernetes_of(37, 37)
    }

    /// The environment of an API server of a release 1.`release`, in compatibility with version 1.`minor`, without variables; from
    /// 1.29 on. The version has the functions, the release what is common to all: their costs, the syntax, and errors.
    pub fn kubernetes_of(release: u32, minor: u32) -> Self {
        let environment = LIBRARIES
            .iter()
            .filter(|versioned| versioned.since <= minor && versioned.until.is_none_or(|until| minor < until))
            .fold(
                Environment::new().with_literal_checks(),
                |environment, versioned| environment.with_library((versioned.library)()),
            );
        // Upstream: cel-go v0.29 became v0.33 in 1.38.
        if release >= 38 {
            let environment = environment
                .with_cel_go_0_33()
                .with_library(standard::relations_since_1_38());
            return if minor >= LISTS {
                environment.with_library(lists::costs_since_1_38())
            } else {
                environment
            };
        }
        // Upstream: cel-go v0.26 became v0.29 in 1.37.
        if release >= 37 {
            return environment;
        }
        let environment = environment
            .with_library(before_1_37::library())
            .without_quoted_names();
        if minor >= LISTS {
            environment.with_library(before_1_37::lists())
        } else {
            environment
        }
    }
}

/// The language as the CEL specification defines it, and the well-known types of protocol buffers that are values of
/// CEL: `google.protobuf.Duration` and its like.
pub fn standard() -> Library {
    standard::library()
        .and(macros::standard())
        .and(protobuf::library())
}

/// CEL's optional values: `a.?b`, `a[?k]`, `optional.of(x)`, `optMap` …
pub fn optionals() -> Library {
    optional::library().and(macros::optional())
}

/// CEL's extension for lists: `slice`, `flatten`, `distinct`, `sort`, `sortBy`, `lists.range` …
pub fn lists() -> Library {
    lists::extension().and(macros::lists())
}

/// The minor version since which there are functions of lists.
const LISTS: u32 = 34;

/// A library with the minor versions of Kubernetes that have it.
struct VersionedLibrary {
    since: u32,
    until: Option<u32>,
    library: fn() -> Library,
}

/// In the order in which the reference adds them: it is the order of a function's overloads.
const LIBRARIES: &[VersionedLibrary] = &[
    since(0, standard),
    since(0, scalars::library),
    since(0, url::library),
    since(0, regex::library),
    until(37, lists::kubernetes),
    since(27, authz::library),
    since(28, optionals),
    since(28, quantity::library),
    since(29, strings::library),
    since(29, sets::library),
    since(30, ip::library),
    since(30, cidr::library),
    since(31, format::library),
    since(31, authz::selectors),
    since(32, two_variables),
    since(33, semver::library),
    since(LISTS, lists),
    since(37, kubernetes_lists),
    since(38, cidr::masks),
];

const fn since(since: u32, library: fn() -> Library) -> VersionedLibrary {
    VersionedLibrary {
        since,
        until: None,
        library,
    }
}

const fn until(until: u32, library: fn() -> Library) -> VersionedLibrary {
    VersionedLibrary {
        since: 0,
        until: Some(until),
        library,
    }
}
