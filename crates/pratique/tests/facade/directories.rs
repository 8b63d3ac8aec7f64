//! Directories that change while requests are evaluated: the last valid set stays, and observers get the reason.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pratique::FeatureGates;
use pratique::live::{AdmissionObserver, DirectoryReload, ReloadResult};
use pratique::manifest::ManifestPlugin;
use pratique::observer::AdmissionPhases;
use pratique::{Admission, BuildError, Live, StartError};

use crate::world::{configmap_in_shop, mutating_policy, run, validating_policy};

/// Records the results of reloads.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<String>>>);

impl AdmissionObserver for Memory {
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        let told = match reload.result {
            ReloadResult::Loaded { hash } => format!("loaded {}", hash.get(..7).unwrap_or("nothing")),
            ReloadResult::Unchanged => return,
            ReloadResult::Failed { reason } => format!("failed {}", reason.split(':').next().unwrap()),
        };
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {told}", reload.plugin.name()));
    }
}

/// More than the steps in which file systems record times.
const TICK: Duration = Duration::from_millis(20);

/// Replaces a file atomically. Its times show that it was renamed after it was written: it is not waited for, as a file that may have
/// been rewritten in place is.
pub(crate) fn put(directory: &Path, name: &str, text: &str) {
    let aside = directory.join(format!("{name}.aside"));
    fs::write(&aside, text).unwrap();
    std::thread::sleep(TICK);
    fs::rename(aside, directory.join(name)).unwrap();
}

#[track_caller]
pub(crate) fn wait(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Follows a directory of validating policies.
fn watch(path: &Path, observer: impl AdmissionObserver + 'static) -> Live {
    Admission::builder()
        .directory(path.to_str().unwrap(), ManifestPlugin::ValidatingAdmissionPolicy)
        .live()
        .observer(observer)
        .start()
        .unwrap()
}

fn code(live: &Live) -> i32 {
    let response = run(live.review(&configmap_in_shop(""), AdmissionPhases::Both)).unwrap();
    response.result.map_or(200, |status| status.code)
}

#[test]
fn the_last_good_set_serves() {
    let directory = tempfile::tempdir().unwrap();
    let (path, name) = (directory.path(), "p.yaml");
    put(path, name, &validating_policy("p.static.k8s.io", "true"));
    let memory = Memory::default();
    let live = watch(path, memory.clone());
    let told = |count: usize| memory.0.lock().unwrap().len() >= count;
    assert_eq!(code(&live), 200);
    put(path, name, &validating_policy("p.static.k8s.io", "false"));
    wait("a change", || code(&live) == 422);
    put(path, name, "kind: [");
    wait("a failure", || told(3));
    assert_eq!(code(&live), 422);
    fs::remove_file(path.join(name)).unwrap();
    wait("nothing", || code(&live) == 200);
    // What has changed is told a moment after it serves.
    wait("the telling", || told(4));
    live.stop();
    put(path, name, &validating_policy("p.static.k8s.io", "false"));
    let told = memory.0.lock().unwrap();
    let plugin = "ValidatingAdmissionPolicy";
    let expected = [
        "loaded sha256:",
        "loaded sha256:",
        "failed error loading ",
        "loaded nothing",
    ];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(&format!("{plugin} {expected}")), "{told}");
    }
}

