//! A directory of manifests under watch, and an observer that remembers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use pratique_manifest::{
    LoadErrors, LoadOptions, ManifestPlugin, ReadExtent, ReloadOutcome, Reloader, RewriteDelays,
    UncheckedExpressions,
};
use pratique_watch::{
    Load, LoadAttempt, LoadObserver, LoadResult, LogMessages, Outcome, Version, WatchOptions, Watched,
};
use tempfile::TempDir;

/// So long that nothing but events can be what calls.
const NEVER: Duration = Duration::from_secs(3600);
/// Nothing takes so long, not even on a machine with much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// Files that were rewritten in place are waited for, but not long.
const HURRIED: RewriteDelays = RewriteDelays {
    rewritten: Duration::from_millis(50),
    shrunk: Duration::from_millis(300),
    max: Duration::from_secs(30),
};

/// A directory beside the one that is watched.
const BESIDE: &str = "beside";

/// A directory under watch, in one that goes with the test.
pub(crate) struct World {
    pub(crate) root: TempDir,
    pub(crate) directory: PathBuf,
    pub(crate) heard: Arc<Heard>,
    pub(crate) watched: Option<Watched<Vec<String>>>,
}

impl World {
    /// A directory with one policy, `first`, not watched yet.
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let directory = root.path().join("above/policies");
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir(root.path().join(BESIDE)).unwrap();
        let world = World {
            root,
            directory,
            heard: Arc::default(),
            watched: None,
        };
        world.put("first.yaml", &policy("first"));
        world
    }

    /// The same, watched.
    pub(crate) fn watched() -> Self {
        Self::new().watch()
    }

    pub(crate) fn watch(self) -> Self {
        self.watch_polling(NEVER)
    }

    pub(crate) fn watch_polling(self, poll: Duration) -> Self {
        self.watch_with(poll, HURRIED)
    }

    pub(crate) fn watch_settling(self, delays: RewriteDelays) -> Self {
        self.watch_with(NEVER, delays)
    }

    fn watch_with(mut self, poll: Duration, delays: RewriteDelays) -> Self {
        let options = WatchOptions {
            poll_interval: poll,
            log_messages: LogMessages::policies("ValidatingAdmissionPolicy"),
            ..WatchOptions::default()
        };
        let reloader = Reloader::new(ManifestPlugin::ValidatingAdmissionPolicy);
        let loader = Policies(reloader.with_rewrite_delays(delays));
        let watched = Watched::start(&self.directory, options, loader, Arc::clone(&self.heard));
        self.watched = Some(watched.unwrap());
        self
    }

    /// Renames a new file into the directory.
    pub(crate) fn put(&self, name: &str, text: &str) {
        rename_into(&self.directory.join(name), text);
    }

    /// The same from a directory that is not watched, so that nothing else happens in this one.
    pub(crate) fn put_from_beside(&self, name: &str, text: &str) {
        let aside = self.root.path().join(BESIDE).join(name);
        rename_from(&aside, &self.directory.join(name), text);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.watched.as_ref().unwrap().current().value.clone()
    }

    /// Waits until exactly these policies are in use, and everything that is told of it was heard.
    #[track_caller]
    pub(crate) fn expect(&self, names: &[&str]) {
        let start = Instant::now();
        while self.names() != names || !self.is_heard() {
            let heard = self.heard.attempts.lock().unwrap();
            assert!(
                start.elapsed() < DEADLINE,
                "{:?} is in use, not {names:?}: {heard:?}",
                self.names()
            );
            drop(heard);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The hash of what the directory holds now.
    pub(crate) fn hash_on_disk(&self) -> String {
        let world = World {
            root: TempDir::new().unwrap(),
            directory: self.directory.clone(),
            heard: Arc::default(),
            watched: None,
        };
        let watched = world.watch().watched.unwrap();
        watched.current().hash.clone()
    }

    /// Waits until content with this hash is in use.
    #[track_caller]
    pub(crate) fn expect_hash(&self, hash: &str) {
        let start = Instant::now();
        while self.watched.as_ref().unwrap().current().hash != hash {
            assert!(start.elapsed() < DEADLINE, "{:?}", self.heard.attempts());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the attempt that loaded the version in use was heard of: the log and the observer follow the swap.
    fn is_heard(&self) -> bool {
        let number = self.watched.as_ref().unwrap().current().number;
        let attempts = self.heard.attempts();
        attempts.iter().filter(|kept| **kept == Kept::Loaded).count() as u64 > number
    }

    /// Waits until a reason that has this in it is heard, and sees that the last good policies are in use.
    #[track_caller]
    pub(crate) fn expect_failure(&self, part: &str, names: &[&str]) {
        self.heard
            .wait_for(|attempts| attempts.iter().any(|attempt| attempt.has_failed(part)));
        assert_eq!(self.names(), names);
    }
}

/// More than the steps in which file systems record times.
const TICK: Duration = Duration::from_millis(20);

/// Puts a file in the place of another at once. Its times show that it was renamed after it was written.
pub(crate) fn rename_into(path: &Path, text: &str) {
    rename_from(&path.with_extension("new"), path, text);
}

fn rename_from(aside: &Path, path: &Path, text: &str) {
    fs::write(aside, text).unwrap();
    std::thread::sleep(TICK);
    fs::rename(aside, path).unwrap();
}

pub(crate) fn policy(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}.static.k8s.io}}\n\
         spec:\n  matchConstraints:\n    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]\n  \
         validations: [{{expression: 'true'}}]\n"
    )
}

