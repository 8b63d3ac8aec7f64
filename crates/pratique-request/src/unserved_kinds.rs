//! Kinds that a server does not serve: its answer to requests for them, and what to do.

use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_schema::{FeatureGates, Release};
use pratique_types::builtin::{self, ServedResource};
use pratique_types::{GroupVersionKind, GroupVersionResource, Reason, Status};

use crate::resource::Source;

/// A kind that a server does not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnservedKind {
    kind: GroupVersionKind,
    resource: GroupVersionResource,
    cause: UnservedCause,
    /// The release of the server.
    release: &'static Release,
}

/// Why a kind is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UnservedCause {
    /// The resource has objects of another kind.
    OtherKind(GroupVersionKind),
    /// Kubernetes has no such resource.
    NoResource,
    /// The cluster has none.
    NotInCluster(Source),
    /// The definition of the kind serves these versions only.
    OtherVersions(Vec<String>),
}

impl UnservedKind {
    /// A kind of a group of Kubernetes that a release does not serve, whose objects would be sent to a resource.
    pub(crate) fn of_kubernetes(
        kind: &GroupVersionKind,
        resource: GroupVersionResource,
        release: &'static Release,
    ) -> Self {
        let cause = match release.resources().find(&resource, "") {
            Some(served) if served.kind != *kind => UnservedCause::OtherKind(served.kind.clone()),
            _ => UnservedCause::NoResource,
        };
        UnservedKind {
            kind: kind.clone(),
            resource,
            cause,
            release,
        }
    }

    /// A kind that a cluster does not have.
    pub(crate) fn of_cluster(
        kind: &GroupVersionKind,
        resource: GroupVersionResource,
        source: Source,
    ) -> Self {
        UnservedKind {
            kind: kind.clone(),
            resource,
            cause: UnservedCause::NotInCluster(source),
            release: Release::latest(),
        }
    }

    /// A kind in a version that its definition does not serve.
    pub(crate) fn of_definition(
        kind: &GroupVersionKind,
        resource: GroupVersionResource,
        served: Vec<String>,
    ) -> Self {
        UnservedKind {
            kind: kind.clone(),
            resource,
            cause: UnservedCause::OtherVersions(served),
            release: Release::latest(),
        }
    }

    /// The resource that requests for it would have.
    pub fn resource(&self) -> &GroupVersionResource {
        &self.resource
    }

    /// The answer of the server.
    // Upstream: apimachinery/pkg/api/errors/errors.go, NewGenericServerResponse, for what lies below no served version;
    // apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError
    pub fn status(&self) -> Status {
        match &self.cause {
            UnservedCause::OtherKind(endpoint) => {
                Status::failure(Reason::BadRequest, self.decode_error(endpoint))
            }
            UnservedCause::NoResource | UnservedCause::NotInCluster(_) | UnservedCause::OtherVersions(_) => {
                Status::failure(
                    Reason::NotFound,
                    "the server could not find the requested resource",
                )
            }
        }
    }

    /// The error of a server that decodes an object of the kind where it expects another.
    fn decode_error(&self, endpoint: &GroupVersionKind) -> String {
        let text = |text: &str| pratique_json::Value::from(text).to_string();
        let object = format!(
            "{{\"apiVersion\":{},\"kind\":{}}}",
            text(&self.kind.api_version()),
            text(&self.kind.kind)
        );
        let gates = FeatureGates::new(self.release);
        let objects = ObjectCodec::with_placeholder("1970-01-01T00:00:00Z").with_gates(gates);
        let decoded = objects.decode(
            object.as_bytes(),
            MediaType::Json,
            endpoint,
            FieldValidation::Warn,
        );
        decoded.err().map(|error| error.to_string()).unwrap_or_default()
    }

