//! Fields of pods and their templates behind feature gates that are off.
// Upstream: pkg/api/pod/util.go, dropDisabledFields

use pratique_json::Value;

use crate::object::{self, Path};

/// The lists of containers.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Drops fields of the pod or template at `path` behind gates that are off, unless the old object uses them.
pub(crate) fn drop_disabled(object: &mut Value<'static>, old: Option<&Value<'static>>, path: Path<'_>) {
    let old = old.and_then(|old| old.at(path)).and_then(|of| of.get("spec"));
    let Some(spec) = object::at_mut(object, path).and_then(|of| of.get_mut("spec")) else {
        return;
    };
    if !old.is_some_and(|old| object::has(old, &["schedulingGroup"])) {
        object::remove(spec, &["schedulingGroup"]);
    }
    for source in ["clusterTrustBundle", "podCertificate"] {
        if !old.is_some_and(|old| projects(old, source)) {
            drop_projection(spec, source);
        }
    }
    if !old.is_some_and(stops_by_signal) {
        drop_stop_signals(spec);
    }
}

fn projects(spec: &Value<'static>, source: &str) -> bool {
    let volumes = object::list(spec, &["volumes"]).iter();
    let mut sources = volumes.flat_map(|volume| object::list(volume, &["projected", "sources"]));
    sources.any(|of| object::has(of, &[source]))
}

fn drop_projection(spec: &mut Value<'static>, source: &str) {
    for volume in object::list_mut(spec, &["volumes"]) {
        for of in object::list_mut(volume, &["projected", "sources"]) {
            object::remove(of, &[source]);
        }
    }
}

const STOP_SIGNAL: Path<'static> = &["lifecycle", "stopSignal"];

fn stops_by_signal(spec: &Value<'static>) -> bool {
    let mut containers = CONTAINERS.iter().flat_map(|list| object::list(spec, &[list]));
    containers.any(|container| object::has(container, STOP_SIGNAL))
}

fn drop_stop_signals(spec: &mut Value<'static>) {
    for list in CONTAINERS {
        for container in object::list_mut(spec, &[list]) {
            if object::remove(container, STOP_SIGNAL).is_some() {
                object::remove_if_empty(container, &["lifecycle"]);
            }
        }
    }
}
