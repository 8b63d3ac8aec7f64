//! `certificates`.

use pratique_json::{Object, Value};

use super::field::{absent, empty};
use super::{Context, Function};

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "CertificateSigningRequestCondition" => |object, _| empty(object, "status", "True"),
        "CertificateSigningRequestSpec" => request,
        _ => return None,
    })
}

fn request(object: &mut Object<'_>, _: &Context<'_>) {
    let usages = vec![Value::from("digital signature"), Value::from("key encipherment")];
    absent(object, "usages", usages);
    absent(object, "signerName", "kubernetes.io/legacy-unknown");
}
