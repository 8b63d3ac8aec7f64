//! The resource of a kind: known, not served, or not known.

use std::sync::Arc;

use pratique_json::{Value, text_at};
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, ObjectRef};

use crate::unserved_kinds::{UnservedKind, removed_since};

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub resource: GroupVersionResource,
    /// Whether it is namespaced, if that is known.
    pub namespaced: Option<bool>,
}

/// Whether an object is a CustomResourceDefinition that an API server serves.
pub fn is_definition(object: &Value<'_>) -> bool {
    ObjectRef::new(object).is_custom_resource_definition()
}

/// Whether an object is a CustomResourceDefinition of whatever version, which a server may not serve any more.
pub fn is_definition_of_any_version(object: &Value<'_>) -> bool {
    let kind = ObjectRef::new(object).group_version_kind();
    kind.is_ok_and(|kind| kind.is_custom_resource_definition())
}

/// The regular plural of a kind: `networkpolicies.example.com`. Which resource serves a kind that is not known can only be
/// assumed.
// Upstream: apimachinery/pkg/api/meta/restmapper.go, UnsafeGuessKindToResource
fn regular_resource(kind: &GroupVersionKind) -> GroupVersionResource {
    let singular = kind.kind.to_lowercase();
    let plural = match singular.char_indices().last() {
        _ if singular.ends_with("endpoints") => singular,
        Some((_, 's')) => singular + "es",
        Some((at, 'y')) => singular.get(..at).unwrap_or_default().to_owned() + "ies",
        _ => singular + "s",
    };
    GroupVersionResource::new(&kind.group, &kind.version, &plural)
}

/// The resources that a cluster serves, as far as they are known: those of Kubernetes, and those of definitions and of discovery.
/// Cloning is cheap.
///
/// Built-in resources always win: a definition changes nothing about them.
#[derive(Clone, Debug, Default)]
pub struct ResourceResolver {
    /// Those besides the ones that every server has.
    served: Arc<Vec<ServedResource>>,
    /// The kinds of definitions, which say all versions.
    defined: Arc<Vec<DefinedKind>>,
    /// Whether there are no others, except of the groups in `unavailable`.
    complete: Option<Source>,
    unavailable: Arc<Vec<String>>,
    /// The release of the server; the newest one where it is not known.
    release: Option<&'static Release>,
}

/// A kind of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DefinedKind {
    group: String,
    kind: String,
    plural: String,
    /// The versions that are served.
    versions: Vec<String>,
}

/// What says which resources there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The discovery of a cluster, asked now or for a snapshot.
    Discovery,
    /// The user, who gave all objects of a cluster.
    Objects,
}

/// The resource of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It is known, or the user named it.
    Known(Target),
    /// The server serves no such kind, and refuses requests for it.
    Unserved(Box<UnservedKind>),
    /// It is not known; the resource is the regular plural, which may be shown and must not decide.
    Assumed(AssumedResource),
}

/// A kind that is not known, and the resource that was assumed for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AssumedResource {
    /// `Widget of example.com/v1`
    pub kind: String,
    /// Its name in its group.
    pub resource: GroupVersionResource,
}

/// Why a kind is sent to no resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResourceError {
    /// Subresources of several resources have objects of the kind.
    Several,
    /// It is known, and differs from the requested one.
    Conflict {
        /// The requested resource, with its group.
        requested: String,
        /// The resource of the kind, with its group.
        known: String,
    },
}

impl AssumedResource {
    /// That of a request, if its resource was assumed.
    pub fn from_request(request: &AdmissionRequest<'_>) -> Option<Self> {
        request.assumes_resource.then(|| AssumedResource {
            kind: format!("{} of {}", request.kind.kind, request.kind.api_version()),
            resource: request.resource.clone(),
        })
    }
}

impl Resolution {
    /// The resource, as far as it is known.
    pub fn target(&self) -> Target {
        match self {
            Resolution::Known(target) => target.clone(),
            Resolution::Unserved(unserved) => unknown_scope(unserved.resource()),
            Resolution::Assumed(assumed) => unknown_scope(&assumed.resource),
        }
    }
}

