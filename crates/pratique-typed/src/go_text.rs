//! Parts of typed objects as Go's formats show them: `%v`, `%#v`, and the texts of pointers to API structs.
//!
//! Upstream: the methods `String` in `generated.pb.go` of k8s.io/api; fmt/print.go. The address of what a pointer leads
//! to differs each time; `0xc000000000` stands for it.

use std::ptr;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_gotext::time::Timestamp;
use pratique_json::{Object, Progress, Value, base64};
use pratique_schema::{Field, LayoutField, Presence, Release, Scalar, Shape, StructType, TypeId};
use pratique_types::GroupVersionKind;

use crate::part_type::find;

/// A part of an object, which is that part in memory.
#[derive(Clone, Copy, Debug)]
pub enum ObjectPart<'p> {
    /// An object or a map.
    Object(&'p Object<'p>),
    /// A list.
    List(&'p [Value<'p>]),
}

/// A value in Go's formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoValue {
    /// Its type (`%T`): `v1.EnvVar`.
    pub type_name: String,
    /// Whether it is a struct.
    pub is_struct: bool,
    /// Of a list or map of quantities, which are structs, the first one (`%v`).
    pub quantity: Option<String>,
    /// `%v`
    pub plain: String,
    /// `%#v`
    pub literal: String,
}

/// A part of an object of a kind in Go's formats; `None` where it is no part of it. Once `progress` is
/// interrupted, some of the text is missing.
pub fn go_value(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &Value<'_>,
    part: ObjectPart<'_>,
    progress: &Progress<'_>,
) -> Option<GoValue> {
    let visit = || progress.nodes(1).then_some(()).ok_or(());
    let typed_part = find(
        release.schema(),
        kind,
        object,
        |value| is_part(value, part),
        visit,
    )
    .ok()??;
    let place = TypedPlace {
        shape: &typed_part.shape,
        field: typed_part.field,
        types: GoTypes { release, progress },
    };
    Some(to_go_value(place, typed_part.value))
}

fn is_part(value: &Value<'_>, part: ObjectPart<'_>) -> bool {
    match (value, part) {
        // The members of empty objects have no address of their own.
        (Value::Object(object), ObjectPart::Object(part)) if part.is_empty() => {
            ptr::eq(object, ptr::from_ref(part).cast())
        }
        (Value::Object(object), ObjectPart::Object(part)) => {
            ptr::eq(object.members().as_ptr(), part.members().as_ptr().cast())
        }
        (Value::Array(elements), ObjectPart::List(part)) => {
            elements.len() == part.len() && ptr::eq(elements.as_ptr(), part.as_ptr().cast())
        }
        _ => false,
    }
}

fn to_go_value(place: TypedPlace<'_>, value: &Value<'_>) -> GoValue {
    let first = match (place.shape, value) {
        (Shape::List(inner), Value::Array(elements)) => elements.first().map(|first| (inner, first)),
        (Shape::Map(inner), Value::Object(members)) => members.iter().next().map(|(_, first)| (inner, first)),
        _ => None,
    };
    let first = first.filter(|(inner, _)| ***inner == Shape::Scalar(Scalar::Quantity));
    GoValue {
        quantity: first.map(|(_, first)| quantity(Some(first), false)),
        type_name: place.go_type(),
        is_struct: matches!(place.shape, Shape::Struct(_)),
        plain: plain(place, Some(value), false),
        literal: literal(place, Some(value), false),
    }
}

/// The type of a place in an object.
#[derive(Clone, Copy)]
struct TypedPlace<'p> {
    shape: &'p Shape,
    /// The field, for Go's name of its type.
    field: Option<&'p Field>,
    types: GoTypes<'p>,
}

/// The types that values are shown by.
#[derive(Clone, Copy)]
struct GoTypes<'p> {
    release: &'static Release,
    /// Once it is interrupted, nothing is shown.
    progress: &'p Progress<'p>,
}

