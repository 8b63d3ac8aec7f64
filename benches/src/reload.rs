//! A directory that changes: `pratique-benches reload [-n TIMES] POLICIES`.
//!
//! One file of a directory of so many policies, a file each, is renamed over again and again; the time goes from the
//! rename to the first request that is judged by the new policy. Prints one line of JSON: the nanoseconds of each time, and
//! those that judging a request takes meanwhile.

use std::fs;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use pratique::manifest::Plugin;
use pratique::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
use pratique::{Admission, Live};
use serde_json::json;

/// Reloads as often as the arguments say.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let number = |text: &String| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    let (times, policies) = match arguments {
        [policies] => (100, number(policies)?),
        [flag, times, policies] if flag == "-n" => (number(times)?, number(policies)?),
        _ => return Err("usage: pratique-benches reload [-n TIMES] POLICIES".to_owned()),
    };
    let directory = std::env::temp_dir().join(format!("pratique-reload-{}", std::process::id()));
    let measured = measure(&directory, times, policies.max(1));
    fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    println!("{}", measured?);
    Ok(())
}

fn measure(directory: &Path, times: usize, policies: usize) -> Result<serde_json::Value, String> {
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(directory).map_err(text)?;
    for index in 0..policies {
        put(directory, index, "0").map_err(text)?;
    }
    let path = directory.to_string_lossy();
    let builder = Admission::builder()
        .directory(&path, Plugin::ValidatingAdmissionPolicy)
        .map_err(|errors| errors.to_string())?;
    let live = builder.live().start().map_err(|error| error.to_string())?;
    let request = request();
    let (mut reloads, mut requests) = (Vec::new(), Vec::new());
    for time in 1..=times {
        let mark = time.to_string();
        std::thread::sleep(Duration::from_millis(20));
        let began = Instant::now();
        put(directory, time % policies, &mark).map_err(text)?;
        loop {
            let asked = Instant::now();
            let message = judge(&live, &request)?;
            requests.push(nanos(asked));
            if message.contains(&format!("mark {mark}.")) {
                break;
            }
        }
        reloads.push(nanos(began));
        put(directory, time % policies, "0").map_err(text)?;
    }
    requests.sort_unstable();
    let at = |share: usize| requests.get(requests.len() * share / 100).copied();
    Ok(json!({"policies": policies, "nanos": reloads, "request_p50": at(50), "request_p99": at(99)}))
}

fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The message of the first policy that denies.
fn judge(live: &Live, request: &AdmissionRequest<'_>) -> Result<String, String> {
    let mut context = Context::from_waker(Waker::noop());
    let outcome = match pin!(live.admit(request)).poll(&mut context) {
        Poll::Ready(outcome) => outcome.map_err(|error| error.to_string())?,
        Poll::Pending => return Err("it waits".to_owned()),
    };
    Ok(outcome.status.map(|status| status.message).unwrap_or_default())
}

/// Renames a policy over the one of before: one that denies with its mark, or with 0 one that does not.
fn put(directory: &Path, index: usize, mark: &str) -> std::io::Result<()> {
    let name = format!("policy-{index:04}.static.k8s.io");
    let head = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy";
    let manifest = format!(
        "{head}\nmetadata: {{name: {name}}}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}}\n\
         \u{20} variables:\n  - {{name: labels, expression: 'has(object.metadata.labels) ? object.metadata.labels : {{}}'}}\n  validations:\n\
         \u{20} - {{expression: \"'policy-{index}' in variables.labels || '{mark}' == '0'\", message: mark {mark}.}}\n\
         \u{20} - {{expression: \"size(object.metadata.name) < 64 && object.metadata.name.matches('^[a-z]+$')\"}}\n---\n\
         {head}Binding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}, validationActions: [Deny]}}\n"
    );
    let aside = directory.join(format!(".{name}.aside"));
    fs::write(&aside, manifest)?;
    fs::rename(aside, directory.join(format!("{name}.yaml")))
}

fn request() -> AdmissionRequest<'static> {
    let object = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}"#;
    AdmissionRequest {
        kind: GroupVersionKind::new("", "v1", "ConfigMap"),
        resource: GroupVersionResource::new("", "v1", "configmaps"),
        name: "c".to_owned(),
        object: pratique_json::parse(object.as_bytes())
            .map(pratique_json::Value::into_owned)
            .unwrap_or_default(),
        ..AdmissionRequest::default()
    }
}
