//! The `scale` of controllers and of custom resources: how many replicas they have, as an object of its own.
// Upstream: pkg/registry/apps/deployment/storage/storage.go, ScaleREST;
// apiextensions-apiserver/pkg/registry/customresource/etcd.go, ScaleREST

use pratique_json::{Object, Value};
use pratique_types::{GroupVersionKind, ObjectForm, ObjectRef, Status, status};

use crate::edited_object::EditedObject;
use crate::kind_strategy::KindStrategy;
use crate::object::{self, MANAGED_FIELDS};
use crate::registry::{Prepared, Received, Registry, check_version};
use crate::request::Attributes;
use crate::target::Target;

/// The number of replicas in the scale of a custom resource that has none.
// Upstream: apiextensions-apiserver/pkg/registry/customresource/etcd.go, invalidSpecReplicas
const NOT_SET: i64 = i32::MIN as i64;

/// The paths of the fields of an object that its scale shows.
#[derive(Debug)]
pub(crate) struct ScaleFields<'f> {
    replicas: Vec<&'f str>,
    status_replicas: Vec<&'f str>,
    selector: ScaleSelector<'f>,
    is_custom: bool,
}

#[derive(Debug)]
enum ScaleSelector<'f> {
    /// That of a controller, as a text.
    OfController,
    /// A text at a path.
    At(Vec<&'f str>),
    Nowhere,
}

impl<'f> ScaleFields<'f> {
    pub(crate) fn new(strategy: KindStrategy<'f>) -> Self {
        let custom = match strategy {
            KindStrategy::Custom(version) | KindStrategy::CustomStatus(version) => version.scale(),
            KindStrategy::Builtin(..) => None,
        };
        let Some(scale) = custom else {
            return ScaleFields::of_controller();
        };
        ScaleFields {
            replicas: steps(&scale.spec_replicas_path),
            status_replicas: steps(&scale.status_replicas_path),
            selector: match &scale.label_selector_path {
                Some(path) => ScaleSelector::At(steps(path)),
                None => ScaleSelector::Nowhere,
            },
            is_custom: true,
        }
    }

    fn of_controller() -> Self {
        ScaleFields {
            replicas: vec!["spec", "replicas"],
            status_replicas: vec!["status", "replicas"],
            selector: ScaleSelector::OfController,
            is_custom: false,
        }
    }

    /// The scale of an object, without who manages it.
    // Upstream: pkg/registry/apps/deployment/storage/storage.go, scaleFromDeployment
    fn scale<'v>(&self, target: &Target, controller: &Value<'v>) -> Value<'v> {
        let mut scale = Value::Object(Object::new());
        object::set(&mut scale, &["kind"], target.kind.kind.clone());
        object::set(&mut scale, &["apiVersion"], target.kind.api_version());
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            object::copy(&mut scale, controller, &["metadata", field]);
        }
        object::set(&mut scale, &["spec"], Object::new());
        let status_replicas = object::number(controller, &self.status_replicas);
        object::set(&mut scale, &["status", "replicas"], status_replicas);
        let replicas = object::number(controller, &self.replicas);
        if replicas != 0 {
            object::set(&mut scale, &["spec", "replicas"], replicas);
        }
        let selector = match &self.selector {
            ScaleSelector::OfController => selector(controller),
            ScaleSelector::At(path) => object::text(controller, path).to_owned(),
            ScaleSelector::Nowhere => String::new(),
        };
        if !selector.is_empty() {
            object::set(&mut scale, &["status", "selector"], selector);
        }
        scale
    }

    /// The scale of an object with the entries of those who set its number of replicas, as mutating admission sees it.
    // Upstream: apimachinery/pkg/util/managedfields/scalehandler.go, ToSubresource
    pub(crate) fn managed<'v>(&self, target: &Target, controller: &Value<'v>) -> Value<'v> {
        let mut scale = self.scale(target, controller);
        if self.is_custom && controller.at(&self.replicas).is_none() {
            object::set(&mut scale, &["spec", "replicas"], NOT_SET);
        }
        let field: Vec<String> = self.replicas.iter().map(|step| format!("f:{step}")).collect();
        let mut field: Vec<&str> = field.iter().map(String::as_str).collect();
        field.insert(0, "fieldsV1");
        let entries = object::list(controller, MANAGED_FIELDS).iter();
        let entries = entries.filter(|entry| object::has(entry, &field));
        let entries: Vec<Value<'_>> = entries
            .map(|entry| {
                let mut entry = entry.clone();
                object::set(&mut entry, &["apiVersion"], target.kind.api_version());
                object::set(&mut entry, &["fieldsV1"], Object::new());
                object::set(&mut entry, &["fieldsV1", "f:spec", "f:replicas"], Object::new());
                entry
            })
            .collect();
        if !entries.is_empty() {
            object::set(&mut scale, MANAGED_FIELDS, entries);
        }
        scale
    }
}

/// The `Scale` of `autoscaling/v1` of a controller of a built-in kind: how many replicas it has.
pub fn scale_of<'v>(controller: &Value<'v>) -> Value<'v> {
    let target = Target {
        kind: GroupVersionKind::new("autoscaling", "v1", "Scale"),
        ..Target::default()
    };
    ScaleFields::of_controller().scale(&target, controller)
}