impl GoTypes<'_> {
    fn by_id(self, id: TypeId) -> &'static StructType {
        self.release.schema().get(id)
    }

    /// The fields of a type, in Go's order.
    fn layout(self, of: &StructType) -> &'static [LayoutField] {
        self.release.layouts().for_type(of.name)
    }

    fn goes_on(self) -> bool {
        self.progress.nodes(1)
    }
}

impl<'p> TypedPlace<'p> {
    fn new(field: &'p Field, types: GoTypes<'p>) -> Self {
        TypedPlace {
            shape: &field.shape,
            field: Some(field),
            types,
        }
    }

    /// The elements of a list or a map.
    fn inner(self, shape: &'p Shape) -> Self {
        TypedPlace {
            shape,
            field: None,
            ..self
        }
    }

    fn go_type(&self) -> String {
        let schema = self.types.release.schema();
        match self.field {
            Some(field) => field.go_type(schema),
            None => self.shape.go_type(schema),
        }
    }
}

/// Whether Go holds a field by a pointer.
fn is_pointer(field: &Field) -> bool {
    let nullable =
        field.presence == Presence::Nullable && !matches!(field.shape, Shape::List(_) | Shape::Map(_));
    field.presence == Presence::UnlessNull || nullable
}

const ADDRESS: &str = "0xc000000000";

const NO_TIME: &str = "0001-01-01 00:00:00 +0000 UTC";

/// A value that is neither absent nor null.
fn non_null<'v>(value: Option<&'v Value<'v>>) -> Option<&'v Value<'v>> {
    value.filter(|value| !value.is_null())
}

fn members<'v>(value: Option<&'v Value<'v>>) -> Option<&'v Object<'v>> {
    value.and_then(Value::as_object)
}

fn elements<'v>(value: Option<&'v Value<'v>>) -> &'v [Value<'v>] {
    value.and_then(Value::as_array).map_or(&[], |elements| elements)
}