fn unknown_scope(resource: &GroupVersionResource) -> Target {
    Target {
        resource: resource.clone(),
        namespaced: None,
    }
}

impl ResourceResolver {
    /// Takes the release of the server: it has no kinds of later ones, and of what the server before it had switched on none that
    /// are gone since.
    #[must_use]
    pub fn with_release(mut self, release: &'static Release) -> Self {
        let previous = self.release();
        let is_gone = |served: &ServedResource| {
            removed_since(&served.kind, release).is_some() && removed_since(&served.kind, previous).is_none()
        };
        // Resolvers share what is served.
        if self.served.iter().any(is_gone) {
            Arc::make_mut(&mut self.served).retain(|served| !is_gone(served));
        }
        self.release = Some(release);
        self
    }

    /// The release of the server.
    pub fn release(&self) -> &'static Release {
        self.release.unwrap_or_else(Release::latest)
    }

    /// Adds the resources of a definition that is served, in place of those of an earlier one. It has the kind in these versions
    /// and in no other.
    pub fn define(&mut self, definition: &Value<'_>, served: impl IntoIterator<Item = ServedResource>) {
        let served: Vec<_> = served.into_iter().collect();
        let defined = DefinedKind {
            group: text_at(definition, &["spec", "group"]).to_owned(),
            kind: text_at(definition, &["spec", "names", "kind"]).to_owned(),
            plural: text_at(definition, &["spec", "names", "plural"]).to_owned(),
            versions: served.iter().map(|served| served.kind.version.clone()).collect(),
        };
        Arc::make_mut(&mut self.served).retain(|served| {
            let GroupVersionResource { group, resource, .. } = &served.resource;
            (group, resource) != (&defined.group, &defined.plural)
        });
        let known = Arc::make_mut(&mut self.defined);
        known.retain(|known| (&known.group, &known.plural) != (&defined.group, &defined.plural));
        known.push(defined);
        self.serve(served);
    }

    /// Adds resources of discovery. A resource of Kubernetes itself stays as it is.
    pub fn serve(&mut self, served: impl IntoIterator<Item = ServedResource>) {
        let builtin = self.release().resources();
        let of_others = |served: &ServedResource| builtin.find(&served.resource, "").is_none();
        let served = served.into_iter().filter(of_others);
        Arc::make_mut(&mut self.served).extend(served.filter(|served| served.subresource.is_empty()));
    }

    /// The kind of the objects of a resource, if it is known.
    pub fn kind_of_resource(&self, resource: &GroupVersionResource) -> Option<&GroupVersionKind> {
        let builtin = self.release().resources().find(resource, "");
        let is = |served: &&ServedResource| served.resource == *resource;
        let served = builtin.or_else(|| self.served.iter().find(is))?;
        Some(&served.kind)
    }

    /// The resource of a kind whose objects have a scale; of those that are not built in, each may have one.
    pub fn scaled_resource(&self, kind: &GroupVersionKind) -> Option<&GroupVersionResource> {
        let resource = &self.of_kind(kind, "")?.resource;
        let resources = self.release().resources();
        let is_builtin = resources.find(resource, "").is_some();
        (!is_builtin || resources.find(resource, "scale").is_some()).then_some(resource)
    }

    /// Declares that there are no others than those that were added, except of some groups.
    pub fn complete(&mut self, source: Source, unavailable: impl IntoIterator<Item = String>) {
        self.complete = Some(self.complete.unwrap_or(source));
        Arc::make_mut(&mut self.unavailable).extend(unavailable);
    }

    /// Finds the resource of a kind. A requested name is used if the kind is not known.
    pub(crate) fn resolve(
        &self,
        kind: &GroupVersionKind,
        requested: Option<&str>,
        subresource: &str,
    ) -> Result<Resolution, ResourceError> {
        let known = self.of_kind(kind, subresource).map(Target::from);
        let requested = requested.map(|name| named(name, kind, &self.served, self.release()));
        let target = requested.as_ref().map(|requested| &requested.resource);
        if known.is_none()
            && let Some(unserved) = self.in_other_versions(kind, target)
        {
            return Ok(Resolution::Unserved(Box::new(unserved)));
        }
        match (known, requested) {
            (Some(known), Some(requested)) if known.resource != requested.resource => {
                Err(ResourceError::Conflict {
                    requested: requested.resource.group_resource().to_string(),
                    known: known.resource.group_resource().to_string(),
                })
            }
            (Some(known), _) => Ok(Resolution::Known(known)),
            (None, Some(requested)) => Ok(of_requested(kind, requested, subresource, self.release())),
            (None, None) if parts_of_kind(kind, subresource, self.release()).next().is_some() => {
                Err(ResourceError::Several)
            }
            (None, None) => Ok(self.of_unknown(kind)),
        }
    }

    /// The resource with a kind, or the only one whose subresource has it.
    fn of_kind(&self, kind: &GroupVersionKind, subresource: &str) -> Option<&ServedResource> {
        let is = |served: &&ServedResource| served.subresource.is_empty() && served.kind == *kind;
        let resource = self.release().resources().served().iter().find(is);
        let resource = resource.or_else(|| self.served.iter().find(is));
        let parts: Vec<_> = parts_of_kind(kind, subresource, self.release()).collect();
        match (parts.as_slice(), resource) {
            // A Binding is an object of its own as well.
            ([part], _) => Some(part),
            (_, resource) => resource,
        }
    }

    /// The answer for a kind that a definition has, though not in this version, if it is sent to the resource of that.
    fn in_other_versions(
        &self,
        kind: &GroupVersionKind,
        requested: Option<&GroupVersionResource>,
    ) -> Option<UnservedKind> {
        let is_requested = |defined: &DefinedKind| {
            requested.is_none_or(|requested| {
                (&requested.group, &requested.resource) == (&defined.group, &defined.plural)
            })
        };
        let defined = self.defined.iter().find(|defined| {
            (&defined.group, &defined.kind) == (&kind.group, &kind.kind) && is_requested(defined)
        })?;
        let resource = GroupVersionResource::new(&kind.group, &kind.version, &defined.plural);
        Some(UnservedKind::of_definition(
            kind,
            resource,
            defined.versions.clone(),
        ))
    }

    /// The answer for a kind that is not known.
    fn of_unknown(&self, kind: &GroupVersionKind) -> Resolution {
        let resource = regular_resource(kind);
        if self.release().resources().has_group(&kind.group) {
            return Resolution::Unserved(Box::new(UnservedKind::of_kubernetes(
                kind,
                resource,
                self.release(),
            )));
        }
        let is_available = !self.unavailable.contains(&kind.group);
        if let Some(source) = self.complete.filter(|_| is_available) {
            return Resolution::Unserved(Box::new(UnservedKind::of_cluster(kind, resource, source)));
        }
        Resolution::Assumed(AssumedResource {
            kind: format!("{} of {}", kind.kind, kind.api_version()),
            resource,
        })
    }
}

