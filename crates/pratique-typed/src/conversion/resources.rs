//! Devices of `resource.k8s.io`. The hub is `v1`, which `v1beta2` equals.

use pratique_json::{Object, Value};
use pratique_schema::{Field, Presence, Schema};

use super::{ApiVersion, ConversionError, ConversionFamily, is_v1beta1, part, parts, put, take};

pub(super) const CLAIM: ConversionFamily = ConversionFamily::new(
    is_v1beta1,
    |version, claim| requests(version, claim, &["spec"], gather),
    |version, claim| requests(version, claim, &["spec"], spread),
);
pub(super) const CLAIM_TEMPLATE: ConversionFamily = ConversionFamily::new(
    is_v1beta1,
    |version, template| requests(version, template, &["spec", "spec"], gather),
    |version, template| requests(version, template, &["spec", "spec"], spread),
);
pub(super) const SLICE: ConversionFamily = ConversionFamily::new(is_v1beta1, slice_to_hub, slice_from_hub);

/// Changes the requests of a claim whose spec is at a path.
fn requests(
    version: ApiVersion<'_>,
    object: &mut Object<'_>,
    spec: &[&str],
    change: fn(&'static Schema, &mut Object<'_>),
) -> Result<(), ConversionError> {
    let of_spec = spec.iter().try_fold(object, |object, field| part(object, field));
    let devices = of_spec.and_then(|spec| part(spec, "devices"));
    if let Some(devices) = devices {
        let schema = version.release.schema();
        parts(devices, "requests").for_each(|request| change(schema, request));
    }
    Ok(())
}

/// The fields that a request for devices has itself in `v1beta1`, and in its member `exactly` in other
/// versions.
fn fields_of_exactly(schema: &'static Schema) -> impl Iterator<Item = &'static Field> {
    let of = schema.named("resource/v1.ExactDeviceRequest");
    of.into_iter().flat_map(|of| schema.get(of).fields.iter())
}

fn gather(schema: &'static Schema, request: &mut Object<'_>) {
    let mut exactly = Object::new();
    for field in fields_of_exactly(schema) {
        let is_optional = field.presence == Presence::UnlessNull;
        let value = take(request, field.name).filter(|value| is_optional || !value.is_empty());
        put(&mut exactly, field.name, value);
    }
    if !exactly.is_empty() {
        request.insert("exactly", exactly);
    }
}

fn spread(schema: &'static Schema, request: &mut Object<'_>) {
    if let Some(Value::Object(mut exactly)) = request.remove("exactly") {
        for field in fields_of_exactly(schema) {
            put(request, field.name, take(&mut exactly, field.name));
        }
    }
}

fn slice_to_hub(_: ApiVersion<'_>, slice: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(slice, "spec") {
        for device in parts(spec, "devices") {
            if let Some(Value::Object(mut basic)) = device.remove("basic") {
                basic.insert("name", device.remove("name").unwrap_or_default());
                *device = basic;
            }
        }
        // Other versions leave out their zero values.
        for field in ["allNodes", "nodeName"] {
            if spec.get(field).is_some_and(Value::is_empty) {
                spec.remove(field);
            }
        }
    }
    Ok(())
}

fn slice_from_hub(_: ApiVersion<'_>, slice: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(slice, "spec") {
        for device in parts(spec, "devices") {
            let name = device.remove("name");
            let basic = std::mem::take(device);
            put(device, "name", name);
            device.insert("basic", basic);
        }
    }
    Ok(())
}