/// `.spec.replicas` as names.
fn steps(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

/// The selector of a controller as a text.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector; labels/selector.go, String
fn selector(controller: &Value<'_>) -> String {
    let Some(selector) = controller.at(&["spec", "selector"]) else {
        return String::new();
    };
    // A ReplicationController has labels, the others have a selector.
    let is_selector = ["matchLabels", "matchExpressions"]
        .iter()
        .any(|field| selector.get(field).is_some());
    let labels = if is_selector {
        selector.get("matchLabels")
    } else {
        Some(selector)
    };
    let mut requirements: Vec<(String, String)> = Vec::new();
    for (name, value) in labels
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::iter)
    {
        let value = value.as_str().unwrap_or_default();
        requirements.push((name.to_owned(), format!("{name}={value}")));
    }
    for expression in object::list(selector, &["matchExpressions"]) {
        let key = object::text(expression, &["key"]).to_owned();
        let mut values: Vec<&str> = object::list(expression, &["values"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let text = match object::text(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.clone(),
            _ => format!("!{key}"),
        };
        requirements.push((key, text));
    }
    requirements.sort_by(|one, other| one.0.cmp(&other.0));
    let text: Vec<String> = requirements.into_iter().map(|(_, text)| text).collect();
    text.join(",")
}

/// Whether an object is a scale itself, where the controller that it belongs to is not known.
pub(crate) fn is_scale(object: &Value<'_>, target: &Target) -> bool {
    ObjectRef::new(object).is_of(&target.kind)
}

/// The scale after its controller was updated. What is against a new scale comes before what is against the update.
// Upstream: pkg/registry/apps/deployment/storage/storage.go, scaleUpdatedObjectInfo.UpdatedObject
pub(crate) fn prepare<'v>(
    registry: &Registry<'_>,
    mut received: Received<'_, 'v>,
    strategy: KindStrategy<'_>,
    validate: &dyn Fn(&Prepared<'v>) -> Result<(), Box<Status>>,
) -> Result<Prepared<'v>, Box<Status>> {
    let target = &received.request.target;
    let fields = ScaleFields::new(strategy);
    let controller = received.controller.take();
    let mut scale = std::mem::take(&mut received.attributes.object);
    let replicas = object::number(&scale, &["spec", "replicas"]);
    if fields.is_custom && replicas == NOT_SET {
        let path = pratique_gotext::strconv::quote(&format!(".{}", fields.replicas.join(".")));
        return Err(Box::new(status::bad_request(format!(
            "the spec replicas field {path} cannot be empty"
        ))));
    }
    let old_scale = &received.attributes.old_object;
    let changed = controller.as_ref().map(|old| {
        let mut controller = EditedObject::new(old.clone(), ObjectForm::Written);
        object::set(&mut controller, &fields.replicas, replicas);
        let mut context = registry.context(&received);
        strategy.prepare_for_update(&mut context, &mut controller, old);
        controller.into_parts().0
    });
    let (object, old_object) = match (&changed, &controller) {
        (Some(changed), Some(old)) => (fields.scale(target, changed), fields.scale(target, old)),
        _ => (with_replicas(old_scale, replicas), old_scale.clone()),
    };
    let mut prepared = Prepared {
        stored: object.clone(),
        attributes: Attributes {
            object,
            old_object,
            ..received.attributes.clone()
        },
        warnings: received.warnings.clone(),
        refused: None,
        dropped: Vec::new(),
        first_warnings: usize::MAX,
    };
    // That of a custom resource is validated as a part of it.
    if !fields.is_custom {
        let mut candidate = prepared.clone();
        // The metadata are those that were sent, of which a controller takes nothing else.
        if let Some(metadata) = scale.get("metadata") {
            object::set(&mut candidate.attributes.object, &["metadata"], metadata.clone());
        }
        validate(&candidate)?;
    }
    let is_unconditional = fields.is_custom || strategy.is_unconditional(&received.attributes.kind.version);
    check_version(&mut scale, old_scale, is_unconditional, &received)?;
    let (Some(changed), Some(old)) = (changed, controller) else {
        return Ok(prepared);
    };
    match &target.custom {
        Some(kind) => {
            let release = registry.scheme.gates().release();
            let warnings = strategy.validate_update(kind, &changed, &old, release)?;
            prepared.warnings.extend(warnings);
        }
        None => {
            let mut candidate = prepared.clone();
            candidate.attributes.kind = target.parent().unwrap_or_default();
            (candidate.attributes.object, candidate.attributes.old_object) = (changed, old);
            validate(&candidate)?;
        }
    }
    Ok(prepared)
}

/// A scale with another number of replicas.
fn with_replicas<'v>(scale: &Value<'v>, replicas: i64) -> Value<'v> {
    let mut scale = scale.clone();
    if replicas == 0 {
        object::remove(&mut scale, &["spec", "replicas"]);
    } else {
        object::set(&mut scale, &["spec", "replicas"], replicas);
    }
    scale
}
