//! A cluster in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_policy::{Cluster, NamespaceObject, ParamScope};
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::builtin::{BuiltinResources, ServedResource};
use pratique_types::{GroupVersionKind, GroupVersionResource, ObjectPlace, RejectedObject};

use super::stored_objects::{NAMESPACE, StoredObject};

/// A cluster in memory: namespaces, params, and custom resource definitions, which define how the objects of their
/// kinds are served. Clones share the objects.
#[derive(Clone, Debug)]
pub struct Objects {
    /// By kind, then by namespace and name.
    objects: Arc<ByKind>,
    /// By name: nearly every request wants one.
    namespaces: HashMap<Arc<str>, Arc<StoredObject>, RandomState>,
    /// Whether there are other namespaces, of which only the names are known.
    assumes_namespaces: bool,
    /// Whether there may be other params.
    assumes_params: bool,
    /// The kinds whose objects were all added nevertheless.
    complete: HashSet<GroupVersionKind, RandomState>,
    scopes: Arc<HashMap<GroupVersionKind, ParamScope>>,
    /// The merge schemas of the definitions that were added last, by group and version.
    schemas: Arc<HashMap<(String, String), Arc<MergeSchema>>>,
    equivalents: Arc<Equivalents>,
    release: &'static Release,
    /// What is served besides the resources of the release.
    others: Arc<Vec<(GroupVersionResource, String, GroupVersionKind)>>,
}

type ByKind = HashMap<GroupVersionKind, BTreeMap<String, ByName>, RandomState>;
type ByName = BTreeMap<String, Arc<StoredObject>>;

impl Default for Objects {
    fn default() -> Self {
        Objects::new()
    }
}

impl Objects {
    /// A cluster that serves the built-in resources and has no object.
    pub fn new() -> Self {
        Objects::of_release(Release::latest())
    }

    /// A cluster that serves the built-in resources of a release and has no object.
    pub fn of_release(release: &'static Release) -> Self {
        let resources = release.resources();
        Objects {
            objects: Arc::default(),
            namespaces: HashMap::default(),
            assumes_namespaces: false,
            assumes_params: false,
            complete: HashSet::default(),
            scopes: Arc::new(scopes(resources).collect()),
            schemas: Arc::default(),
            equivalents: Arc::new(Equivalents::of_release(resources)),
            release,
            others: Arc::default(),
        }
    }

    /// The same objects in a cluster of another release, which serves its built-in resources.
    #[must_use]
    pub fn with_release(self, release: &'static Release) -> Self {
        if release == self.release {
            return self;
        }
        let mut objects = Objects::of_release(release);
        let gone = scopes(self.release.resources());
        let gone: HashSet<_> = gone.map(|(kind, _)| kind).collect();
        let kept = self.scopes.iter().filter(|(kind, _)| !gone.contains(kind));
        let kept = kept.map(|(kind, scope)| (kind.clone(), *scope));
        Arc::make_mut(&mut objects.scopes).extend(kept);
        for (resource, subresource, kind) in self.others.iter() {
            if !objects.equivalents.serve(resource, subresource) {
                objects.serve(resource.clone(), subresource, kind.clone());
            }
        }
        Objects {
            scopes: objects.scopes,
            equivalents: objects.equivalents,
            others: objects.others,
            release,
            ..self
        }
    }

    /// Assumes that every namespace exists; of those that were not added only the names are known. Otherwise the
    /// namespaces that were added are all there are.
    pub fn assume_namespaces(&mut self) {
        self.assumes_namespaces = true;
    }

    /// Takes params that were not added to be unknown, rather than absent. A kind of which an object in a namespace was
    /// added is then taken to live in namespaces, if nothing defines it.
    pub fn assume_params(&mut self) {
        self.assumes_params = true;
    }

    /// Declares that the added objects of a kind are all that there are, also where other params are
    /// [assumed](Self::assume_params).
    pub fn complete_params(&mut self, kind: GroupVersionKind) {
        self.complete.insert(kind);
    }

    /// Adds an object, in place of one of the same kind and name.
    ///
    /// # Errors
    /// The object has no kind or no name, or its `apiVersion` is none: it is not added, and given back.
    pub fn insert(&mut self, object: Value<'static>) -> Result<(), RejectedObject> {
        let ObjectPlace {
            kind,
            namespace,
            name,
        } = match ObjectPlace::of_object(&object) {
            Ok(place) => place,
            Err(reason) => {
                let object = Box::new(object);
                return Err(RejectedObject { reason, object });
            }
        };
        if kind.is_custom_resource_definition() {
            self.define(&object);
        }
        if kind == *NAMESPACE {
            self.namespaces
                .insert(name.into(), Arc::new(StoredObject::new(self.release, object)));
            return Ok(());
        }
        Arc::make_mut(&mut self.objects)
            .entry(kind)
            .or_default()
            .entry(namespace)
            .or_default()
            .insert(name, Arc::new(StoredObject::new(self.release, object)));
        Ok(())
    }

