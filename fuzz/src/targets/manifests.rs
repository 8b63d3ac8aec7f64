//! Manifests: split, read, decoded, loaded.

use std::sync::Arc;

use pratique::expressions::{Cache, Expressions};
use pratique_json::Value;
use pratique_manifest::convert::convert;
use pratique_manifest::{
    LoadErrors, LoadOptions, Loader, ManifestFile, ManifestPlugin, UncheckedExpressions, read_documents,
};
use pratique_state::yaml;

fn file(path: &str, content: &[u8]) -> ManifestFile {
    ManifestFile {
        path: path.to_owned(),
        content: content.to_vec(),
    }
}

/// The whole loader, expressions and all, over two files that a NUL divides: what it gives depends on the files alone.
pub fn load(input: &[u8]) {
    let contents = input.splitn(2, |byte| *byte == 0);
    let files: Vec<_> = contents
        .zip(["a.yaml", "b.yaml"])
        .map(|(content, path)| file(path, content))
        .collect();
    let expressions = Expressions::new(Arc::new(Cache::new()));
    let options = LoadOptions::new(&expressions);
    for plugin in ManifestPlugin::START_ORDER {
        let first = Loader::for_plugin(plugin, &options)
            .load_files(&files)
            .map(|set| set.hash);
        let again = Loader::for_plugin(plugin, &options)
            .load_files(&files)
            .map(|set| set.hash);
        assert_eq!(first, again, "loading is a function of the files");
        if let Err(errors) = first {
            assert_placed(&errors);
        }
    }
}

/// Decoding, defaulting and validating one document, whose expressions are not compiled. The first byte picks the plugin.
pub fn decode(input: &[u8]) {
    let Some((first, content)) = input.split_first() else {
        return;
    };
    let plugins = ManifestPlugin::START_ORDER;
    let Some(plugin) = plugins.get(usize::from(*first) % plugins.len()) else {
        return;
    };
    let options = LoadOptions::new(&UncheckedExpressions);
    if let Err(errors) = Loader::for_plugin(*plugin, &options).load_files(&[file("a.yaml", content)]) {
        assert_placed(&errors);
    }
}

/// Errors of loading have a message, and problems with valid positions.
fn assert_placed(errors: &LoadErrors) {
    assert!(!errors.to_string().is_empty());
    assert!(errors.problems().next().is_some());
    for problem in errors.problems() {
        let place = problem.location.as_ref();
        assert!(place.is_none_or(|place| place.start <= place.end));
    }
}

/// Splitting files and reading their documents: every place lies within the file, and what was read is the same when it
/// is written and read again. (A document may have no text: a byte order mark alone is one.)
pub fn documents(content: &[u8]) {
    match read_documents(&file("a.yaml", content)) {
        Ok(documents) => {
            for document in &documents {
                let place = document.source.locate(&[]);
                assert!(place.start.offset <= content.len());
                let source = &document.source;
                assert_written(&convert(source.tree(), source.root()));
            }
        }
        Err(errors) => assert!(errors.problems().next().is_some()),
    }
}

/// A value written as YAML is read as the same value. Something follows it, as the ends of documents are trimmed.
fn assert_written(value: &Value<'_>) {
    let members = [("a".into(), value.borrowed()), ("b".into(), Value::Null)];
    let value = &Value::Object(members.into_iter().collect());
    for text in [yaml::block(value, 0), yaml::flow(value)] {
        let again = read_documents(&file("b.yaml", text.as_bytes()));
        let again = again.unwrap_or_else(|errors| unreadable(&errors, &text));
        let sources = again.iter().map(|document| &document.source);
        // As text, in which 1.0 is 1.
        let values = sources.map(|source| convert(source.tree(), source.root()).to_string());
        assert!(values.eq([value.to_string()]), "{text}");
    }
}

#[allow(clippy::panic, reason = "a target fails so")]
fn unreadable<T>(errors: &LoadErrors, text: &str) -> T {
    panic!("{errors}: {text:?}")
}
