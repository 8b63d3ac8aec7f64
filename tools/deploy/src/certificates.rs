//! Whether certificates are for those who are asked, and come from whom they name.

use super::objects::{Object, items, named, of_kind, text};

/// What is wrong with certificates.
pub(super) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for certificate in of_kind(objects, "Certificate") {
        let issuer = certificate.text("/spec/issuerRef/name");
        let is_here = certificate.text("/spec/issuerRef/kind") == "Issuer";
        if is_here && named(objects, "Issuer", certificate.namespace(), issuer).is_none() {
            faults.push(format!("{certificate}: there is no issuer {issuer}"));
        }
    }
    for issuer in of_kind(objects, "Issuer") {
        let secret = issuer.text("/spec/ca/secretName");
        if !secret.is_empty() && certificate(objects, issuer.namespace(), secret).is_none() {
            faults.push(format!("{issuer}: no certificate makes the Secret {secret}"));
        }
    }
    for service in of_kind(objects, "Service") {
        let name = format!("{}.{}.svc", service.name(), service.namespace());
        faults.extend(of_service(&name, service.namespace(), objects));
    }
    faults
}

/// The certificate that is kept in a Secret.
pub(super) fn certificate<'o>(objects: &'o [Object], namespace: &str, secret: &str) -> Option<&'o Object> {
    of_kind(objects, "Certificate").find(|certificate| {
        certificate.namespace() == namespace && certificate.text("/spec/secretName") == secret
    })
}

/// The certificate of the Pods of a service is for its name, and clients verify that name.
fn of_service(name: &str, namespace: &str, objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for deployment in of_kind(objects, "Deployment") {
        for volume in items(deployment.part("/spec/template/spec/volumes")) {
            let Some(certificate) = certificate(objects, namespace, text(volume, "/secret/secretName"))
            else {
                continue;
            };
            if !items(certificate.part("/spec/dnsNames"))
                .iter()
                .any(|dns_name| dns_name == name)
            {
                faults.push(format!("{certificate}: it is not for {name}"));
            }
        }
    }
    for monitor in of_kind(objects, "ServiceMonitor") {
        let endpoints = items(monitor.part("/spec/endpoints"));
        if endpoints
            .iter()
            .any(|endpoint| text(endpoint, "/tlsConfig/serverName") != name)
        {
            faults.push(format!("{monitor}: the server is {name}"));
        }
    }
    faults
}
