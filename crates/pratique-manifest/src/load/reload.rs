//! Loading a directory repeatedly: unchanged files are not loaded again.

use std::borrow::Cow;

use super::content_hash::ContentHash;
use super::document_validator::{DocumentValidator, ManifestScope};
use super::file_cache::FileCache;
use super::options::{LoadOptions, SourceTexts};
use super::rewrites::{FileContent, RewriteDelays, RewriteDetector, UnstableFile};
use super::set::ManifestSet;
use super::{FileInput, finish, read};
use crate::budget::Budget;
use crate::plugin::ManifestPlugin;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::ReadManifest;

/// Loads a plugin's directory repeatedly.
///
/// The result is always that of [`Loader::load_directory`](crate::Loader::load_directory). Unchanged files are not parsed, validated or
/// compiled again, and their objects are the very same.
#[derive(Debug)]
pub struct Reloader {
    plugin: ManifestPlugin,
    cache: FileCache,
    rewrites: RewriteDetector,
}

/// The result of loading a directory that may just be written to.
#[derive(Debug)]
pub enum ReloadOutcome {
    /// The content has the hash that is in use.
    Unchanged,
    /// The objects of the directory.
    New(ManifestSet),
    /// The files may be incomplete, as while one of them is written or several are changed.
    Unstable(UnstableFile),
}

/// Which files of a directory are read when it is loaded again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadExtent {
    /// All.
    All,
    /// For events that said that something changed: a file that has the same metadata as when it was read is not opened, and has the
    /// same content. Links are always followed and read, and so are files that had changed less than two seconds before they were
    /// read. A change that leaves the metadata as it was, as some network file systems do for a while, is seen by the next
    /// load of all.
    Changed,
}

impl Reloader {
    /// Loads directories of this plugin.
    #[must_use]
    pub fn new(plugin: ManifestPlugin) -> Self {
        Self {
            plugin,
            cache: FileCache::default(),
            rewrites: RewriteDetector::default(),
        }
    }

    /// Sets how long [`load_stable`](Self::load_stable) waits for files that are rewritten in place.
    #[must_use]
    pub fn with_rewrite_delays(self, delays: RewriteDelays) -> Self {
        Self {
            rewrites: RewriteDetector::new(delays),
            ..self
        }
    }

    /// Loads the directory, unless its content has the hash that is in use. The compiler of the options should be the same
    /// each time: objects of unchanged files are not compiled again.
    ///
    /// # Errors
    /// As [`Loader::load_directory`](crate::Loader::load_directory).
    pub fn load(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &LoadOptions<'_>,
    ) -> Result<Option<ManifestSet>, LoadErrors> {
        let budget = options.budget();
        let files = read(path, &budget, &|_| None)?;
        match changed_hash(&files, in_use) {
            None => Ok(None),
            Some(hash) => self.finish(files, hash, &budget, options).map(Some),
        }
    }

    /// Loads the directory as [`load`](Self::load) does, unless a file was rewritten in place a moment ago: such a file has to
    /// stay the same for a while, and longer if it is shorter than before or objects of it are missing. The caller is
    /// expected to call again after the delay that is returned. Files that were renamed into place or swapped by links are
    /// loaded at once. Of the first content, where `in_use` is `None`, files that were written to a moment ago are waited
    /// for, also if they do not load; see [`RewriteDetector`] for the rest.
    ///
    /// # Errors
    /// As [`Loader::load_directory`](crate::Loader::load_directory).
    pub fn load_stable(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        extent: ReadExtent,
        options: &LoadOptions<'_>,
    ) -> Result<ReloadOutcome, LoadErrors> {
        let budget = options.budget();
        let files = self.read(path, extent, &budget)?;
        let Some(hash) = changed_hash(&files, in_use) else {
            for file in files.iter().flatten() {
                self.cache.renew(file);
            }
            self.rewrites.keep(contents(&files));
            return Ok(ReloadOutcome::Unchanged);
        };
        let contents = contents(&files);
        let loaded = self.finish(files, hash.clone(), &budget, options);
        if in_use.is_none() {
            let sets = loaded.as_ref().map(|set| [set]).ok();
            let sets = sets.as_ref().map(|sets| &sets[..]);
            return match self.rewrites.admit_first(contents, sets, &hash) {
                Err(file) => Ok(ReloadOutcome::Unstable(file)),
                Ok(()) => loaded.map(ReloadOutcome::New),
            };
        }
        let set = loaded?;
        let admitted = self.rewrites.admit(contents, &[&set], &set.hash);
        Ok(match admitted {
            Ok(()) => ReloadOutcome::New(set),
            Err(file) => ReloadOutcome::Unstable(file),
        })
    }

    /// Loads the first content of the directory, and as often again as a file of it may be incomplete, each time after `pause`.
    pub(super) fn load_first(
        &mut self,
        path: &str,
        options: &LoadOptions<'_>,
        pause: impl Fn(&UnstableFile),
    ) -> Result<ManifestSet, LoadErrors> {
        loop {
            match self.load_stable(path, None, ReadExtent::All, options)? {
                ReloadOutcome::New(set) => return Ok(set),
                ReloadOutcome::Unstable(file) => pause(&file),
                // Nothing is in use that it could be the same as.
                ReloadOutcome::Unchanged => {}
            }
        }
    }