/// A file that is rewritten in place is empty for a while, and then ends after one document or another.
#[test]
fn slow_writers_let_nothing_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let text = |round: usize| {
        let allows = validating_policy("a.static.k8s.io", &format!("{round} >= 0"));
        [allows, validating_policy("p.static.k8s.io", "false")].join("\n---\n")
    };
    put(path, "p.yaml", &text(10));
    let memory = Memory::default();
    let live = watch(path, memory.clone());
    assert_eq!(code(&live), 422);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 11..41 {
                let mut file = fs::File::create(path.join("p.yaml")).unwrap();
                std::thread::sleep(Duration::from_millis(30));
                for document in text(round).split_inclusive("---\n") {
                    file.write_all(document.as_bytes()).unwrap();
                    std::thread::sleep(Duration::from_millis(30));
                }
            }
            over.store(true, Ordering::Release);
        });
        while !over.load(Ordering::Acquire) && !writer.is_finished() {
            assert_eq!(code(&live), 422);
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    wait("what was written last", || {
        let heard = memory.0.lock().unwrap();
        heard.iter().filter(|told| told.contains("loaded")).count() > 1
    });
    assert_eq!(code(&live), 422);
    // A policy that is taken away in place goes, but not at once.
    let began = Instant::now();
    fs::write(
        path.join("p.yaml"),
        validating_policy("a.static.k8s.io", "10 >= 0"),
    )
    .unwrap();
    wait("the policy is gone", || code(&live) == 200);
    assert!(began.elapsed() > Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn each_plugin_has_its_own_last_good_set() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(
        first.path(),
        "m.yaml",
        &mutating_policy("m.static.k8s.io", "m", "Never"),
    );
    put(
        second.path(),
        "v.yaml",
        &validating_policy("v.static.k8s.io", "object.data.trail == 'm'"),
    );
    let memory = Memory::default();
    let live = Admission::builder()
        .directory(
            first.path().to_str().unwrap(),
            ManifestPlugin::MutatingAdmissionPolicy,
        )
        .directory(
            second.path().to_str().unwrap(),
            ManifestPlugin::ValidatingAdmissionPolicy,
        )
        .live()
        .observer(memory.clone())
        .start()
        .unwrap();
    assert_eq!(code(&live), 200);
    put(second.path(), "v.yaml", "{");
    wait("a failure", || memory.0.lock().unwrap().len() > 2);
    put(
        first.path(),
        "m.yaml",
        &mutating_policy("m.static.k8s.io", "n", "Never"),
    );
    wait("a change of the other", || code(&live) == 422);
}

#[test]
fn what_does_not_load_does_not_start() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    put(
        directory.path(),
        "p.yaml",
        &validating_policy("p.static.k8s.io", "true"),
    );
    let builder = Admission::builder()
        .directory(path, ManifestPlugin::ValidatingAdmissionPolicy)
        .load()
        .unwrap();
    // It was good when it was loaded, and is not when it starts.
    put(directory.path(), "p.yaml", &validating_policy("p", "true"));
    let error = builder.live().start().unwrap_err();
    assert!(matches!(error, StartError::Load(_)), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("must have a name ending with \".static.k8s.io\""),
        "{error}"
    );
    let builder = Admission::builder().directory(path, ManifestPlugin::ValidatingAdmissionPolicy);
    assert!(matches!(builder.build(), Err(BuildError::Load(_))));
    let builder = Admission::builder().directory(path, ManifestPlugin::ValidatingAdmissionPolicy);
    assert!(matches!(builder.live().start(), Err(StartError::Load(_))));
}

#[test]
fn a_configuration_names_what_is_watched() {
    let directory = tempfile::tempdir().unwrap();
    let policies = directory.path().join("policies");
    fs::create_dir(&policies).unwrap();
    put(&policies, "p.yaml", &validating_policy("p.static.k8s.io", "true"));
    let configuration = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: ValidatingAdmissionPolicy\n  configuration:\n    \
         apiVersion: apiserver.config.k8s.io/v1\n    kind: ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: {}\n",
        policies.display()
    );
    put(directory.path(), "admission.yaml", &configuration);
    let path = directory.path().join("admission.yaml");
    let builder = Admission::builder().configuration(path.to_str().unwrap());
    let live = builder.live().start().unwrap();
    assert_eq!(code(&live), 200);
    put(
        &policies,
        "q.yaml",
        &validating_policy("q.static.k8s.io", "false"),
    );
    wait("a change", || code(&live) == 422);
    // Whatever the order of calls.
    let without = Admission::builder()
        .configuration(path.to_str().unwrap())
        .feature_gates(FeatureGates::default().with("ManifestBasedAdmissionControlConfig", false));
    let error = without.build().unwrap_err();
    assert!(error.load_errors().is_some());
    let error = error.to_string();
    assert!(error.contains("Forbidden"), "{error}");
}

