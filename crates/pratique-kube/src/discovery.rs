//! Discovery: the resources that an API server serves.

use futures_util::{StreamExt, stream};
use http::Request;
use http::header::ACCEPT;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    APIGroupList, APIResource, APIResourceList, APIVersions,
};
use kube::core::discovery::v2;
use kube::{Client, Error};
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersion, GroupVersionKind};
use serde::de::DeserializeOwned;

use super::failure;

/// The resources that an API server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiDiscovery {
    /// The resources and their subresources, in the order of the API server, with the verbs of each.
    pub resources: Vec<(ServedResource, ResourceVerbs)>,
    /// The group versions that are unknown because the server behind them is down, with the reasons.
    pub unavailable: Vec<(GroupVersion, String)>,
}

/// The verbs of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceVerbs {
    /// They can be listed.
    pub list: bool,
    /// They can be created, updated or patched.
    pub write: bool,
}

impl ApiDiscovery {
    /// The resources and their parts.
    pub fn served(self) -> Vec<ServedResource> {
        self.resources.into_iter().map(|(served, _)| served).collect()
    }
}

impl ResourceVerbs {
    fn new(verbs: &[String]) -> Self {
        let has = |wanted: &[&str]| verbs.iter().any(|verb| wanted.contains(&verb.as_str()));
        ResourceVerbs {
            list: has(&["list"]),
            write: has(&["create", "update", "patch"]),
        }
    }
}

/// All resources and their subresources, in the order of the API server.
///
/// Servers without aggregated discovery are requested group by group; groups whose server is down are left out then.
pub(super) async fn discover(client: &Client) -> Result<ApiDiscovery, Error> {
    let mut discovery = ApiDiscovery::default();
    for path in ["/api", "/apis"] {
        let text = get(client, path, v2::ACCEPT_AGGREGATED_DISCOVERY_V2).await?;
        let header = read::<AnswerKind>(&text)?;
        match header.kind.as_str() {
            "APIGroupDiscoveryList" => aggregated(&read(&text)?, &mut discovery),
            "APIVersions" => {
                let versions = read::<APIVersions>(&text)?.versions;
                let paths = versions.into_iter().map(|version| format!("/api/{version}"));
                one_by_one(client, paths.collect(), &mut discovery).await?;
            }
            _ => one_by_one(client, paths_of(read(&text)?), &mut discovery).await?,
        }
    }
    Ok(discovery)
}

/// The kind of an answer.
#[derive(serde::Deserialize)]
struct AnswerKind {
    kind: String,
}

async fn get(client: &Client, path: &str, accept: &str) -> Result<String, Error> {
    let request = Request::get(path).header(ACCEPT, accept).body(Vec::new());
    client.request_text(request.map_err(Error::HttpError)?).await
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(Error::SerdeError)
}

fn aggregated(list: &v2::APIGroupDiscoveryList, discovery: &mut ApiDiscovery) {
    for group in &list.items {
        let name = group
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.name.as_deref());
        let name = name.unwrap_or_default();
        for version in &group.versions {
            let number = version.version.as_deref().unwrap_or_default();
            if version.freshness.as_deref() == Some(STALE) {
                let served = GroupVersion {
                    group: name.to_owned(),
                    version: number.to_owned(),
                };
                let why = "the server behind it does not say what it serves".to_owned();
                discovery.unavailable.push((served, why));
            }
            for resource in &version.resources {
                of_resource(name, number, resource, &mut discovery.resources);
            }
        }
    }
}

/// The freshness of a version whose server is down.
const STALE: &str = "Stale";