/// `%v`
fn plain(place: TypedPlace<'_>, value: Option<&Value<'_>>, pointer: bool) -> String {
    let types = place.types;
    match place.shape {
        _ if !types.goes_on() => String::new(),
        Shape::Struct(id) => {
            let of = types.by_id(*id);
            let object = members(value);
            let own_text = object.and_then(|object| own_text(of, object, pointer));
            match (own_text, pointer, object) {
                (Some(text), ..) => text,
                (None, true, Some(object)) => pointed(*id, object, types),
                (None, true, None) => "nil".to_owned(),
                (None, false, object) => braces(types.layout(of), of, object, types),
            }
        }
        Shape::List(inner) => {
            let values = elements(value).iter();
            let texts: Vec<String> = values
                .map(|value| plain(place.inner(inner), Some(value), false))
                .collect();
            format!("[{}]", texts.join(" "))
        }
        Shape::Map(inner) => {
            let entries = members(value).into_iter().flat_map(Object::iter);
            let entries: Vec<String> = entries
                .map(|(key, value)| format!("{key}:{}", plain(place.inner(inner), Some(value), false)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
        Shape::Scalar(scalar) => plain_scalar(*scalar, non_null(value), pointer),
    }
}

/// The text of a struct whose method `String` is not generated: that of a kind is one of the value, that of a resource one
/// of the pointer.
///
/// Upstream: apimachinery/pkg/apis/meta/v1/group_version.go
fn own_text(of: &StructType, object: &Object<'_>, pointer: bool) -> Option<String> {
    let field = |name| object.get(name).map(value_text).unwrap_or_default();
    let (group, version) = (field("group"), field("version"));
    match (of.name, pointer) {
        ("meta/v1.GroupVersionKind", _) => Some(format!("{group}/{version}, Kind={}", field("kind"))),
        ("meta/v1.GroupVersionResource", true) => {
            Some(format!("{group}/{version}, Resource={}", field("resource")))
        }
        _ => None,
    }
}

fn plain_scalar(scalar: Scalar, value: Option<&Value<'_>>, pointer: bool) -> String {
    match (scalar, value) {
        (_, None) if pointer => "<nil>".to_owned(),
        (Scalar::Quantity | Scalar::IntOrString, Some(value)) if pointer => value_text(value),
        (Scalar::Quantity, value) => quantity(value, false),
        (Scalar::IntOrString, value) => {
            let (of, number, text) = int_or_string(value);
            format!("{{{of} {number} {text}}}")
        }
        (Scalar::Time | Scalar::MicroTime, None) => NO_TIME.to_owned(),
        (Scalar::Time | Scalar::MicroTime, Some(value)) => {
            let text = value_text(value);
            match Timestamp::parse(&text) {
                Ok(time) => time.in_messages(),
                Err(_) => text,
            }
        }
        (Scalar::Duration, None) => "0s".to_owned(),
        (Scalar::Duration, Some(value)) => value_text(value),
        (Scalar::Json, _) => "{[] <nil>}".to_owned(),
        (Scalar::Bytes, value) => {
            let bytes: Vec<String> = bytes(value).iter().map(u8::to_string).collect();
            format!("[{}]", bytes.join(" "))
        }
        (_, Some(_)) if pointer => ADDRESS.to_owned(),
        (scalar, None) => zero(scalar).to_owned(),
        (_, Some(value)) => value_text(value),
    }
}

/// A struct: its fields in Go's order.
fn braces(
    fields: &[LayoutField],
    of: &StructType,
    object: Option<&Object<'_>>,
    types: GoTypes<'_>,
) -> String {
    let show_field = |field: &LayoutField| match field {
        LayoutField::Embedded { fields, .. } => Some(braces(fields, of, object, types)),
        LayoutField::Named { json, .. } => {
            let field = of.field(json)?;
            let value = object.and_then(|object| object.get(json));
            Some(plain(TypedPlace::new(field, types), value, is_pointer(field)))
        }
    };
    let field_texts: Vec<String> = fields.iter().filter_map(show_field).collect();
    format!("{{{}}}", field_texts.join(" "))
}

/// The text of a pointer to a struct, as its generated method gives it.
fn pointed(id: TypeId, object: &Object<'_>, types: GoTypes<'_>) -> String {
    let of = types.by_id(id);
    let struct_text = generated((of.name, types.layout(of)), of, Some(object), types);
    format!("&{struct_text}")
}

/// `Name{Field:value,}`: by the numbers of the fields.
fn generated(
    (name, fields): (&str, &[LayoutField]),
    of: &StructType,
    object: Option<&Object<'_>>,
    types: GoTypes<'_>,
) -> String {
    let mut fields: Vec<&LayoutField> = fields.iter().collect();
    fields.sort_by_key(|field| field.number());
    let mut output = format!("{}{{", short(name));
    for field in fields {
        let (name, value) = match field {
            LayoutField::Embedded {
                of: embedded, fields, ..
            } => (short(embedded), generated((embedded, fields), of, object, types)),
            LayoutField::Named { json, go, .. } => {
                let Some(field) = of.field(json) else { continue };
                let value = object.and_then(|object| object.get(json));
                (&**go, generated_field(package(name), field, value, types))
            }
        };
        output.push_str(&format!("{name}:{value},"));
    }
    output + "}"
}

fn generated_field(home: &str, field: &Field, value: Option<&Value<'_>>, types: GoTypes<'_>) -> String {
    let pointer = is_pointer(field);
    let place = TypedPlace::new(field, types);
    match &field.shape {
        _ if !types.goes_on() => String::new(),
        Shape::Struct(id) => {
            let of = types.by_id(*id);
            let foreign = package(of.name) != home;
            match (pointer, members(value)) {
                (true, None) => "nil".to_owned(),
                (true, Some(object)) if foreign => {
                    pointed(*id, object, types).replacen(short(of.name), of.go_type(), 1)
                }
                (true, Some(object)) => pointed(*id, object, types),
                (false, _) if foreign => plain(place, value, false),
                (false, object) => generated((of.name, types.layout(of)), of, object, types),
            }
        }
        Shape::List(inner) => match &**inner {
            Shape::Struct(id) => {
                let of = types.by_id(*id);
                let foreign = package(of.name) != home;
                let name = if foreign { of.go_type() } else { short(of.name) };
                let element_texts = elements(value).iter().map(|element| {
                    if foreign {
                        plain(place.inner(inner), Some(element), false) + ","
                    } else {
                        let layout = (of.name, types.layout(of));
                        generated(layout, of, element.as_object(), types) + ","
                    }
                });
                format!("[]{name}{{{}}}", element_texts.collect::<String>())
            }
            _ => plain(place, value, false),
        },
        Shape::Map(inner) => {
            let name = place.go_type();
            let name = name.rsplit_once('.').map_or(name.as_str(), |(_, local)| local);
            let entries = members(value).into_iter().flat_map(Object::iter);
            let entries = entries
                .map(|(key, value)| format!("{key}: {},", plain(place.inner(inner), Some(value), false)));
            format!("{name}{{{}}}", entries.collect::<String>())
        }
        Shape::Scalar(
            scalar @ (Scalar::Quantity | Scalar::IntOrString | Scalar::Time | Scalar::MicroTime),
        ) => plain_scalar(*scalar, non_null(value), pointer),
        Shape::Scalar(Scalar::Bytes) => match non_null(value) {
            None => "nil".to_owned(),
            value => format!("*{}", plain_scalar(Scalar::Bytes, value, false)),
        },
        Shape::Scalar(scalar) if pointer => match non_null(value) {
            None => "nil".to_owned(),
            value => format!("*{}", plain_scalar(*scalar, value, false)),
        },
        Shape::Scalar(scalar) => plain_scalar(*scalar, non_null(value), false),
    }
}

/// `%#v`
fn literal(place: TypedPlace<'_>, value: Option<&Value<'_>>, pointer: bool) -> String {
    let go = || place.go_type();
    if !place.types.goes_on() {
        return String::new();
    }
    if pointer {
        return match non_null(value) {
            None => format!("(*{})(nil)", go()),
            Some(_) => format!("(*{})({ADDRESS})", go()),
        };
    }
    match (place.shape, non_null(value)) {
        (Shape::Struct(id), value) => {
            let of = place.types.by_id(*id);
            format!(
                "{}{{{}}}",
                go(),
                literal_fields(place.types.layout(of), of, members(value), place.types)
            )
        }
        (Shape::List(_) | Shape::Map(_), None) => format!("{}(nil)", go()),
        (Shape::List(inner), value) => {
            let values = elements(value).iter();
            let texts: Vec<String> = values
                .map(|value| literal(place.inner(inner), Some(value), false))
                .collect();
            format!("{}{{{}}}", go(), texts.join(", "))
        }
        (Shape::Map(inner), value) => {
            let entries = members(value).into_iter().flat_map(Object::iter);
            let entries: Vec<String> = entries
                .map(|(key, value)| {
                    let value = literal(place.inner(inner), Some(value), false);
                    format!("{}:{value}", quote(key))
                })
                .collect();
            format!("{}{{{}}}", go(), entries.join(", "))
        }
        (Shape::Scalar(scalar), value) => literal_scalar(*scalar, value),
    }
}

fn literal_scalar(scalar: Scalar, value: Option<&Value<'_>>) -> String {
    match scalar {
        Scalar::String => quote(value.and_then(Value::as_str).unwrap_or_default()),
        Scalar::Quantity => quantity(value, true),
        Scalar::IntOrString => {
            let (of, number, text) = int_or_string(value);
            format!(
                "intstr.IntOrString{{Type:{of}, IntVal:{number}, StrVal:{}}}",
                quote(&text)
            )
        }
        Scalar::Bytes => {
            let bytes: Vec<String> = bytes(value).iter().map(|byte| format!("{byte:#x}")).collect();
            match value {
                None => "[]uint8(nil)".to_owned(),
                Some(_) => format!("[]uint8{{{}}}", bytes.join(", ")),
            }
        }
        scalar => plain_scalar(scalar, value, false),
    }
}

fn literal_fields(
    fields: &[LayoutField],
    of: &StructType,
    object: Option<&Object<'_>>,
    types: GoTypes<'_>,
) -> String {
    let show_field = |field: &LayoutField| match field {
        LayoutField::Embedded {
            of: embedded, fields, ..
        } => {
            let go = embedded.rsplit_once('/').map_or(*embedded, |(_, local)| local);
            let fields = literal_fields(fields, of, object, types);
            Some(format!("{}:{go}{{{fields}}}", short(embedded)))
        }
        LayoutField::Named { json, go, .. } => {
            let field = of.field(json)?;
            let value = object.and_then(|object| object.get(json));
            Some(format!(
                "{go}:{}",
                literal(TypedPlace::new(field, types), value, is_pointer(field))
            ))
        }
    };
    let field_texts: Vec<String> = fields.iter().filter_map(show_field).collect();
    field_texts.join(", ")
}

/// `core/v1.Pod` → `Pod`
fn short(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, local)| local)
}

/// `core/v1.Pod` → `core/v1`
fn package(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

fn value_text(value: &Value<'_>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn zero(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "false",
        Scalar::Int32 | Scalar::Int64 | Scalar::Float => "0",
        _ => "",
    }
}

fn bytes(value: Option<&Value<'_>>) -> Vec<u8> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    base64::decode(text).unwrap_or_default()
}

fn int_or_string(value: Option<&Value<'_>>) -> (u8, i64, String) {
    match value {
        Some(Value::Int(number)) => (0, *number, String::new()),
        Some(Value::String(text)) => (1, 0, text.to_string()),
        _ => (0, 0, String::new()),
    }
}

/// A quantity's own struct, with the text that it remembers.
fn quantity(value: Option<&Value<'_>>, literal: bool) -> String {
    let parsed = value.and_then(|value| Quantity::parse(&value_text(value)).ok());
    let parts = parsed.as_ref().map(Quantity::go_parts).unwrap_or_default();
    let big = if parts.is_big { ADDRESS } else { "<nil>" };
    if literal {
        format!(
            "resource.Quantity{{i:resource.int64Amount{{value:{}, scale:{}}}, \
             d:resource.infDecAmount{{Dec:(*inf.Dec)({})}}, s:{}, Format:{}}}",
            parts.value,
            parts.scale,
            if parts.is_big { ADDRESS } else { "nil" },
            quote(&parts.text),
            quote(parts.format)
        )
    } else {
        format!(
            "{{{{{} {}}} {{{big}}} {} {}}}",
            parts.value, parts.scale, parts.text, parts.format
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"app": "x"}},
        "spec": {"tolerations": [{"key": "k", "operator": "Exists"}],
            "hostAliases": [{"ip": "1.1.1.1", "hostnames": ["a", "b"]}],
            "volumes": [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}],
            "containers": [{"name": "a", "livenessProbe": {"httpGet": {"path": "/x", "port": 8080}, "periodSeconds": 3},
                "env": [{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}}],
                "resources": {"limits": {"cpu": "1"}, "requests": {"memory": "128Mi"}}}],
            "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "t", "labelSelector": {"matchLabels": {"a": "b"}}}]}}}}"#;

    fn value(path: &[&str]) -> GoValue {
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let pod = pratique_json::parse(POD.as_bytes()).unwrap();
        let mut part = &pod;
        for name in path {
            part = match part {
                Value::Array(elements) => &elements[name.parse::<usize>().unwrap()],
                other => other.get(name).unwrap(),
            };
        }
        let part = match part {
            Value::Array(elements) => ObjectPart::List(elements),
            other => ObjectPart::Object(other.as_object().unwrap()),
        };
        go_value(Release::latest(), &kind, &pod, part, &Progress::unwatched()).unwrap()
    }

    #[track_caller]
    fn check(path: &[&str], type_name: &str, plain: &str) {
        let value = value(path);
        assert_eq!(
            (value.type_name.as_str(), value.plain.as_str()),
            (type_name, plain)
        );
    }

    #[test]
    fn structs_are_shown() {
        check(
            &["spec", "tolerations", "0"],
            "v1.Toleration",
            "{k Exists   <nil>}",
        );
        check(&["spec", "hostAliases"], "[]v1.HostAlias", "[{1.1.1.1 [a b]}]");
        check(&["metadata", "labels"], "map[string]string", "map[app:x]");
        check(
            &["spec", "containers", "0", "resources"],
            "v1.ResourceRequirements",
            "{map[cpu:{{1 0} {<nil>} 1 DecimalSI}] map[memory:{{134217728 0} {<nil>}  BinarySI}] []}",
        );
        check(
            &["spec", "containers", "0", "livenessProbe"],
            "v1.Probe",
            "{{nil &HTTPGetAction{Path:/x,Port:{0 8080 },Host:,Scheme:,HTTPHeaders:[]HTTPHeader{},Protocol:nil,} nil nil} \
             0 0 3 0 0 <nil>}",
        );
    }

    #[test]
    fn pointers_have_texts() {
        let volume = value(&["spec", "volumes", "0"]).plain;
        assert!(
            volume.starts_with("{v {nil &EmptyDirVolumeSource{Medium:Memory,SizeLimit:1Gi,Mode:nil,} nil "),
            "{volume}"
        );
        check(
            &["spec", "containers", "0", "env", "0"],
            "v1.EnvVar",
            "{S  &EnvVarSource{FieldRef:nil,ResourceFieldRef:nil,ConfigMapKeyRef:nil,SecretKeyRef:&SecretKeySelector{\
             LocalObjectReference:LocalObjectReference{Name:s,},Key:k,Optional:*true,},FileKeyRef:nil,}}",
        );
        check(
            &["spec", "affinity"],
            "v1.Affinity",
            "{nil &PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm{PodAffinityTerm{\
             LabelSelector:&v1.LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:\
             []LabelSelectorRequirement{},},Namespaces:[],TopologyKey:t,NamespaceSelector:nil,MatchLabelKeys:[],\
             MismatchLabelKeys:[],},},PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm{},} nil}",
        );
    }

    #[test]
    fn kinds_and_resources_have_their_own_texts() {
        let text = r#"{"uid": "u", "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
            "requestResource": {"group": "apps", "version": "v1", "resource": "deployments"}}"#;
        let kind = GroupVersionKind::new("admission.k8s.io", "v1", "AdmissionRequest");
        let request = pratique_json::parse(text.as_bytes()).unwrap();
        let plain = |field: &str| {
            let part = ObjectPart::Object(request.get(field).unwrap().as_object().unwrap());
            go_value(Release::latest(), &kind, &request, part, &Progress::unwatched())
                .unwrap()
                .plain
        };
        assert_eq!(plain("kind"), "apps/v1, Kind=Deployment");
        assert_eq!(plain("requestKind"), "/v1, Kind=Pod");
        assert_eq!(plain("resource"), "{apps v1 deployments}");
        let whole = ObjectPart::Object(request.as_object().unwrap());
        let whole = go_value(Release::latest(), &kind, &request, whole, &Progress::unwatched()).unwrap();
        let expected =
            "{u apps/v1, Kind=Deployment {apps v1 deployments}  /v1, Kind=Pod apps/v1, Resource=deployments ";
        assert!(whole.plain.starts_with(expected), "{}", whole.plain);
    }

    #[test]
    fn literals_are_shown() {
        let literal = |path: &[&str]| value(path).literal;
        assert_eq!(
            literal(&["spec", "hostAliases", "0"]),
            r#"v1.HostAlias{IP:"1.1.1.1", Hostnames:[]string{"a", "b"}}"#
        );
        assert_eq!(
            literal(&["spec", "tolerations", "0"]),
            r#"v1.Toleration{Key:"k", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}"#
        );
        assert_eq!(
            literal(&["metadata", "labels"]),
            r#"map[string]string{"app":"x"}"#
        );
    }
}
