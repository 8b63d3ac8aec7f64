//! The first content of files, before which there was none: it is waited for while a file of it is fresh.
//!
//! What the files had before is not known, so neither is whether objects are missing. What can be told is when a file was
//! written to, whether it is empty yet, and whether a policy or a binding lacks its counterpart.

use std::time::{Duration, Instant};

use super::pairing::PolicyPairing;
use super::{FileContent, RewriteDetector, UnstableFile, UnstableReason};
use crate::load::set::ManifestSet;

impl RewriteDetector {
    /// Accepts the first files, unless one was written to a moment ago. `sets` has what was loaded from them; `None` if they
    /// do not load, as files do of which half is written: nothing is accepted then. The hash is that of all content.
    ///
    /// # Errors
    /// The file to wait for. The files should be read again after the delay.
    pub fn admit_first(
        &mut self,
        files: Vec<FileContent>,
        sets: Option<&[&ManifestSet]>,
        hash: &str,
    ) -> Result<(), UnstableFile> {
        let fresh = self.fresh_file(&files, sets);
        let age = fresh.as_ref().map_or(Duration::ZERO, |(_, _, age)| *age);
        let fresh = fresh.map(|(unstable, delay, _)| (unstable, delay));
        if let Some(file) = self.wait_for(fresh, age, hash, Instant::now()) {
            return Err(file);
        }
        if let Some(sets) = sets {
            self.accept(files, sets);
        }
        Ok(())
    }

    /// The file that was written to last, if that is not long ago, its delay, and how long ago it was.
    fn fresh_file(
        &self,
        files: &[FileContent],
        sets: Option<&[&ManifestSet]>,
    ) -> Option<(UnstableFile, Duration, Duration)> {
        let empty = files
            .iter()
            .filter(|file| file.length == 0)
            .filter(|file| file.is_fresh(self.delays.shrunk));
        let ages = files.iter().filter_map(|file| Some((file, file.age()?)));
        let (latest, age) = ages.min_by_key(|(_, age)| *age)?;
        let unpaired = sets.and_then(|sets| PolicyPairing::new(sets).first_unpaired());
        let (file, reason, delay) = match (empty.min_by_key(|file| file.age()), unpaired) {
            (Some(empty), _) => (&empty.path, UnstableReason::Empty, self.delays.shrunk),
            (None, Some(object)) => (&latest.path, UnstableReason::Partial(object), self.delays.shrunk),
            (None, None) => (&latest.path, UnstableReason::Written, self.delays.rewritten),
        };
        let unstable = UnstableFile {
            file: file.clone(),
            reason,
            lost: 0,
            retry_after: Duration::ZERO,
        };
        (age < delay).then_some((unstable, delay, age))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::kind::Kind;
    use crate::load::rewrites::RewriteDelays;
    use crate::problem::ObjectName;
    use crate::read::directory::ManifestFile;
    use crate::read::file::read_with_state;
    use crate::{LoadOptions, Loader, UncheckedExpressions};

    const DELAYS: RewriteDelays = RewriteDelays {
        rewritten: Duration::from_secs(50),
        shrunk: Duration::from_secs(500),
        max: Duration::from_secs(3000),
    };
    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: p}\nspec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], \
        operations: [CREATE], resources: [pods]}]\n  validations: [{expression: 'true'}]\n";
    const BINDING: &str = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
        metadata: {name: b}\nspec: {policyName: p, validationActions: [Deny]}\n";

    /// The file to wait for, and for how long, of files with these texts that were written to so many seconds ago.
    fn waited_for(texts: &[(&str, Option<u64>)], loads: bool) -> Option<(String, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        let mut contents = Vec::new();
        for (index, (text, age)) in texts.iter().enumerate() {
            let path = folder.path().join(format!("{index}.yaml"));
            std::fs::write(&path, text).unwrap();
            let (content, mut state) = read_with_state(&path, 1 << 20).unwrap();
            state.last_write = age.map(|age| SystemTime::now() - Duration::from_secs(age));
            let file = ManifestFile {
                path: format!("{index}.yaml"),
                content,
            };
            contents.push(FileContent::new(&file, &state));
            files.push(file);
        }
        let set = loads.then(|| {
            Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
                .load_files(&files)
                .unwrap()
        });
        let sets = set.as_ref().map(|set| [set]);
        let sets = sets.as_ref().map(|sets| &sets[..]);
        let admitted = RewriteDetector::new(DELAYS).admit_first(contents, sets, "hash");
        admitted.err().map(|unstable| {
            (
                unstable.to_string(),
                unstable.retry_after.as_secs_f64().round() as u64,
            )
        })
    }

    #[test]
    fn fresh_files_are_waited_for() {
        let check = |texts: &[(&str, Option<u64>)], expected: Option<(&str, u64)>| {
            let expected = expected.map(|(text, seconds)| (text.to_owned(), seconds));
            assert_eq!(waited_for(texts, true), expected);
        };
        let both = format!("{POLICY}{BINDING}");
        check(&[(&both, Some(60))], None);
        // Renamed into its place, or read where nothing tells.
        check(&[(&both, None)], None);
        check(
            &[(&both, Some(10))],
            Some(("0.yaml was written to a moment ago", 40)),
        );
        check(
            &[(POLICY, Some(100)), (BINDING, Some(20))],
            Some(("1.yaml was written to a moment ago", 30)),
        );
        check(&[(POLICY, None), (BINDING, None)], None);
        check(
            &[(&both, Some(60)), ("", Some(60))],
            Some(("1.yaml is empty, and was written to a moment ago", 440)),
        );
        check(&[(&both, Some(60)), ("", Some(600))], None);
        check(
            &[(POLICY, Some(60))],
            Some((
                "0.yaml was written to a moment ago, and the ValidatingAdmissionPolicy \"p\" has no binding",
                440,
            )),
        );
        check(
            &[(BINDING, Some(60))],
            Some((
                "0.yaml was written to a moment ago, and the ValidatingAdmissionPolicyBinding \"b\" has no policy",
                440,
            )),
        );
        check(&[(POLICY, Some(600))], None);
    }

    #[test]
    fn files_that_do_not_load_are_waited_for() {
        assert_eq!(
            waited_for(&[("kind: [", Some(10))], false),
            Some(("0.yaml was written to a moment ago".to_owned(), 40))
        );
        assert_eq!(waited_for(&[("kind: [", Some(60))], false), None);
    }

    /// A clock that was wrong must not stop the start.
    #[test]
    fn waiting_ends() {
        let object = ObjectName {
            kind: Kind::ValidatingAdmissionPolicy,
            name: "p".to_owned(),
        };
        let unstable = UnstableFile {
            file: "0.yaml".to_owned(),
            reason: UnstableReason::Partial(object),
            lost: 0,
            retry_after: Duration::ZERO,
        };
        let start = Instant::now();
        let mut detector = RewriteDetector::new(DELAYS);
        let mut wait = |seconds: u64, hash: &str| {
            let changed = Some((unstable.clone(), DELAYS.shrunk));
            let now = start + Duration::from_secs(seconds);
            let waited = detector.wait_for(changed, Duration::ZERO, hash, now);
            waited.map(|unstable| unstable.retry_after.as_secs())
        };
        assert_eq!(wait(0, "a"), Some(500));
        assert_eq!(wait(400, "a"), Some(100));
        assert_eq!(wait(450, "b"), Some(500));
        assert_eq!(wait(2900, "c"), Some(100));
        assert_eq!(wait(3000, "d"), None);
    }
}