    /// Serves a resource, or with a `subresource` a part of one, whose requests carry objects of `kind`.
    pub fn serve(&mut self, resource: GroupVersionResource, subresource: &str, kind: GroupVersionKind) {
        let other = (resource.clone(), subresource.to_owned(), kind.clone());
        Arc::make_mut(&mut self.others).push(other);
        Arc::make_mut(&mut self.equivalents).register(resource, subresource, kind);
    }

    /// Serves a resource that was discovered in a cluster, and keeps its details if it is served already.
    pub fn serve_found(&mut self, resource: &ServedResource) {
        if self.equivalents.serve(&resource.resource, &resource.subresource) {
            return;
        }
        if resource.subresource.is_empty() {
            let scope = if resource.namespaced {
                ParamScope::Namespaced
            } else {
                ParamScope::Cluster
            };
            Arc::make_mut(&mut self.scopes)
                .entry(resource.kind.clone())
                .or_insert(scope);
        }
        self.serve(
            resource.resource.clone(),
            &resource.subresource,
            resource.kind.clone(),
        );
    }

    /// Serves the resources of a CustomResourceDefinition, except those that are built in.
    fn define(&mut self, definition: &Value<'_>) {
        let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        let plural = text(&["spec", "names", "plural"]);
        let scope = match text(&["spec", "scope"]) {
            "Cluster" => ParamScope::Cluster,
            _ => ParamScope::Namespaced,
        };
        let versions = definition
            .at(&["spec", "versions"])
            .and_then(Value::as_array)
            .unwrap_or_default();
        // A definition with a schema that no API server takes defines nothing to merge by.
        let schema = MergeSchema::custom(self.release, definition).ok().map(Arc::new);
        for version in versions {
            let served = version.get("served").and_then(Value::as_bool).unwrap_or_default();
            let Some(name) = version.get("name").and_then(Value::as_str).filter(|_| served) else {
                continue;
            };
            let resource = GroupVersionResource::new(group, name, plural);
            if !self.release.resources().may_be_custom(&resource, kind) {
                continue;
            }
            let version_kind = GroupVersionKind::new(group, name, kind);
            Arc::make_mut(&mut self.scopes).insert(version_kind.clone(), scope);
            if let Some(schema) = &schema {
                let version = (group.to_owned(), name.to_owned());
                Arc::make_mut(&mut self.schemas).insert(version, schema.clone());
            }
            if version.at(&["subresources", "status"]).is_some() {
                self.serve(resource.clone(), "status", version_kind.clone());
            }
            if version.at(&["subresources", "scale"]).is_some() {
                let scale = GroupVersionKind::new("autoscaling", "v1", "Scale");
                self.serve(resource.clone(), "scale", scale);
            }
            self.serve(resource, "", version_kind);
        }
    }

    fn find(&self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&StoredObject> {
        if *kind == *NAMESPACE && namespace.is_empty() {
            self.namespaces.get(name).map(Arc::as_ref)
        } else {
            self.objects.get(kind)?.get(namespace)?.get(name).map(Arc::as_ref)
        }
    }

    /// The scope of a kind that nothing defines: objects without a namespace may have been written without it.
    fn assumed_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        let namespaces = self.objects.get(kind).filter(|_| self.assumes_params)?;
        let is_namespaced = namespaces.keys().any(|namespace| !namespace.is_empty());
        is_namespaced.then_some(ParamScope::Namespaced)
    }

    /// All namespaces, by name.
    fn namespaces(&self) -> Vec<&StoredObject> {
        let mut all: Vec<_> = self.namespaces.iter().collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all.into_iter().map(|(_, object)| object.as_ref()).collect()
    }
}

impl Namespaces for Objects {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        match self.namespaces.get(name) {
            Some(stored) => Namespace::Stored(stored.value()),
            None if self.assumes_namespaces => Namespace::Named,
            None => Namespace::Absent,
        }
    }
}