/// Loads the names of policies.
struct Policies(Reloader);

impl Load<Vec<String>> for Policies {
    type Error = LoadErrors;

    fn load(
        &mut self,
        directory: &Path,
        current: Option<&Version<Vec<String>>>,
    ) -> Result<LoadResult<Vec<String>>, LoadErrors> {
        self.reload(directory, current, ReadExtent::All)
    }

    fn load_changed(
        &mut self,
        directory: &Path,
        current: &Version<Vec<String>>,
    ) -> Result<LoadResult<Vec<String>>, LoadErrors> {
        self.reload(directory, Some(current), ReadExtent::Changed)
    }
}

impl Policies {
    fn reload(
        &mut self,
        directory: &Path,
        current: Option<&Version<Vec<String>>>,
        extent: ReadExtent,
    ) -> Result<LoadResult<Vec<String>>, LoadErrors> {
        let options = LoadOptions::new(&UncheckedExpressions);
        let in_use = current.map(|current| current.hash.as_str());
        let path = directory.to_str().unwrap();
        Ok(match self.0.load_stable(path, in_use, extent, &options)? {
            ReloadOutcome::Unchanged => LoadResult::Unchanged,
            ReloadOutcome::Unstable(unstable) => LoadResult::Unsettled {
                reason: unstable.to_string(),
                retry_after: unstable.retry_after,
            },
            ReloadOutcome::New(set) => LoadResult::New {
                value: set
                    .validating_policies
                    .iter()
                    .filter_map(|policy| policy.object.metadata.name.as_deref())
                    .map(|name| name.trim_end_matches(".static.k8s.io").to_owned())
                    .collect(),
                hash: set.hash,
            },
        })
    }
}

/// An attempt that was heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Loaded,
    Unchanged,
    Unsettled(String),
    Failed(String),
}

impl Kept {
    pub(crate) fn has_failed(&self, part: &str) -> bool {
        matches!(self, Kept::Failed(reason) if reason.contains(part))
    }
}

/// All attempts that were heard of.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    attempts: Mutex<Vec<Kept>>,
    more: Condvar,
}

impl Heard {
    pub(crate) fn attempts(&self) -> Vec<Kept> {
        self.attempts.lock().unwrap().clone()
    }

    /// Waits until what was heard is enough.
    #[track_caller]
    pub(crate) fn wait_for(&self, enough: impl Fn(&[Kept]) -> bool) -> Vec<Kept> {
        let attempts = self.attempts.lock().unwrap();
        let waited = self
            .more
            .wait_timeout_while(attempts, DEADLINE, |attempts| !enough(attempts));
        let (attempts, waited) = waited.unwrap();
        assert!(!waited.timed_out(), "only this was heard: {attempts:?}");
        attempts.clone()
    }

    /// Waits for one more attempt than there were before.
    #[track_caller]
    pub(crate) fn wait_beyond(&self, count: usize) -> Vec<Kept> {
        self.wait_for(|attempts| attempts.len() > count)
    }

    /// Waits for at least one more attempt than there were before, and sees that none of them changed anything. How
    /// many there are depends on how the events of one change are gathered.
    #[track_caller]
    pub(crate) fn expect_unchanged_beyond(&self, count: usize) {
        let heard = self.wait_beyond(count);
        assert!(
            heard[count..].iter().all(|kept| *kept == Kept::Unchanged),
            "{heard:?}"
        );
    }
}

impl LoadObserver for Heard {
    fn attempted(&self, attempt: &LoadAttempt<'_>) {
        let kept = match attempt.outcome {
            Outcome::Loaded { .. } => Kept::Loaded,
            Outcome::Unchanged { .. } => Kept::Unchanged,
            Outcome::Unsettled { reason } => Kept::Unsettled(reason.to_owned()),
            Outcome::Failed { reason } => Kept::Failed(reason.to_owned()),
        };
        self.attempts.lock().unwrap().push(kept);
        self.more.notify_all();
    }
}
