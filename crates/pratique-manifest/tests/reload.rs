//! Loading a directory again: the same as loading it for the first time, but for the work.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique_manifest::{
    Declarations, ExpressionCompiler, ExpressionError, ExpressionUse, LoadOptions, Loader, ManifestPlugin,
    ManifestSet, PolicyExpressions, Reloader, UncheckedExpressions,
};
use tempfile::TempDir;

const PLUGIN: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

fn policy(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}.static.k8s.io}}\n\
         spec:\n  matchConstraints:\n    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]\n  \
         validations: [{{expression: 'true'}}]\n"
    )
}

fn binding(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
         metadata: {{name: {name}.static.k8s.io}}\nspec: {{policyName: {name}.static.k8s.io, validationActions: [Deny]}}\n"
    )
}

/// A directory, loaded anew and again, which must come to the same.
struct Directory {
    root: TempDir,
    reloader: Reloader,
    compiler: Counting,
}

impl Directory {
    fn new() -> Self {
        Directory {
            root: TempDir::new().unwrap(),
            reloader: Reloader::new(PLUGIN),
            compiler: Counting(AtomicUsize::new(0)),
        }
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.root.path().join(name), text).unwrap();
        self
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.root.path().join(name)).unwrap();
    }

    /// Loads, having so many policies compiled.
    #[track_caller]
    fn check(&mut self, compiled: usize) -> Option<ManifestSet> {
        let path = self.root.path().to_str().unwrap();
        let options = LoadOptions::new(&UncheckedExpressions);
        let expected = Loader::for_plugin(PLUGIN, &options).load_directory(path);
        self.compiler.0.store(0, Ordering::Relaxed);
        let options = LoadOptions::new(&self.compiler);
        let loaded = self.reloader.load(path, None, &options).map(Option::unwrap);
        assert_eq!(self.compiler.0.load(Ordering::Relaxed), compiled);
        match (loaded, expected) {
            (Ok(loaded), Ok(expected)) => {
                assert_eq!(loaded.hash, expected.hash);
                assert_eq!(shown(&loaded), shown(&expected));
                Some(loaded)
            }
            (loaded, expected) => {
                assert_eq!(loaded.unwrap_err(), expected.unwrap_err());
                None
            }
        }
    }
}

fn shown(set: &ManifestSet) -> Vec<String> {
    let policies = set.validating_policies.iter().map(|policy| {
        let location = policy.source.locate(&[]);
        format!("{} {:?} {:?}", location.file, location.start, policy.object)
    });
    let bindings = set
        .validating_bindings
        .iter()
        .map(|policy| format!("{:?}", policy.object));
    policies.chain(bindings).collect()
}

/// Counts the policies whose expressions it is asked for.
struct Counting(AtomicUsize);

impl ExpressionCompiler for Counting {
    fn begin(&self) -> Box<dyn PolicyExpressions + '_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::new(All)
    }
}

struct All;

impl PolicyExpressions for All {
    fn compile(&mut self, _: &str, _: ExpressionUse<'_>, _: Declarations) -> Result<(), ExpressionError> {
        Ok(())
    }
}

#[test]
fn what_did_not_change_is_the_same() {
    let mut directory = Directory::new();
    directory
        .write("a.yaml", &policy("a"))
        .write("b.yaml", &policy("b"))
        .write("c.yaml", &binding("a"));
    let first = directory.check(2).unwrap();
    directory.write("b.yaml", &policy("other"));
    let second = directory.check(1).unwrap();
    let objects = [&first, &second].map(|set| Arc::clone(&set.validating_policies[0].object));
    assert!(Arc::ptr_eq(&objects[0], &objects[1]));
    directory.remove("b.yaml");
    directory.check(0).unwrap();
}

#[test]
fn the_hash_in_use_is_not_loaded() {
    let mut directory = Directory::new();
    directory.write("a.yaml", &policy("a"));
    let hash = directory.check(1).unwrap().hash;
    let path = directory.root.path().to_str().unwrap();
    let options = LoadOptions::new(&UncheckedExpressions);
    let again = directory.reloader.load(path, Some(&hash), &options).unwrap();
    assert!(again.is_none());
    let other = directory.reloader.load(path, Some("other"), &options).unwrap();
    assert_eq!(other.unwrap().hash, hash);
}

#[test]
fn faults_are_those_of_the_first_time() {
    let mut directory = Directory::new();
    directory
        .write("b.yaml", &policy("b"))
        .write("c.yaml", &binding("b"));
    directory.check(1).unwrap();
    // A name that a file before now has, so that what is remembered does not hold.
    directory.write("a.yaml", &policy("b"));
    assert!(directory.check(2).is_none());
    directory.write("a.yaml", "{");
    assert!(directory.check(1).is_none());
    // A policy that a remembered binding needs.
    directory.remove("a.yaml");
    directory.write("b.yaml", &policy("d"));
    assert!(directory.check(1).is_none());
    directory.write("b.yaml", &policy("b"));
    directory.check(1).unwrap();
    // What cannot be read.
    fs::create_dir(directory.root.path().join("d")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("d", directory.root.path().join("d.yaml")).unwrap();
    assert!(directory.check(0).is_none());
    directory.remove("d.yaml");
    // Between documents that are good.
    directory.write("e.yaml", &[policy("e"), policy("f")].join("--- e\n"));
    for _ in 0..3 {
        assert!(directory.check(2).is_none());
    }
}

#[test]
fn bytes_that_are_no_text_are_read_each_time() {
    let mut directory = Directory::new();
    let marked: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain(policy("a").encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    fs::write(directory.root.path().join("a.yaml"), marked).unwrap();
    directory.write("b.yaml", "");
    for _ in 0..2 {
        directory.check(1).unwrap();
    }
}
