//! Prints the webhook configurations of what is judged.

use std::fs;

use pratique::Live;
use pratique_json::base64;
use pratique_server::{Reached, Registration};
use pratique_suite::yaml;

use crate::arguments::RegistrationArguments;
use crate::exit::{Answer, Trouble};
use crate::output;

/// Prints them, as YAML.
pub(super) fn print(arguments: &RegistrationArguments, live: &Live) -> Result<Answer, Trouble> {
    let sets: Vec<_> = live.manifests().iter().map(|set| (**set).clone()).collect();
    let mut text = String::new();
    for object in registration(arguments)?.objects(&sets) {
        let bytes = object.to_string();
        let value =
            pratique_json::parse(bytes.as_bytes()).map_err(|error| Trouble::Serve(error.to_string()))?;
        text.push_str("---\n");
        text.push_str(&yaml::block(&value, 0));
    }
    output::answer(&text)?;
    Ok(Answer::Yes)
}

fn registration(arguments: &RegistrationArguments) -> Result<Registration, Trouble> {
    let ca_bundle = match &arguments.webhook_ca {
        Some(path) => base64::encode(&fs::read(path).map_err(|error| Trouble::Read {
            path: path.clone(),
            error,
        })?),
        None => String::new(),
    };
    let from = arguments.webhook_ca_from.clone();
    Ok(Registration {
        name: arguments.webhook_name.clone(),
        reached: reached(arguments),
        ca_bundle,
        annotations: from
            .map(|own| ("cert-manager.io/inject-ca-from".into(), own))
            .into_iter()
            .collect(),
        exempt: arguments.exempt_namespace.clone(),
        timeout: arguments.webhook_timeout,
    })
}

/// How API servers reach this server.
pub(super) fn reached(arguments: &RegistrationArguments) -> Reached {
    let service = &arguments.webhook_service;
    match &arguments.webhook_url {
        Some(url) => Reached::Url(url.clone()),
        None => Reached::Service {
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            port: service.port,
        },
    }
}