    /// Since when it is gone, what took its place, and what else can be done.
    pub fn help(&self) -> String {
        let kind = &self.kind;
        let named = format!("{} {}", kind.api_version(), kind.kind);
        match &self.cause {
            UnservedCause::NotInCluster(Source::Discovery) => format!(
                "the cluster serves no {named}: give its CustomResourceDefinition with --objects if it is to"
            ),
            UnservedCause::NotInCluster(Source::Objects) => {
                format!("no CustomResourceDefinition of the objects defines {named}, and these are all")
            }
            UnservedCause::OtherVersions(versions) => {
                let definition = format!("the CustomResourceDefinition {}", self.resource.group_resource());
                match versions.as_slice() {
                    [] => format!("{definition} serves no version of it"),
                    versions => format!(
                        "{definition} serves no {named}: use {}",
                        any_of(&kind.group, versions)
                    ),
                }
            }
            UnservedCause::OtherKind(endpoint) => format!(
                "the objects of {} are of kind {}",
                self.resource.group_resource(),
                endpoint.kind
            ),
            UnservedCause::NoResource => match removed_since(kind, self.release) {
                Some(since) => removed(&named, kind, &since, self.release),
                None => never_served(&named, kind, self.release),
            },
        }
    }
}

/// `example.com/v1, example.com/v2 or example.com/v3`
fn any_of(group: &str, versions: &[String]) -> String {
    let mut versions: Vec<String> = versions
        .iter()
        .map(|version| format!("{group}/{version}"))
        .collect();
    let last = versions.pop().unwrap_or_default();
    match versions.as_slice() {
        [] => last,
        others => format!("{} or {last}", others.join(", ")),
    }
}

/// The first release that does not serve a kind which earlier ones served, if that is a release or one before it: as its lifecycle
/// says, or as the tables of known releases do of versions that were only tried.
pub(crate) fn removed_since(kind: &GroupVersionKind, release: &Release) -> Option<String> {
    let is_past =
        |text: &str| Release::parse_version(text).is_some_and(|version| version <= release.version());
    // A later release may give a version more time than the lifecycle of an earlier one says.
    if release.resources().resource_of(kind).is_some() {
        return None;
    }
    let removal = builtin::removal(kind).map(|removal| removal.release);
    if let Some(since) = removal.filter(|since| is_past(since)) {
        return Some(since.to_owned());
    }
    let mut after = None;
    for known in Release::list() {
        if known.version() <= release.version() {
            if has_kind(known, kind) {
                return after.map(|since: &Release| since.to_string());
            }
            after = Some(*known);
        }
    }
    None
}

/// Whether a server of a release serves a kind, at least if it is asked to.
fn has_kind(release: &'static Release, kind: &GroupVersionKind) -> bool {
    release.resources().resource_of(kind).is_some()
}

fn removed(named: &str, kind: &GroupVersionKind, since: &str, release: &'static Release) -> String {
    let gone = format!("{named} is not served since Kubernetes {since}");
    match replacement(kind, release) {
        Some(other) => format!("{gone}: use {} {}", other.api_version(), other.kind),
        None => format!("{gone}, and nothing took its place"),
    }
}

fn never_served(named: &str, kind: &GroupVersionKind, release: &'static Release) -> String {
    const INSTEAD: &str = "give a snapshot of one that does, or name the resource with --resource";
    let resources = release.resources();
    let is = |served: &&ServedResource| served.kind == *kind;
    let if_asked = |subject: &str| {
        let version = kind.api_version();
        format!("{subject} {named} only with --runtime-config={version}=true: {INSTEAD}")
    };
    let or_else = || {
        let other = replacement(kind, release);
        other.map(|other| format!("; else use {} {}", other.api_version(), other.kind))
    };
    if resources.optional().iter().any(|served| is(&served)) {
        return if_asked("a server serves") + &or_else().unwrap_or_default();
    }
    let mut later = Release::list().iter().rev();
    if let Some(since) = later.find(|later| later.version() > release.version() && has_kind(later, kind)) {
        return if since.resources().served().iter().any(|served| is(&served)) {
            format!("only releases since {since} serve {named}: {INSTEAD}")
        } else {
            if_asked(&format!("releases since {since} serve")) + &or_else().unwrap_or_default()
        };
    }
    if let Some(part) = resources.served().iter().find(is) {
        // The resource itself would be known.
        return format!(
            "objects of kind {} are sent to {}/{}: name that with --subresource {}",
            kind.kind,
            part.resource.group_resource(),
            part.subresource,
            part.subresource
        );
    }
    if let Some(other) = replacement(kind, release) {
        return format!("use {} {}", other.api_version(), other.kind);
    }
    let of_version = resources
        .served()
        .iter()
        .filter(|served| served.kind.api_version() == kind.api_version());
    let kinds = of_version.map(|served| served.kind.kind.as_str());
    match pratique_gotext::suggest::nearest(&kind.kind, kinds) {
        Some(near) => format!("Kubernetes serves no {named}: did you mean {near}?"),
        None => format!("Kubernetes serves no {named}"),
    }
}