fn of_resource(
    group: &str,
    version: &str,
    resource: &v2::APIResourceDiscovery,
    resources: &mut Vec<(ServedResource, ResourceVerbs)>,
) {
    let plural = resource.resource.as_deref().unwrap_or_default();
    let served = GroupVersion {
        group: group.to_owned(),
        version: version.to_owned(),
    }
    .with_resource(plural);
    let mut add = |subresource: &str, kind: Option<&v2::GroupVersionKind>, verbs: &[String]| {
        let kind = kind.cloned().unwrap_or_default();
        let or = |text: Option<String>, other: &str| {
            text.filter(|text| !text.is_empty()).unwrap_or(other.to_owned())
        };
        // A kind without a version has that of the resource; the core group has no name.
        let of_core = kind.version.as_deref().is_some_and(|version| !version.is_empty());
        let kind_group = if of_core {
            kind.group.unwrap_or_default()
        } else {
            or(kind.group, group)
        };
        let served = ServedResource {
            resource: served.clone(),
            subresource: subresource.to_owned(),
            kind: GroupVersionKind::new(
                &kind_group,
                &or(kind.version, version),
                &kind.kind.unwrap_or_default(),
            ),
            namespaced: resource.scope.as_deref() == Some("Namespaced"),
            short_names: resource.short_names.clone(),
        };
        resources.push((served, ResourceVerbs::new(verbs)));
    };
    add("", resource.response_kind.as_ref(), &resource.verbs);
    for part in &resource.subresources {
        add(
            part.subresource.as_deref().unwrap_or_default(),
            part.response_kind.as_ref(),
            &part.verbs,
        );
    }
}

fn paths_of(groups: APIGroupList) -> Vec<String> {
    let versions = groups.groups.into_iter().flat_map(|group| group.versions);
    versions
        .map(|version| format!("/apis/{}", version.group_version))
        .collect()
}

async fn one_by_one(client: &Client, paths: Vec<String>, discovery: &mut ApiDiscovery) -> Result<(), Error> {
    let mut answers = stream::iter(paths)
        .map(|path| async move { (get(client, &path, "application/json").await, path) })
        .buffered(AT_ONCE);
    while let Some((answer, path)) = answers.next().await {
        let text = match answer {
            Ok(text) => text,
            Err(Error::Api(status)) if matches!(status.code, 403 | 404 | 503) => {
                tracing::warn!(path, reason = status.message, "Failed to discover");
                let named = path.strip_prefix("/apis/").map(GroupVersion::parse);
                if let (403 | 503, Some(Ok(named))) = (status.code, named) {
                    discovery.unavailable.push((named, status.message.clone()));
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        let list = read::<APIResourceList>(&text)?;
        let Ok(version) = GroupVersion::parse(&list.group_version) else {
            continue;
        };
        discovery
            .resources
            .extend(list.resources.into_iter().map(|resource| {
                let verbs = ResourceVerbs::new(&resource.verbs);
                (of_list(&version, resource), verbs)
            }));
    }
    Ok(())
}

/// The resources of a version of a group, as an API server lists them.
pub(super) fn of_version(text: &[u8]) -> Result<Vec<ServedResource>, serde_json::Error> {
    let list: APIResourceList = serde_json::from_slice(text)?;
    let version = GroupVersion::parse(&list.group_version).map_err(serde::de::Error::custom)?;
    let resources = list.resources.into_iter();
    Ok(resources.map(|resource| of_list(&version, resource)).collect())
}

/// How many groups are requested at a time.
const AT_ONCE: usize = 8;

fn of_list(served: &GroupVersion, resource: APIResource) -> ServedResource {
    let (plural, subresource) = resource.name.split_once('/').unwrap_or((&resource.name, ""));
    let version = resource.version.unwrap_or_default();
    let kind_of = if version.is_empty() {
        served.clone()
    } else {
        GroupVersion {
            group: resource.group.unwrap_or_default(),
            version,
        }
    };
    ServedResource {
        resource: served.clone().with_resource(plural),
        subresource: subresource.to_owned(),
        kind: kind_of.with_kind(&resource.kind),
        namespaced: resource.namespaced,
        short_names: resource.short_names.unwrap_or_default(),
    }
}

/// The error as logs show it.
pub(super) fn problem(error: &Error) -> String {
    format!("discovery: {}", failure::error_text(error))
}
