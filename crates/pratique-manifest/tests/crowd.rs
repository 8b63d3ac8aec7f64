//! Loading with the help of many threads: the same objects, the same faults in the same order, the same to remember.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use pratique_manifest::{
    LoadErrors, LoadOptions, Loader, ManifestFile, ManifestPlugin, ManifestSet, Reloader,
    UncheckedExpressions,
};
use pratique_testkit::CountingExecutor;
use tempfile::TempDir;

const PLUGIN: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

fn crowd() -> CountingExecutor {
    CountingExecutor::new(Duration::from_micros(500))
}

/// What a document may be; most are good.
const DOCUMENTS: &[&str] = &[
    POLICY,
    POLICY,
    POLICY,
    BINDING,
    BINDING,
    // A policy that another document has, too, and some that are at fault, which their bindings are not blamed for.
    "{kind: ValidatingAdmissionPolicy, apiVersion: admissionregistration.k8s.io/v1, metadata: {name: p7.static.k8s.io}}",
    "{kind: ValidatingAdmissionPolicy, apiVersion: admissionregistration.k8s.io/v1, metadata: {name: p<AT>.static.k8s.io}, oops: 1}",
    "{kind: ValidatingAdmissionPolicy, apiVersion: admissionregistration.k8s.io/v1, metadata: {name: p<AT>.static.k8s.io}, spec: {paramKind: {kind: A, apiVersion: v1}}}",
    "{kind: ValidatingAdmissionPolicy, apiVersion: admissionregistration.k8s.io/v1, metadata: {name: p<AT>}}",
    "{kind: ValidatingAdmissionPolicy, apiVersion: admissionregistration.k8s.io/v1, metadata: {}}",
    "{kind: Pod, apiVersion: v1, metadata: {name: <AT>}}",
    "a: [",
    "{\"kind\": 1}",
    "",
];

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p<AT>.static.k8s.io}\n\
    spec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
    validations: [{expression: 'true', message: <LONG>}]";

/// Of a policy that may come later, or never.
const BINDING: &str = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: admissionregistration.k8s.io/v1\n  kind: ValidatingAdmissionPolicyBinding\n  \
    metadata: {name: b<AT>.static.k8s.io}\n  spec: {policyName: p<OF>.static.k8s.io, validationActions: [Deny]}";

/// So many files of three documents that there are several batches of them.
const FILES: usize = 200;

/// Files of documents by numbers that look random; `good` of a hundred documents are a policy or its binding.
fn files(mut seed: usize, good: usize) -> Vec<ManifestFile> {
    let mut next = move |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut at = 0;
    let mut document = || {
        at += 1;
        let (text, of) = match next(100) < good {
            true if at % 2 == 0 => (BINDING, at - 1),
            true => (POLICY, at),
            false => (DOCUMENTS[next(DOCUMENTS.len())], next(2 * at)),
        };
        let text = text.replace("<AT>", &at.to_string());
        text.replace("<OF>", &of.to_string())
            .replace("<LONG>", &"x".repeat(900))
    };
    let file = |number| ManifestFile {
        path: format!("f{number:03}.yaml"),
        content: [document(), document(), document()].join("\n---\n").into_bytes(),
    };
    (0..FILES).map(file).collect()
}

/// All that can be told from outside.
fn shown(loaded: &Result<ManifestSet, LoadErrors>) -> Result<Vec<String>, String> {
    let set = loaded.as_ref().map_err(|errors| format!("{errors:?}"))?;
    let policies = set.validating_policies.iter().map(|policy| {
        let location = policy.source.locate(&[]);
        format!("{} {:?} {:?}", location.file, location.start, policy.object)
    });
    let bindings = set.validating_bindings.iter().map(|binding| {
        let location = binding.source.locate(&[]);
        format!("{} {:?} {:?}", location.file, location.start, binding.object)
    });
    Ok([set.hash.clone()]
        .into_iter()
        .chain(policies)
        .chain(bindings)
        .collect())
}

type Way<'w> = &'w dyn Fn(&LoadOptions<'_>) -> Result<ManifestSet, LoadErrors>;

/// Loads with these, by threads that differ, in each of the ways.
fn check(files: &[ManifestFile]) -> Result<ManifestSet, LoadErrors> {
    let directory = TempDir::new().unwrap();
    for file in files {
        fs::write(directory.path().join(&file.path), &file.content).unwrap();
    }
    let path = directory.path().to_str().unwrap();
    let (alone, crowd) = (LoadOptions::new(&UncheckedExpressions), crowd());
    let ways: &[Way<'_>] = &[
        &|options| Loader::for_plugin(PLUGIN, options).load_files(files),
        &|options| Loader::for_api(options).load_files(files),
        &|options| {
            Loader::for_plugin(PLUGIN, options)
                .without_texts()
                .load_directory(path)
        },
        &|options| {
            Reloader::new(PLUGIN)
                .load(path, None, options)
                .map(Option::unwrap)
        },
    ];
    for (way, load) in ways.iter().enumerate() {
        let expected = shown(&load(&alone));
        let before = crowd.asked();
        let crowded = load(&alone.with_workers(&crowd));
        assert!(crowd.asked() > before, "{way}");
        assert_eq!(shown(&crowded), expected, "{way}");
    }
    Loader::for_plugin(PLUGIN, &alone).load_files(files)
}

#[test]
fn good_manifests() {
    let set = check(&files(1, 100)).unwrap();
    assert_eq!(set.validating_policies.len(), FILES * 3 / 2);
    assert_eq!(set.validating_bindings.len(), FILES * 3 / 2);
}

#[test]
fn bad_manifests() {
    for (seed, good) in [(3, 95), (5, 0)] {
        let errors = check(&files(seed, good)).unwrap_err();
        assert!(errors.problems().count() > 1, "{seed}");
    }
}

#[test]
fn one_file_of_all() {
    let all = files(6, 100).into_iter().map(|file| file.content);
    let content = all.collect::<Vec<_>>().join(&b"\n---\n"[..]);
    let path = "all.yaml".to_owned();
    check(&[ManifestFile { path, content }]).unwrap();
}

#[test]
fn what_did_not_change_is_the_same() {
    let directory = TempDir::new().unwrap();
    let write = |file: &ManifestFile| fs::write(directory.path().join(&file.path), &file.content).unwrap();
    files(7, 100).iter().for_each(write);
    let crowd = crowd();
    let options = LoadOptions::new(&UncheckedExpressions).with_workers(&crowd);
    let (path, mut reloader) = (directory.path().to_str().unwrap(), Reloader::new(PLUGIN));
    let mut load = || reloader.load(path, None, &options).map(Option::unwrap);
    let first = load().unwrap();
    let before = crowd.asked();
    let again = load().unwrap();
    assert_eq!(crowd.asked(), before);
    let pairs = || first.validating_policies.iter().zip(&again.validating_policies);
    assert!(pairs().all(|(one, other)| Arc::ptr_eq(&one.object, &other.object)));
    // A name of the last file, now in the first as well.
    let (name, last) = ("f000.yaml".to_owned(), files(7, 100).pop().unwrap());
    write(&ManifestFile { path: name, ..last });
    let expected = Loader::for_plugin(PLUGIN, &LoadOptions::new(&UncheckedExpressions))
        .without_texts()
        .load_directory(path);
    assert_eq!(load().unwrap_err(), expected.unwrap_err());
}
