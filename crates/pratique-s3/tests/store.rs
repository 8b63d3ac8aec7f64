//! Objects of a store that checks signatures.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it fails")]

use std::io::Write as _;

use pratique_s3::{ObjectStore, StoreError, StoreLocation, StoreSettings};
use pratique_testkit::FakeStore;

fn client(fake: &FakeStore, changed: &[(&str, &str)]) -> ObjectStore {
    let environment = fake.environment();
    let settings = StoreSettings::from_variables(|name| {
        let changed = changed.iter().find(|(changed, _)| *changed == name);
        let default = environment.iter().find(|(default, _)| *default == name);
        let value = changed.map(|(_, value)| (*value).to_owned());
        value.or_else(|| Some(default?.1.clone()))
    });
    ObjectStore::new(settings.unwrap()).unwrap()
}

fn at(text: &str) -> StoreLocation {
    text.parse().unwrap()
}

#[test]
fn objects_are_written_and_read() {
    let fake = FakeStore::start();
    let store = client(&fake, &[]);
    let location = at("s3://reports/scan of today/0+1.json");
    let mut writer = store.writer(location.clone());
    writer.write_all(b"{}").unwrap();
    writer.flush().unwrap();
    assert_eq!(fake.object("reports/scan of today/0+1.json"), None);
    writer.finish().unwrap();
    assert_eq!(store.read(&location, 2).unwrap(), b"{}");
    assert_eq!(
        fake.object("reports/scan of today/0+1.json").as_deref(),
        Some(b"{}".as_slice())
    );
    let error = store.read(&location, 1).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    let error = store.read(&at("s3://reports/none"), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store answers 404 (NoSuchKey): The specified key does not exist."
    );
}

#[test]
fn large_objects_are_written_in_parts() {
    let fake = FakeStore::start();
    let store = client(&fake, &[]);
    let line: Vec<u8> = (0..=255).collect();
    let mut writer = store.writer(at("s3://reports/large"));
    for _ in 0..(17 << 20) / line.len() {
        writer.write_all(&line).unwrap();
    }
    // Two parts are there by now, and no more than one is held.
    let parts = |asked: &[String]| asked.iter().filter(|asked| asked.contains("partNumber")).count();
    assert_eq!(parts(&fake.asked()), 2);
    writer.finish().unwrap();
    let written = fake.object("reports/large").unwrap();
    assert_eq!(written.len(), 17 << 20);
    assert!(written.chunks(line.len()).all(|part| part == line));
    assert_eq!((parts(&fake.asked()), fake.open_uploads()), (3, 0));
}

#[test]
fn what_is_not_finished_is_given_up() {
    let fake = FakeStore::start();
    let store = client(&fake, &[]);
    let mut writer = store.writer(at("s3://reports/large"));
    writer.write_all(&vec![0; 9 << 20]).unwrap();
    assert_eq!(fake.open_uploads(), 1);
    drop(writer);
    assert_eq!((fake.open_uploads(), fake.object("reports/large")), (0, None));
}

#[test]
fn what_passes_is_tried_again() {
    let fake = FakeStore::start();
    let store = client(&fake, &[]);
    let location = at("s3://reports/a");
    fake.fail(&[503, 500]);
    store.write(&location, "a").unwrap();
    assert_eq!(fake.asked(), ["PUT reports/a"; 3]);
    fake.fail(&[429]);
    assert_eq!(store.read(&location, 9).unwrap(), b"a");
    // Of a part, only the part.
    let mut writer = store.writer(at("s3://reports/b"));
    fake.fail(&[500]);
    writer.write_all(&vec![1; 9 << 20]).unwrap();
    fake.fail(&[502]);
    writer.finish().unwrap();
    assert_eq!(
        fake.object("reports/b").map(|content| content.len()),
        Some(9 << 20)
    );
    // What does not pass is not.
    let count = fake.asked().len();
    fake.fail(&[403]);
    let error = store.read(&location, 9).unwrap_err();
    assert_eq!(error.to_string(), "the store answers 403 (Scripted): told to");
    assert_eq!(fake.asked().len(), count + 1);
}

#[test]
fn only_the_key_of_the_store_will_do() {
    let fake = FakeStore::start();
    let store = client(&fake, &[("AWS_SECRET_ACCESS_KEY", "another")]);
    let error = store.write(&at("s3://reports/a"), "a").unwrap_err();
    assert!(error.to_string().contains("(SignatureDoesNotMatch)"), "{error}");
    assert_eq!(fake.object("reports/a"), None);
    let io = std::io::Error::from(error);
    assert_eq!(io.kind(), std::io::ErrorKind::PermissionDenied);
}

#[test]
fn a_store_that_is_not_there_is_told() {
    let store = client(&FakeStore::start(), &[("AWS_ENDPOINT_URL", "http://127.0.0.1:1")]);
    let error = store.read(&at("s3://reports/a"), 9).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the store is not reached: "), "{text}");
    assert!(!text.contains("X-Amz"), "{text}");
}