/// The answer for a kind that is not known, and a resource that the user names for it. A resource of Kubernetes itself has objects
/// of its own kind only, perhaps in versions that not every server serves.
fn of_requested(
    kind: &GroupVersionKind,
    requested: Target,
    subresource: &str,
    release: &'static Release,
) -> Resolution {
    let is_optional = |served: &&ServedResource| {
        served.kind == *kind
            && served.subresource.is_empty()
            && served.resource.resource == requested.resource.resource
    };
    if let Some(optional) = release.resources().optional().iter().find(is_optional) {
        return Resolution::Known(optional.into());
    }
    let is_part = parts_of_kind(kind, subresource, release).next().is_some();
    match release.resources().find(&requested.resource, "") {
        Some(_) if !is_part => Resolution::Unserved(Box::new(UnservedKind::of_kubernetes(
            kind,
            requested.resource,
            release,
        ))),
        _ => Resolution::Known(requested),
    }
}

fn named(
    name: &str,
    kind: &GroupVersionKind,
    defined: &[ServedResource],
    release: &'static Release,
) -> Target {
    let (name, group) = match name.split_once('.') {
        Some((name, group)) => (name, Some(group)),
        None => (name, None),
    };
    let fits = |served: &&ServedResource| {
        served.subresource.is_empty()
            && group.is_none_or(|group| served.resource.group == group)
            && (served.resource.resource == name
                || served.short_names.iter().any(|short_name| short_name == name))
    };
    let all = defined.iter().chain(release.resources().served());
    let fitting: Vec<_> = all.filter(fits).collect();
    let same_kind = fitting.iter().find(|served| served.kind == *kind);
    let same_group = || fitting.iter().find(|served| served.kind.group == kind.group);
    match same_kind.or_else(same_group).or_else(|| fitting.first()) {
        Some(served) => Target::from(*served),
        None => Target {
            resource: GroupVersionResource::new(group.unwrap_or(&kind.group), &kind.version, name),
            namespaced: None,
        },
    }
}