impl Cluster for Objects {
    fn equivalents(&self) -> &Equivalents {
        &self.equivalents
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        let defined = self.scopes.get(kind).copied();
        defined.or_else(|| self.assumed_scope(kind))
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        Some(self.find(kind, namespace, name)?.value())
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        let stored_objects: Vec<&StoredObject> = if *kind == *NAMESPACE && namespace.is_empty() {
            self.namespaces()
        } else {
            let objects_by_name = self
                .objects
                .get(kind)
                .and_then(|namespaces| namespaces.get(namespace));
            let objects = objects_by_name.into_iter().flat_map(BTreeMap::values);
            objects.map(Arc::as_ref).collect()
        };
        let values = stored_objects
            .into_iter()
            .map(|stored| -> &'a Value<'a> { stored.value() });
        values.collect()
    }

    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        !self.assumes_params || self.complete.contains(kind)
    }

    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        if *kind == *NAMESPACE {
            return Some(self.params(kind, ""));
        }
        let namespaces = self.objects.get(kind).into_iter().flat_map(BTreeMap::values);
        let objects = namespaces.flat_map(BTreeMap::values);
        Some(
            objects
                .map(|stored| -> &'a Value<'a> { stored.value() })
                .collect(),
        )
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        Some(self.namespaces.get(name)?.as_namespace())
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        let version = (kind.group.clone(), kind.version.clone());
        self.schemas.get(&version).map(AsRef::as_ref)
    }
}

/// Where objects of built-in kinds live.
fn scopes(resources: &BuiltinResources) -> impl Iterator<Item = (GroupVersionKind, ParamScope)> {
    let main = resources.served().iter();
    main.filter(|served| served.subresource.is_empty()).map(|served| {
        let scope = if served.namespaced {
            ParamScope::Namespaced
        } else {
            ParamScope::Cluster
        };
        (served.kind.clone(), scope)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(objects: &mut Objects, json: &str) -> bool {
        let object = pratique_json::parse(json.as_bytes()).unwrap().into_owned();
        objects.insert(object).is_ok()
    }

    #[test]
    fn objects_are_found_by_kind_and_name() {
        let mut objects = Objects::new();
        assert!(insert(
            &mut objects,
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#
        ));
        let nameless = pratique_json::parse(br#"{"apiVersion":"v1","kind":"Namespace"}"#).unwrap();
        let rejected = objects.insert(nameless.clone()).unwrap_err();
        assert_eq!(
            rejected.to_string(),
            "an object of kind Namespace without metadata.name"
        );
        assert_eq!(*rejected.object, nameless);
        assert!(objects.namespace("shop").stored().is_some());
        assert_eq!(objects.namespace("other"), Namespace::Absent);
        objects.assume_namespaces();
        assert!(objects.namespace("shop").stored().is_some());
        assert_eq!(objects.namespace("other"), Namespace::Named);
    }

    #[test]
    fn params_that_were_not_added_may_exist() {
        let mut objects = Objects::new();
        let kind = GroupVersionKind::new("", "v1", "ConfigMap");
        assert!(objects.knows_params(&kind));
        objects.assume_params();
        assert!(!objects.knows_params(&kind));
        let limits =
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"limits","namespace":"shop"}}"#;
        assert!(insert(&mut objects, limits));
        assert!(!objects.knows_params(&kind));
        objects.complete_params(kind.clone());
        assert!(objects.knows_params(&kind));
        assert!(!objects.knows_params(&GroupVersionKind::new("", "v1", "Secret")));
    }

    #[test]
    fn found_resources_are_served() {
        let mut objects = Objects::new();
        let kind = GroupVersionKind::new("example.com", "v1", "Widget");
        let found = |namespaced| ServedResource {
            resource: GroupVersionResource::new("example.com", "v1", "widgets"),
            subresource: String::new(),
            kind: kind.clone(),
            namespaced,
            short_names: Vec::new(),
        };
        objects.serve_found(&found(false));
        objects.serve_found(&found(true));
        assert_eq!(objects.param_scope(&kind), Some(ParamScope::Cluster));
        assert_eq!(objects.equivalents().list(&found(false).resource, "").len(), 1);
    }

    #[test]
    fn scopes_are_assumed_of_kinds_that_nothing_defines() {
        let kind = GroupVersionKind::new("example.com", "v1", "Limit");
        let limit = |more: &str| {
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Limit","metadata":{{"name":"a"{more}}}}}"#)
        };
        let scope = |more: &str, assumes: bool| {
            let mut objects = Objects::new();
            assert!(insert(&mut objects, &limit(more)));
            if assumes {
                objects.assume_params();
            }
            objects.param_scope(&kind)
        };
        assert_eq!(
            scope(r#","namespace":"shop""#, true),
            Some(ParamScope::Namespaced)
        );
        assert_eq!(scope(r#","namespace":"shop""#, false), None);
        assert_eq!(scope("", true), None);
    }

    #[test]
    fn definitions_serve_their_kinds() {
        let mut objects = Objects::new();
        let kind = GroupVersionKind::new("example.com", "v1", "Widget");
        assert_eq!(objects.param_scope(&kind), None);
        assert!(insert(
            &mut objects,
            r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
                "spec":{"group":"example.com","names":{"kind":"Widget","plural":"widgets"},"scope":"Cluster",
                "versions":[{"name":"v1","served":true}]}}"#,
        ));
        assert_eq!(objects.param_scope(&kind), Some(ParamScope::Cluster));
    }
}
