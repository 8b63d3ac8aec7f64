//! AdmissionConfigurations as servers of each known release read them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it fails")]

use pratique_manifest::{
    ConfigurationLoader, ConfigurationOptions, IgnoredReason, LoadOptions, LoadedConfiguration, ManifestFile,
    UncheckedExpressions,
};
use pratique_schema::{FeatureGates, Release};

/// What a server of a release says of the configuration of a plugin; its kind is that of the plugin's configuration.
fn load(
    release: &'static Release,
    plugin: &str,
    kind: &str,
    fields: &str,
) -> Result<LoadedConfiguration, String> {
    let options = ConfigurationOptions {
        manifests: LoadOptions::new(&UncheckedExpressions),
        feature_gates: FeatureGates::new(release),
    };
    let content = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- {{name: {plugin}, configuration: \
         {{apiVersion: apiserver.config.k8s.io/v1, kind: {kind}, {fields}}}}}\n"
    );
    let file = ManifestFile {
        path: "config.yaml".to_owned(),
        content: content.into_bytes(),
    };
    let loaded = ConfigurationLoader::new(&options).load_file(file);
    loaded.map_err(|errors| errors.errors.to_string())
}

#[track_caller]
fn check(release: &Release, result: &Result<LoadedConfiguration, String>, expected: Option<&str>) {
    match (result, expected) {
        (Ok(_), None) => {}
        (Err(error), Some(expected)) => assert!(error.contains(expected), "{release}: {error}"),
        (result, expected) => panic!("{release}: {result:?} instead of {expected:?}"),
    }
}

#[test]
fn directories_of_policies() {
    for release in Release::list().iter().copied() {
        let plugin = "ValidatingAdmissionPolicy";
        let kind = "ValidatingAdmissionPolicyConfiguration";
        let loaded = load(release, plugin, kind, "staticManifestsDir: here");
        let expected = if release.at_least(1, 37) {
            Some("staticManifestsDir: Invalid value: \"here\": must be an absolute file path")
        } else if release.at_least(1, 36) {
            Some("requires the ManifestBasedAdmissionControlConfig feature gate to be enabled")
        } else {
            None
        };
        check(release, &loaded, expected);
        if let Ok(loaded) = loaded {
            assert_eq!(loaded.ignored.first().unwrap().reason, IgnoredReason::Unread);
        }
    }
}

#[test]
fn fields_of_webhooks() {
    let load =
        |release, plugin: &str, fields: &str| load(release, plugin, "WebhookAdmissionConfiguration", fields);
    for release in Release::list().iter().copied() {
        let (mutating, validating) = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook");
        let old = !release.at_least(1, 36);
        let empty = "kubeConfigFile: Invalid value: \"\": must be an absolute file path";
        check(
            release,
            &load(release, mutating, "kubeConfigFile: ''"),
            old.then_some(empty),
        );
        let unknown = "unknown field \"nothing\"";
        let nothing = load(release, mutating, "kubeConfigFile: /nowhere, nothing: 1");
        check(release, &nothing, (!old).then_some(unknown).or(Some("/nowhere")));
        if !release.at_least(1, 38) {
            continue;
        }
        for (plugin, fields, expected) in [
            (
                mutating,
                "staticOrder: Last",
                "staticOrder: Unsupported value: \"Last\": supported values: \"ByName\", \"StaticFirst\", \"StaticLast\"",
            ),
            (
                mutating,
                "staticOrder: ByName",
                "staticOrder: Invalid value: \"ByName\": may only be set when staticManifestsDir is set",
            ),
            (
                validating,
                "staticOrder: StaticLast, staticManifestsDir: /",
                "staticOrder: Invalid value: \"StaticLast\": only \"StaticFirst\" is supported by ValidatingAdmissionWebhook",
            ),
        ] {
            check(release, &load(release, plugin, fields), Some(expected));
        }
    }
}