/// The subresources of a name that have objects of a kind.
fn parts_of_kind<'k>(
    kind: &'k GroupVersionKind,
    subresource: &'k str,
    release: &'static Release,
) -> impl Iterator<Item = &'static ServedResource> {
    release.resources().served().iter().filter(move |served| {
        !subresource.is_empty() && served.subresource == subresource && served.kind == *kind
    })
}

impl From<&ServedResource> for Target {
    fn from(served: &ServedResource) -> Self {
        Target {
            resource: served.resource.clone(),
            namespaced: Some(served.namespaced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer for a kind: `known GROUP/VERSION/RESOURCE SCOPE`, `assumed …`, `unserved CODE MESSAGE`.
    fn resolved(
        resolver: &ResourceResolver,
        kind: (&str, &str, &str),
        requested: Option<&str>,
        subresource: &str,
    ) -> String {
        let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
        let shown = |resource: &GroupVersionResource| {
            let GroupVersionResource {
                group,
                version,
                resource,
            } = resource;
            format!("{group}/{version}/{resource}")
        };
        match resolver.resolve(&kind, requested, subresource) {
            Ok(Resolution::Known(Target { resource, namespaced })) => {
                let scope = match namespaced {
                    Some(true) => "namespaced",
                    Some(false) => "cluster",
                    None => "?",
                };
                format!("known {} {scope}", shown(&resource))
            }
            Ok(Resolution::Assumed(assumed)) => format!("assumed {}", shown(&assumed.resource)),
            Ok(Resolution::Unserved(unserved)) => {
                let status = unserved.status();
                format!("unserved {} {}", status.code, status.message)
            }
            Err(ResourceError::Several) => "several".to_owned(),
            Err(ResourceError::Conflict { requested, known }) => format!("conflict {requested} {known}"),
        }
    }

    #[track_caller]
    fn check(kind: (&str, &str, &str), requested: Option<&str>, subresource: &str, expected: &str) {
        let resolver = ResourceResolver::default();
        assert_eq!(resolved(&resolver, kind, requested, subresource), expected);
    }

    const MISSING: &str = "unserved 404 the server could not find the requested resource";

    #[test]
    fn unknown_kinds_are_only_assumed() {
        for (kind, expected) in [
            ("Widget", "assumed example.com/v1/widgets"),
            ("FooPolicy", "assumed example.com/v1/foopolicies"),
            ("Gateway", "assumed example.com/v1/gatewaies"),
            ("Ingress", "assumed example.com/v1/ingresses"),
            ("MyEndpoints", "assumed example.com/v1/myendpoints"),
        ] {
            check(("example.com", "v1", kind), None, "", expected);
        }
    }

    #[test]
    fn kinds_have_resources() {
        check(("", "v1", "Pod"), None, "", "known /v1/pods namespaced");
        check(("", "v1", "Pod"), None, "status", "known /v1/pods namespaced");
        check(
            ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
            None,
            "",
            "known rbac.authorization.k8s.io/v1/clusterroles cluster",
        );
        check(
            ("policy", "v1", "Eviction"),
            None,
            "eviction",
            "known /v1/pods namespaced",
        );
        check(
            ("", "v1", "Binding"),
            None,
            "binding",
            "known /v1/pods namespaced",
        );
        check(("", "v1", "Binding"), None, "", "known /v1/bindings namespaced");
        check(("autoscaling", "v1", "Scale"), None, "scale", "several");
    }

    #[test]
    fn names_select_resources() {
        check(
            ("autoscaling", "v1", "Scale"),
            Some("deployments"),
            "scale",
            "known apps/v1/deployments namespaced",
        );
        check(
            ("events.k8s.io", "v1", "Event"),
            Some("events"),
            "",
            "known events.k8s.io/v1/events namespaced",
        );
        let widget = ("example.com", "v1", "Widget");
        check(widget, Some("widgets"), "", "known example.com/v1/widgets ?");
        check(widget, Some("widgets.shop"), "", "known shop/v1/widgets ?");
        // A server that serves more than others may be asked.
        check(
            ("resource.k8s.io", "v1beta1", "DeviceClass"),
            Some("deviceclasses.resource.k8s.io"),
            "",
            "known resource.k8s.io/v1beta1/deviceclasses cluster",
        );
    }

    #[test]
    fn known_kinds_are_not_renamed() {
        let pod = ("", "v1", "Pod");
        check(pod, Some("po"), "", "known /v1/pods namespaced");
        check(pod, Some("pods"), "status", "known /v1/pods namespaced");
        check(pod, Some("widgets"), "", "conflict widgets pods");
        check(
            pod,
            Some("pods.metrics.k8s.io"),
            "",
            "conflict pods.metrics.k8s.io pods",
        );
        check(
            ("apps", "v1", "Deployment"),
            Some("pods"),
            "",
            "conflict pods deployments.apps",
        );
        let eviction = ("policy", "v1", "Eviction");
        check(
            eviction,
            Some("deployments"),
            "eviction",
            "conflict deployments.apps pods",
        );
        check(eviction, Some("pods"), "eviction", "known /v1/pods namespaced");
    }

    #[test]
    fn kinds_that_no_server_serves_are_refused() {
        for kind in [
            ("extensions", "v1beta1", "Deployment"),
            ("apps", "v1beta2", "Deployment"),
            ("policy", "v1beta1", "PodSecurityPolicy"),
            ("batch", "v1beta1", "CronJob"),
            ("networking.k8s.io", "v1beta1", "Ingress"),
            ("autoscaling", "v2beta2", "HorizontalPodAutoscaler"),
            ("apps", "v2", "Deployment"),
            ("", "v1", "Podd"),
            ("", "v1", "Deployment"),
            ("policy", "v1", "Eviction"),
            (
                "admissionregistration.k8s.io",
                "v1beta1",
                "MutatingAdmissionPolicy",
            ),
            // The whole group is gone.
            ("settings.k8s.io", "v1alpha1", "PodPreset"),
            ("auditregistration.k8s.io", "v1alpha1", "AuditSink"),
        ] {
            check(kind, None, "", MISSING);
        }
        // Only the kind in the object is wrong.
        check(
            ("apps", "v1", "deployment"),
            None,
            "",
            "unserved 400 deployment in version \"v1\" cannot be handled as a Deployment: no kind \"deployment\" is \
             registered for version \"apps/v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        );
        check(
            ("", "v1", "Podd"),
            Some("pods"),
            "",
            "unserved 400 Podd in version \"v1\" cannot be handled as a Pod: no kind \"Podd\" is registered for version \
             \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        );
    }

    fn served(group: &str, plural: &str, kind: &str) -> ServedResource {
        ServedResource {
            resource: GroupVersionResource::new(group, "v1", plural),
            subresource: String::new(),
            kind: GroupVersionKind::new(group, "v1", kind),
            namespaced: false,
            short_names: Vec::new(),
        }
    }

    #[test]
    fn custom_resources_are_those_of_definitions_and_discovery() {
        let mut resolver = ResourceResolver::default();
        resolver.serve([served("example.com", "widgetes", "Widget")]);
        let resolved = |resolver: &ResourceResolver, kind| resolved(resolver, kind, None, "");
        let (widget, gadget) = (("example.com", "v1", "Widget"), ("example.com", "v1", "Gadget"));
        assert_eq!(
            resolved(&resolver, widget),
            "known example.com/v1/widgetes cluster"
        );
        assert_eq!(resolved(&resolver, gadget), "assumed example.com/v1/gadgets");
        resolver.complete(Source::Discovery, ["metrics.k8s.io".to_owned()]);
        assert_eq!(
            resolved(&resolver, widget),
            "known example.com/v1/widgetes cluster"
        );
        assert_eq!(resolved(&resolver, gadget), MISSING);
        assert_eq!(
            resolved(&resolver, ("metrics.k8s.io", "v1", "NodeMetrics")),
            "assumed metrics.k8s.io/v1/nodemetricses"
        );
    }

    #[test]
    fn definitions_have_their_versions_only() {
        let definition = pratique_json::parse(
            br#"{"spec":{"group":"example.com","names":{"kind":"Widget","plural":"widgetes"}}}"#,
        );
        let definition = definition.unwrap();
        let mut resolver = ResourceResolver::default();
        resolver.define(&definition, [served("example.com", "widgetes", "Widget")]);
        let check = |resolver: &ResourceResolver, version, kind, requested, expected: &str| {
            let found = resolved(resolver, ("example.com", version, kind), requested, "");
            assert_eq!(found, expected, "{version} {kind}");
        };
        let known = "known example.com/v1/widgetes cluster";
        check(&resolver, "v1", "Widget", None, known);
        check(&resolver, "v2", "Widget", None, MISSING);
        check(&resolver, "v2", "Widget", Some("widgetes"), MISSING);
        check(
            &resolver,
            "v2",
            "Widget",
            Some("others"),
            "known example.com/v2/others ?",
        );
        check(&resolver, "v2", "Widge", None, "assumed example.com/v2/widges");
        let help = |resolver: &ResourceResolver| {
            let kind = GroupVersionKind::new("example.com", "v2", "Widget");
            match resolver.resolve(&kind, None, "") {
                Ok(Resolution::Unserved(unserved)) => unserved.help(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            help(&resolver),
            "the CustomResourceDefinition widgetes.example.com serves no example.com/v2 Widget: use example.com/v1"
        );
        // A later definition takes its place.
        resolver.define(&definition, []);
        check(&resolver, "v1", "Widget", None, MISSING);
        assert_eq!(
            help(&resolver),
            "the CustomResourceDefinition widgetes.example.com serves no version of it"
        );
    }

    #[test]
    fn what_a_cluster_has_switched_on_may_be_gone_in_another_release() {
        let cidrs = ServedResource {
            resource: GroupVersionResource::new("networking.k8s.io", "v1beta1", "servicecidrs"),
            kind: GroupVersionKind::new("networking.k8s.io", "v1beta1", "ServiceCIDR"),
            ..served("networking.k8s.io", "servicecidrs", "ServiceCIDR")
        };
        let release = |version: &str| Release::by_version(version).unwrap();
        let mut resolver = ResourceResolver::default().with_release(release("1.36"));
        resolver.serve([cidrs]);
        let of_release = |version: &str| {
            let kind = ("networking.k8s.io", "v1beta1", "ServiceCIDR");
            resolved(&resolver.clone().with_release(release(version)), kind, None, "")
        };
        assert_eq!(
            of_release("1.36"),
            "known networking.k8s.io/v1beta1/servicecidrs cluster"
        );
        assert_eq!(of_release("1.37"), MISSING);
    }

    #[test]
    fn built_in_resources_win() {
        let mut resolver = ResourceResolver::default();
        resolver.serve([served("apps", "foos", "Deployment"), served("", "foos", "Pod")]);
        let resolved = |kind| resolved(&resolver, kind, None, "");
        assert_eq!(
            resolved(("apps", "v1", "Deployment")),
            "known apps/v1/deployments namespaced"
        );
        assert_eq!(resolved(("", "v1", "Pod")), "known /v1/pods namespaced");
    }
}