/// What a release serves in the place of a kind: what Kubernetes says, as far as that is served itself, or else the kind of that
/// name.
fn replacement(kind: &GroupVersionKind, release: &'static Release) -> Option<&'static GroupVersionKind> {
    let served = release.resources().served();
    let mut current = kind.clone();
    // The table has no circle; replacements were replaced a few times at most.
    for _ in 0..8 {
        let Some(next) = builtin::removal(&current).and_then(|removal| removal.replacement.clone()) else {
            break;
        };
        let is_next = |served: &&ServedResource| served.subresource.is_empty() && served.kind == next;
        if let Some(served) = served.iter().find(is_next) {
            return Some(&served.kind);
        }
        current = next;
    }
    let of_name = |in_group: bool| {
        // The last version of a kind in the table is the newest.
        let mut resources = served.iter().rev();
        resources.find(|served| {
            let is_kind = served.subresource.is_empty() && served.kind.kind == kind.kind;
            is_kind && (!in_group || served.kind.group == kind.group)
        })
    };
    let served_resource = of_name(true).or_else(|| of_name(false));
    served_resource.map(|served| &served.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(group: &str, version: &str, kind: &str, expected: &str) {
        check_in("1.36", group, version, kind, expected);
    }

    #[track_caller]
    fn check_in(release: &str, group: &str, version: &str, kind: &str, expected: &str) {
        let kind = GroupVersionKind::new(group, version, kind);
        let resource = GroupVersionResource::new(group, version, "nonsense");
        let unserved = UnservedKind::of_kubernetes(&kind, resource, Release::by_version(release).unwrap());
        assert_eq!(unserved.help(), expected);
    }

    #[test]
    fn removed_versions_are_told_with_their_release() {
        for (group, version, kind, expected) in [
            (
                "extensions",
                "v1beta1",
                "Deployment",
                "extensions/v1beta1 Deployment is not served since Kubernetes 1.16: use apps/v1 Deployment",
            ),
            (
                "extensions",
                "v1beta1",
                "Ingress",
                "extensions/v1beta1 Ingress is not served since Kubernetes 1.22: use networking.k8s.io/v1 Ingress",
            ),
            (
                "policy",
                "v1beta1",
                "PodSecurityPolicy",
                "policy/v1beta1 PodSecurityPolicy is not served since Kubernetes 1.25, and nothing took its place",
            ),
            (
                "extensions",
                "v1beta1",
                "PodSecurityPolicy",
                "extensions/v1beta1 PodSecurityPolicy is not served since Kubernetes 1.16, and nothing took its place",
            ),
            (
                "autoscaling",
                "v2beta1",
                "HorizontalPodAutoscaler",
                "autoscaling/v2beta1 HorizontalPodAutoscaler is not served since Kubernetes 1.25: use autoscaling/v2 \
                 HorizontalPodAutoscaler",
            ),
            (
                "flowcontrol.apiserver.k8s.io",
                "v1beta1",
                "FlowSchema",
                "flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema is not served since Kubernetes 1.26: use \
                 flowcontrol.apiserver.k8s.io/v1 FlowSchema",
            ),
            (
                "settings.k8s.io",
                "v1alpha1",
                "PodPreset",
                "settings.k8s.io/v1alpha1 PodPreset is not served since Kubernetes 1.20, and nothing took its place",
            ),
            (
                "events.k8s.io",
                "v1beta1",
                "Event",
                "events.k8s.io/v1beta1 Event is not served since Kubernetes 1.25: use events.k8s.io/v1 Event",
            ),
        ] {
            check(group, version, kind, expected);
        }
    }

    #[test]
    fn other_kinds_are_told_with_what_is_near() {
        check("apps", "v2", "Deployment", "use apps/v1 Deployment");
        check("", "v1", "Deployment", "use apps/v1 Deployment");
        check(
            "certificates.k8s.io",
            "v1",
            "ClusterTrustBundle",
            "only releases since 1.37 serve certificates.k8s.io/v1 ClusterTrustBundle: give a snapshot of one that does, or name \
             the resource with --resource",
        );
        check(
            "networking.k8s.io",
            "v1beta1",
            "IPAddress",
            "a server serves networking.k8s.io/v1beta1 IPAddress only with --runtime-config=networking.k8s.io/v1beta1=true: give a \
             snapshot of one that does, or name the resource with --resource; else use networking.k8s.io/v1 IPAddress",
        );
        check(
            "",
            "v1",
            "Podd",
            "Kubernetes serves no v1 Podd: did you mean Pod?",
        );
        check(
            "policy",
            "v1",
            "Eviction",
            "objects of kind Eviction are sent to pods/eviction: name that with --subresource eviction",
        );
        check(
            "resource.k8s.io",
            "v1beta1",
            "DeviceClass",
            "a server serves resource.k8s.io/v1beta1 DeviceClass only with --runtime-config=resource.k8s.io/v1beta1=true: \
             give a snapshot of one that does, or name the resource with --resource; else use resource.k8s.io/v1 DeviceClass",
        );
    }

    #[test]
    fn help_is_that_of_the_release() {
        const INSTEAD: &str = "give a snapshot of one that does, or name the resource with --resource";
        let asked = |subject: &str, version: &str, kind: &str| {
            format!("{subject} {version} {kind} only with --runtime-config={version}=true: {INSTEAD}")
        };
        let (group, version) = ("networking.k8s.io", "networking.k8s.io/v1beta1");
        let expected =
            asked("a server serves", version, "ServiceCIDR") + "; else use networking.k8s.io/v1 ServiceCIDR";
        check_in("1.34", group, "v1beta1", "ServiceCIDR", &expected);
        let gone = "networking.k8s.io/v1beta1 ServiceCIDR is not served since Kubernetes 1.37: use networking.k8s.io/v1 ServiceCIDR";
        check_in("1.37", group, "v1beta1", "ServiceCIDR", gone);
        // Versions that were only tried have no lifecycle.
        let (group, version) = ("scheduling.k8s.io", "scheduling.k8s.io/v1alpha2");
        let expected = asked("releases since 1.36 serve", version, "PodGroup");
        check_in("1.34", group, "v1alpha2", "PodGroup", &expected);
        let expected = asked("a server serves", version, "PodGroup");
        check_in("1.36", group, "v1alpha2", "PodGroup", &expected);
        let gone = "scheduling.k8s.io/v1alpha2 PodGroup is not served since Kubernetes 1.37, and nothing took its place";
        check_in("1.37", group, "v1alpha2", "PodGroup", gone);
        // Policies that mutate are stable since 1.36.
        let (group, kind) = ("admissionregistration.k8s.io", "MutatingAdmissionPolicy");
        let later = format!("only releases since 1.36 serve {group}/v1 {kind}: {INSTEAD}");
        check_in("1.35", group, "v1", kind, &later);
        // The lifecycle of 1.37 says until when its version is served, that of 1.38 no more.
        let (version, usual) = (format!("{group}/v1alpha1"), format!("{group}/v1"));
        let expected = format!(
            "{}; else use {usual} {kind}",
            asked("a server serves", &version, kind)
        );
        check_in("1.38", group, "v1alpha1", kind, &expected);
    }
}
