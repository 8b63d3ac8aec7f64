//! Mutations as policies have them: labels, annotations, containers beside others, defaults that an owner wants.

use serde_json::{Value, json};

/// One mutation by server-side apply; the number says of which kind.
pub(super) fn apply(index: usize) -> Value {
    let text = match index % 4 {
        0 => format!(
            "Object{{spec: Object.spec{{containers: [Object.spec.containers{{name: 'agent-{index}', \
             image: 'registry.shop.example/agent:{index}', imagePullPolicy: 'IfNotPresent'}}]}}}}"
        ),
        1 => {
            format!("Object{{metadata: Object.metadata{{labels: {{'unit-{index}': object.metadata.name}}}}}}")
        }
        2 => format!(
            "Object{{spec: Object.spec{{containers: object.spec.containers.map(c, \
             Object.spec.containers{{name: c.name, imagePullPolicy: has(c.imagePullPolicy) && {index} < 0 ? 'Never' : 'Always'}})}}}}"
        ),
        _ => format!(
            "Object{{metadata: Object.metadata{{annotations: {{'unit-{index}.example.com/of': request.userInfo.username}}}}, \
             spec: Object.spec{{nodeSelector: {{'unit-{index}': 'yes'}}}}}}"
        ),
    };
    spec(json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}))
}

/// One mutation by JSON Patch.
pub(super) fn patch(index: usize) -> Value {
    let text = match index % 4 {
        0 => format!(
            "[JSONPatch{{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{{name: 'agent-{index}', \
             image: 'registry.shop.example/agent:{index}', imagePullPolicy: 'IfNotPresent'}}}}]"
        ),
        1 => format!(
            "[JSONPatch{{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('unit-{index}'), value: object.metadata.name}}]"
        ),
        2 => format!(
            "[JSONPatch{{op: 'test', path: '/spec/restartPolicy', value: object.spec.restartPolicy}}, \
             JSONPatch{{op: 'replace', path: '/spec/terminationGracePeriodSeconds', value: {}}}]",
            10 + index
        ),
        _ => format!(
            "has(object.metadata.annotations) ? [JSONPatch{{op: 'add', path: '/metadata/annotations/' + \
             jsonpatch.escapeKey('unit-{index}.example.com/of'), value: request.userInfo.username}}] : []"
        ),
    };
    spec(json!({"patchType": "JSONPatch", "jsonPatch": {"expression": text}}))
}

fn spec(mutation: Value) -> Value {
    json!({"reinvocationPolicy": "Never", "mutations": [mutation]})
}