#[test]
fn metrics_and_audit_hear_of_everything() {
    let directory = tempfile::tempdir().unwrap();
    let (policies, log) = (
        directory.path().join("policies"),
        directory.path().join("audit.log"),
    );
    fs::create_dir(&policies).unwrap();
    let conditions =
        "  matchConditions: [{name: c, expression: \"object.kind == 'ConfigMap'\"}]\n  validations:";
    let policy = validating_policy("p.static.k8s.io", "false").replace("  validations:", conditions);
    put(&policies, "p.yaml", &policy);
    let metrics = pratique_metrics::Metrics::new("server");
    let target = pratique_audit::Target::File(log.clone());
    let audit = pratique_audit::Log::start(pratique_audit::LogOptions::new(
        target,
        pratique_audit::Level::Metadata,
    ));
    let live = Admission::builder()
        .directory(
            policies.to_str().unwrap(),
            ManifestPlugin::ValidatingAdmissionPolicy,
        )
        .live()
        .observer(metrics.clone())
        .observer(audit.unwrap())
        .start()
        .unwrap();
    assert_eq!(code(&live), 422);
    put(&policies, "p.yaml", "{");
    wait("a failure", || {
        metrics.to_text().contains("status=\"failure\"} 1")
    });
    let text = metrics.to_text();
    for expected in [
        "automatic_reloads_total{apiserver_id_hash=\"sha256:b3eacd33433b31b5252351032c9b3e7a2e7aa7738d5decdf0dd6c62680853c06\",plugin=\"ValidatingAdmissionPolicy\",status=\"success\"} 1",
        "apiserver_validating_admission_policy_check_total{enforcement_action=\"deny\",error_type=\"invalid_error\",policy=\"p.static.k8s.io\",policy_binding=\"p.static.k8s.io\"} 1",
        "apiserver_admission_match_condition_evaluation_seconds_count{kind=\"policy\",name=\"p.static.k8s.io\",operation=\"CREATE\",type=\"validate\"} 1",
        "apiserver_admission_controller_admission_duration_seconds_count{name=\"ValidatingAdmissionPolicy\",operation=\"CREATE\",rejected=\"true\",type=\"validate\"} 1",
        "apiserver_admission_step_admission_duration_seconds_count{operation=\"CREATE\",rejected=\"false\",type=\"admit\"} 1",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let watched = format!(
        "pratique_manifest_directory_watched{{directory=\"{}\",plugin=\"ValidatingAdmissionPolicy\"}} 1",
        policies.display()
    );
    assert!(text.contains(&watched), "{watched}\n{text}");
    drop(live);
    let event = fs::read_to_string(log).unwrap();
    assert!(
        event.contains("\"code\":422") && event.lines().count() == 1,
        "{event}"
    );
}

/// Panics when it has been told so many times.
#[derive(Clone, Default)]
struct Panicking {
    reloads: Arc<Mutex<u32>>,
    compilations: Arc<Mutex<u32>>,
}

fn count_down(left: &Mutex<u32>) {
    let mut left = left.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if *left > 0 {
        *left -= 1;
        assert_ne!(*left, 0, "told to");
    }
}

impl AdmissionObserver for Panicking {
    fn reloaded(&self, _: &DirectoryReload<'_>) {
        count_down(&self.reloads);
    }

    fn compiled(&self, _: &[Duration]) {
        count_down(&self.compilations);
    }
}

#[test]
fn threads_that_die_are_noticed() {
    for task in ["watch", "reload"] {
        let directory = tempfile::tempdir().unwrap();
        let (path, name) = (directory.path(), "p.yaml");
        put(path, name, &validating_policy("p.static.k8s.io", "true"));
        let panicking = Panicking::default();
        let live = watch(path, panicking.clone());
        assert_eq!(live.ended_tasks(), [""; 0]);
        match task {
            "watch" => *panicking.reloads.lock().unwrap() = 1,
            _ => *panicking.compilations.lock().unwrap() = 1,
        }
        put(path, name, &validating_policy("p.static.k8s.io", "false"));
        wait("a thread dies", || !live.ended_tasks().is_empty());
        assert_eq!(live.ended_tasks(), [task]);
        assert!(live.is_ready(), "requests are answered as before");
        // The new set may be in effect or not, but there is an answer.
        assert!([200, 422].contains(&code(&live)));
        live.stop();
        assert_eq!(live.ended_tasks(), [""; 0]);
    }
}

/// A system may have no more watches to give. Then the poll finds changes, and the metric tells.
#[test]
#[cfg(target_os = "linux")]
fn without_watches_the_poll_finds_changes() {
    if !is_without_watches("directories::without_watches_the_poll_finds_changes") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    put(path, "p.yaml", &validating_policy("p.static.k8s.io", "false"));
    let metrics = pratique_metrics::Metrics::new("");
    let live = Admission::builder()
        .directory(path.to_str().unwrap(), ManifestPlugin::ValidatingAdmissionPolicy)
        .live()
        .watching(pratique_watch::WatchOptions {
            poll_interval: Duration::from_millis(50),
            ..Default::default()
        })
        .observer(metrics.clone())
        .start()
        .unwrap();
    let watched = format!(
        "pratique_manifest_directory_watched{{directory=\"{}\",plugin=\"ValidatingAdmissionPolicy\"}} 0",
        path.display()
    );
    let text = metrics.to_text();
    assert!(text.contains(&watched), "{watched}\n{text}");
    assert_eq!(code(&live), 422);
    put(path, "p.yaml", &validating_policy("p.static.k8s.io", "true"));
    wait("a change that nothing tells of", || code(&live) == 200);
}

/// Whether this process has no inotify instances; if not, the test is run in one that has none: in a user namespace of its
/// own, so that others keep theirs.
#[cfg(target_os = "linux")]
fn is_without_watches(test: &str) -> bool {
    use std::process::Command;

    const AGAIN: &str = "PRATIQUE_TEST_WITHOUT_WATCHES";
    const LIMIT: &str = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"";
    if std::env::var_os(AGAIN).is_some() {
        return true;
    }
    let limited = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", LIMIT]).arg(program);
        command
    };
    match limited(Path::new("true")).output() {
        Ok(output) if output.status.success() => {
            let this = std::env::current_exe().unwrap();
            let run = limited(&this)
                .args(["--exact", test])
                .env(AGAIN, "")
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && told.contains("1 passed"), "{told}");
        }
        Ok(output) => eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: no user namespaces: {error}"),
    }
    false
}