    fn read(
        &self,
        path: &str,
        extent: ReadExtent,
        budget: &Budget,
    ) -> Result<Vec<Result<ReadManifest, Failure>>, LoadErrors> {
        read(path, budget, &|path| match extent {
            ReadExtent::All => None,
            ReadExtent::Changed => self.cache.find_known(path),
        })
    }

    fn finish(
        &mut self,
        files: Vec<Result<ReadManifest, Failure>>,
        hash: String,
        budget: &Budget,
        options: &LoadOptions<'_>,
    ) -> Result<ManifestSet, LoadErrors> {
        let scope = ManifestScope::Plugin(self.plugin);
        let validator = DocumentValidator::new(scope, options, SourceTexts::Kept, budget);
        let files: Vec<_> = files
            .into_iter()
            .map(|file| file.map(|file| self.make_input(file)))
            .collect();
        let set = finish(files, validator, Some(&mut self.cache))?;
        Ok(ManifestSet { hash, ..set })
    }

    /// A file as it is loaded.
    fn make_input(&mut self, mut file: ReadManifest) -> FileInput<'static> {
        match self.cache.renew(&file).cloned() {
            Some(cached) => FileInput::Cached((file.path.into(), cached)),
            None => {
                let stamp = file.state.stamp.take();
                FileInput::Read(Cow::Owned(file.into_file()), stamp)
            }
        }
    }
}

fn contents(files: &[Result<ReadManifest, Failure>]) -> Vec<FileContent> {
    let files = files.iter().flatten();
    let content =
        |file: &ReadManifest| FileContent::from_bytes(&file.path, file.content.bytes(), &file.state);
    files.map(content).collect()
}

/// The hash of files, unless it is in use; files that cannot be read count as changed.
fn changed_hash(files: &[Result<ReadManifest, Failure>], in_use: Option<&str>) -> Option<String> {
    let mut hash = ContentHash::default();
    let contents = files.iter().flatten().map(|file| file.content.bytes());
    contents.for_each(|content| hash.add(content));
    let hash = hash.finish();
    let is_unchanged = files.iter().all(Result::is_ok) && in_use == Some(hash.as_str());
    (!is_unchanged).then_some(hash)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::expression::UncheckedExpressions;
    use crate::read::directory::ReadContent;

    const PLUGIN: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

    fn write(path: &Path, name: &str) {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
             metadata: {{name: {name}.static.k8s.io}}\nspec:\n  matchConstraints:\n    \
             resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]\n  \
             validations: [{{expression: 'true'}}]\n"
        );
        fs::write(path, text).unwrap();
    }

    /// How many files of a directory are not opened after an event.
    fn known_count(reloader: &Reloader, path: &str) -> usize {
        let budget = LoadOptions::new(&UncheckedExpressions).budget();
        let files = reloader.read(path, ReadExtent::Changed, &budget).unwrap();
        let is_known = |file: &&ReadManifest| matches!(file.content, ReadContent::Known(_));
        files.iter().flatten().filter(is_known).count()
    }

    fn names(outcome: Result<ReloadOutcome, LoadErrors>) -> Option<Vec<String>> {
        match outcome.unwrap() {
            ReloadOutcome::Unchanged => None,
            ReloadOutcome::New(set) => Some(set.objects().map(|object| object.name.to_owned()).collect()),
            ReloadOutcome::Unstable(file) => panic!("{file}"),
        }
    }

    #[test]
    fn files_that_look_the_same_are_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let file = |name: &str| directory.path().join(name);
        for name in ["a", "b", "c"] {
            write(&file(&format!("{name}.yaml")), name);
        }
        let options = LoadOptions::new(&UncheckedExpressions);
        let delays = RewriteDelays {
            rewritten: Duration::ZERO,
            shrunk: Duration::ZERO,
            max: Duration::ZERO,
        };
        let mut reloader = Reloader::new(PLUGIN).with_rewrite_delays(delays);
        let hash = reloader.load(path, None, &options).unwrap().unwrap().hash;
        // They had just been written.
        assert_eq!(known_count(&reloader, path), 0);
        sleep(Duration::from_millis(2_100));
        assert_eq!(known_count(&reloader, path), 0);
        assert_eq!(
            names(reloader.load_stable(path, Some(&hash), ReadExtent::Changed, &options)),
            None
        );
        assert_eq!(known_count(&reloader, path), 3);
        write(&file("b.yaml"), "d");
        fs::rename(file("c.yaml"), file("e.yaml")).unwrap();
        let changed = ["a", "c", "d"].map(|name| format!("{name}.static.k8s.io"));
        let loaded = names(reloader.load_stable(path, Some(&hash), ReadExtent::Changed, &options));
        assert_eq!(loaded.as_deref(), Some(&changed[..]));
        // Not those that changed a moment ago.
        assert_eq!(known_count(&reloader, path), 1);
        // Other content with the same metadata is seen once everything is read.
        let hash = reloader.load(path, None, &options).unwrap().unwrap().hash;
        reloader.cache.forge("a.yaml");
        assert!(names(reloader.load_stable(path, Some(&hash), ReadExtent::Changed, &options)).is_some());
        assert_eq!(
            names(reloader.load_stable(path, Some(&hash), ReadExtent::All, &options)),
            None
        );
    }
}
