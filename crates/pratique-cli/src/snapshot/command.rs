//! `pratique snapshot`: writes the state of a cluster to a directory.

use std::collections::BTreeSet;

use pratique_manifest::path_text;
use pratique_plugins::{ask_authorizer, state_kinds};
use pratique_rbac::KnownSubjects;
use pratique_request::user;
use pratique_state::snapshot::{Extent, SnapshotSubjects};
use pratique_types::GroupVersionKind;
use pratique_types::admission_plugins::built_in;

use super::fetch::{FetchedSecrets, SnapshotFetch};
use super::{ClusterSnapshot, RequiredState, WebhookUse, connect, dropped_fields, policies, write};
use crate::arguments::SnapshotArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::text::{PrintableText, text};
use crate::policies::load_api_policies;

/// Reads a cluster, and writes what was read; succeeds if all of it could be read.
pub(crate) fn run(arguments: &SnapshotArguments) -> Result<ExitStatus, CliError> {
    let client = &arguments.client;
    let server = connect(client.kubeconfig.as_deref(), client.context.as_deref())?;
    let mut fetch = SnapshotFetch::start(&server)?;
    let of_cluster = if arguments.paths.policies.is_empty() {
        Some(policies::read(&mut fetch, WebhookUse::Taken)?)
    } else {
        None
    };
    let server = (format!("cluster {}", fetch.url()), fetch.server_version().clone());
    let gates = arguments.gates.of_server(Some(server))?;
    if let Some(notice) = gates.server_notice() {
        output::eprint(&notice.to_text());
    }
    let loaded = load_api_policies(&arguments.paths, gates.feature_gates, of_cluster);
    let (admission, sets) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => return failure.report().map(|()| ExitStatus::Failure),
    };
    let mut required = RequiredState::new(&admission, &sets);
    if arguments.plugin_objects {
        let release = gates.feature_gates.release().version();
        let selected = arguments.admission_plugins.switches().of_release(release);
        selected.validate()?;
        let is_on = |name: &str| built_in(name).is_some_and(|plugin| selected.is_on(plugin, false));
        required = required.with_plugins(state_kinds(is_on));
        required.authorizer |= ask_authorizer(is_on);
    }
    fetch.state(&required, FetchedSecrets::Named(&arguments.secrets));
    let subjects = subjects(arguments);
    if subjects.is_some() || required.authorizer {
        let known = subjects
            .as_ref()
            .map(|subjects| KnownSubjects::new(subjects.users.clone(), subjects.groups.clone()));
        fetch.roles(known.as_ref());
    }
    if arguments.nodes {
        fetch.builtin("", "Node");
    }
    if arguments.pods {
        fetch.builtin("", "Pod");
    }
    let index = fetch.index_mut();
    index.dropped = dropped_fields::described();
    if subjects.is_some() {
        index
            .dropped
            .push("aggregationRule of ClusterRoles: they have the rules that were aggregated".to_owned());
    }
    index.subjects = subjects;
    index
        .kinds
        .sort_by(|one, other| (&one.api_version, &one.kind).cmp(&(&other.api_version, &other.kind)));
    index
        .served
        .sort_by(|one, other| (&one.api_version, &one.resource).cmp(&(&other.api_version, &other.resource)));
    let url = fetch.url().to_owned();
    let snapshot = fetch.into_snapshot();
    snapshot.warn(&url);
    let is_param = |kind: &GroupVersionKind| required.params.contains(kind);
    let resource = |kind: &GroupVersionKind| resource_of(&snapshot, kind);
    write::write(
        &arguments.directory,
        arguments.force,
        &snapshot,
        &is_param,
        &resource,
    )?;
    output::print(&report(&snapshot, &path_text(&arguments.directory)))?;
    let kinds = &snapshot.index.kinds;
    let is_unknown = kinds.iter().any(|kind| kind.extent == Extent::Unknown);
    Ok(if is_unknown {
        ExitStatus::Undecided
    } else {
        ExitStatus::Success
    })
}

/// The users and groups that were asked about, with the groups that users have by themselves.
fn subjects(arguments: &SnapshotArguments) -> Option<SnapshotSubjects> {
    let (users, groups) = (&arguments.users, &arguments.groups);
    if users.is_empty() && groups.is_empty() {
        return None;
    }
    let mut all: BTreeSet<String> = groups.iter().cloned().collect();
    all.extend(users.iter().flat_map(|name| user(name, &[]).groups));
    all.extend(user("", groups).groups);
    Some(SnapshotSubjects {
        users: users
            .iter()
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        groups: all.into_iter().collect(),
    })
}

/// The resource of a kind.
fn resource_of(snapshot: &ClusterSnapshot, kind: &GroupVersionKind) -> Option<String> {
    if let Some(known) = snapshot.index.release().resources().resource_of(kind) {
        return Some(known.resource.resource.clone());
    }
    let served = snapshot.index.served().ok()?;
    let mut served = served.into_iter();
    let served_resource = served.find(|served| served.subresource.is_empty() && served.kind == *kind)?;
    Some(served_resource.resource.resource)
}

/// The report of what was written.
fn report(snapshot: &ClusterSnapshot, directory: &str) -> PrintableText {
    let version = match snapshot.index.server_version.as_str() {
        "" => "a server of unknown version",
        version => version,
    };
    let mut lines = vec![text!(
        "{}: {} of {}\n",
        directory,
        counted(snapshot.objects.len(), "object", "objects"),
        version
    )];
    for kind in &snapshot.index.kinds {
        let reason = match kind.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let count = match kind.extent {
            Extent::Unknown => "unknown".to_owned(),
            Extent::All | Extent::Chosen => kind.objects.to_string(),
        };
        lines.push(text!(
            "  {} {}: {}{}\n",
            kind.api_version,
            kind.kind,
            count,
            reason
        ));
    }
    lines.into_iter().collect()
}
