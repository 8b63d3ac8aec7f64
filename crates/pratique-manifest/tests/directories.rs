//! Directories meant to hurt: what is in them loads, or a clear error says which entry does not and why.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that fails may stop"
)]

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_manifest::{LoadOptions, Loader, ManifestPlugin, UncheckedExpressions};

/// A directory that goes when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pratique-directory-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn entry(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Loads a directory and gives the number of objects, or the server's text with `$DIR` for the directory.
fn load(directory: &Path) -> Result<usize, String> {
    let options = LoadOptions::new(&UncheckedExpressions);
    let path = directory.to_str().unwrap();
    let loaded =
        Loader::for_plugin(ManifestPlugin::ValidatingAdmissionWebhook, &options).load_directory(path);
    loaded
        .map(|set| set.validating_webhooks.len())
        .map_err(|errors| errors.to_string().replace(path, "$DIR"))
}

#[track_caller]
fn check(make: impl FnOnce(&Directory), expected: Result<usize, &str>) {
    let directory = Directory::new();
    make(&directory);
    assert_eq!(load(&directory.0), expected.map_err(str::to_owned));
}

fn manifest(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: {name}}}\n"
    )
}

#[test]
fn ten_thousand_files() {
    let write = |directory: &Directory| {
        for number in 0..10_000 {
            let text = manifest(&format!("w{number}.static.k8s.io"));
            fs::write(directory.entry(&format!("{number:05}.yaml")), text).unwrap();
        }
    };
    check(write, Ok(10_000));
}

#[test]
fn entries_that_are_no_files() {
    check(
        |directory| {
            let made = Command::new("mkfifo").arg(directory.entry("pipe.yaml")).status();
            assert!(made.expect("mkfifo is there").success());
        },
        Err("failed to read file \"$DIR/pipe.yaml\": open $DIR/pipe.yaml: not a regular file"),
    );
    check(
        |directory| symlink("/dev/zero", directory.entry("zero.json")).unwrap(),
        Err("failed to read file \"$DIR/zero.json\": open $DIR/zero.json: not a regular file"),
    );
    check(
        |directory| drop(UnixListener::bind(directory.entry("socket.yml")).unwrap()),
        Err("failed to read file \"$DIR/socket.yml\": open $DIR/socket.yml: not a regular file"),
    );
    check(
        |directory| {
            fs::create_dir(directory.entry("nested.yaml")).unwrap();
            fs::write(directory.entry("a.yaml"), manifest("a.static.k8s.io")).unwrap();
        },
        Ok(1),
    );
}

#[test]
fn links() {
    check(
        |directory| {
            symlink(directory.entry("b.yaml"), directory.entry("a.yaml")).unwrap();
            symlink(directory.entry("a.yaml"), directory.entry("b.yaml")).unwrap();
        },
        Err("failed to read file \"$DIR/a.yaml\": open $DIR/a.yaml: too many levels of symbolic links"),
    );
    check(
        |directory| symlink(&directory.0, directory.entry("self.yaml")).unwrap(),
        Err("failed to read file \"$DIR/self.yaml\": read $DIR/self.yaml: is a directory"),
    );
    // As a file that is removed between listing and reading.
    check(
        |directory| symlink(directory.entry("gone"), directory.entry("a.yaml")).unwrap(),
        Err("failed to read file \"$DIR/a.yaml\": open $DIR/a.yaml: no such file or directory"),
    );
    check(
        |directory| {
            fs::write(directory.entry("data"), manifest("a.static.k8s.io")).unwrap();
            symlink("data", directory.entry("a.yaml")).unwrap();
        },
        Ok(1),
    );
}

#[test]
fn files_without_permission() {
    let directory = Directory::new();
    let path = directory.entry("a.yaml");
    fs::write(&path, manifest("a.static.k8s.io")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let expected = match File::open(&path) {
        // Nothing is forbidden to root.
        Ok(_) => Ok(1),
        Err(_) => Err("failed to read file \"$DIR/a.yaml\": open $DIR/a.yaml: permission denied".to_owned()),
    };
    assert_eq!(load(&directory.0), expected);
}

#[test]
fn files_without_end() {
    check(
        |directory| {
            let file = File::create(directory.entry("a.yaml")).unwrap();
            file.set_len(1 << 40).unwrap();
        },
        Err("failed to read file \"$DIR/a.yaml\": read $DIR/a.yaml: larger than 96 MiB"),
    );
}

#[test]
fn directories_that_are_none() {
    let directory = Directory::new();
    let file = directory.entry("file");
    fs::write(&file, "").unwrap();
    for (path, expected) in [
        (
            file,
            "failed to read manifest directory \"$DIR\": open $DIR: not a directory",
        ),
        (
            directory.entry("gone"),
            "failed to read manifest directory \"$DIR\": open $DIR: no such file or directory",
        ),
    ] {
        assert_eq!(load(&path), Err(expected.to_owned()));
    }
}

#[test]
fn objects_without_texts_are_the_same() {
    let policy_and_binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: a.static.k8s.io}\nspec:\n  matchConstraints:\n    resourceRules: \
        [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
        validations: [{expression: 'true'}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
        metadata: {name: b.static.k8s.io}\nspec: {policyName: POLICY, validationActions: [Deny]}\n";
    let options = LoadOptions::new(&UncheckedExpressions);
    for (policy, loads) in [("a.static.k8s.io", true), ("other.static.k8s.io", false)] {
        let directory = Directory::new();
        let text = policy_and_binding.replace("POLICY", policy);
        fs::write(directory.entry("a.yaml"), text).unwrap();
        let path = directory.0.to_str().unwrap();
        let kept =
            Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options).load_directory(path);
        let bare = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options)
            .without_texts()
            .load_directory(path);
        match (kept, bare) {
            (Ok(kept), Ok(bare)) => {
                assert!(loads);
                assert_eq!(kept.hash, bare.hash);
                let [kept, bare] = [kept, bare].map(|mut set| set.validating_bindings.remove(0));
                assert_eq!(kept.object, bare.object);
                assert_eq!(bare.source.document().as_str(), "");
                let root = Vec::new();
                assert_eq!(kept.source.locate(&root).start, bare.source.locate(&root).start);
            }
            (Err(kept), Err(bare)) => {
                assert!(!loads, "{kept}");
                assert_eq!(format!("{kept:?}"), format!("{bare:?}"));
            }
            (kept, bare) => panic!("{kept:?} {bare:?}"),
        }
    }
}
