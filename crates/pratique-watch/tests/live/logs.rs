//! What the log says, and how often.

use crate::log;
use crate::world::{Kept, World, policy};

#[test]
fn a_failure_is_logged_once() {
    log::keep();
    let world = World::watched();
    let directory = world.directory.to_str().unwrap();
    world.put("second.yaml", &policy("second"));
    world.expect(&["first", "second"]);
    let reloaded =
        format!("INFO message=reloaded manifest config plugin=\"ValidatingAdmissionPolicy\" dir={directory}");
    assert_eq!(log::lines(directory), [reloaded.as_str()]);

    // Each event is an attempt that fails; the reason is news once.
    world.put("a.yaml", "--- oops\n");
    for _ in 0..3 {
        let count = world.heard.attempts().len();
        world.watched.as_ref().unwrap().reload();
        world
            .heard
            .wait_for(|attempts| attempts[count..].iter().any(|kept| kept.has_failed("oops")));
    }
    let failed = format!(
        "ERROR message=reloading manifest config err=\"failed to split YAML documents in file \\\"{directory}/a.yaml\\\": \
         invalid Yaml document separator: oops\" plugin=\"ValidatingAdmissionPolicy\" dir={directory}"
    );
    assert_eq!(log::lines(directory), [reloaded.as_str(), failed.as_str()]);

    // Another reason is news, and so is going back; and then the first reason is news again.
    world.put("a.yaml", "--- again\n");
    world.expect_failure("again", &["first", "second"]);
    assert_eq!(log::lines(directory).len(), 3);
    std::fs::remove_file(world.path("a.yaml")).unwrap();
    world
        .heard
        .wait_for(|attempts| attempts.last() == Some(&Kept::Unchanged));
    let recovered = format!(
        "INFO message=manifest config matches the version in use again plugin=\"ValidatingAdmissionPolicy\" dir={directory}"
    );
    assert_eq!(log::lines(directory)[3..], [recovered]);
    world.watched.as_ref().unwrap().reload();
    world.put("a.yaml", "--- oops\n");
    world
        .heard
        .wait_for(|attempts| attempts.last().unwrap().has_failed("oops"));
    assert_eq!(log::lines(directory)[4..], [failed]);
}
