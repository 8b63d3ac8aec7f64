//! Reading the state of a cluster from files.

use std::path::Path;

use pratique_manifest::path_text;
use pratique_review::SourceFiles;
use pratique_schema::Release;
use pratique_state::cluster::is_namespace;
use pratique_state::{Rules, read_rules};

use super::record::SERVER_WARNING;
use crate::exit::CliError;
use crate::input::sources::{report_sources, without_sources};
use crate::input::{self, FileSelection, InputError, InputObject, ParsedObjects};
use crate::output::excerpt::FileTexts;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::problems;
use crate::stream::input_errors::InputErrors;

/// Reads the state of the cluster, and collects errors and warnings.
pub(crate) struct StateReader {
    /// The release of the server that has the objects.
    pub(crate) release: &'static Release,
    pub(crate) mebibytes: u32,
    pub(crate) errors: InputErrors,
    pub(crate) notices: InputNotices,
    pub(crate) files: FileSelection,
}

impl StateReader {
    pub(crate) fn read_all(
        &mut self,
        paths: &[impl AsRef<Path>],
    ) -> Result<Vec<InputObject<'static>>, CliError> {
        let mut all = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let counts_without_path = (all.len(), self.errors.count());
            self.add(path, &mut all)?;
            if counts_without_path == (all.len(), self.errors.count()) {
                let notice = InputNotice::new("no-object", path_text(path), "there is no object in it");
                self.notices.tell(notice);
            }
        }
        Ok(all)
    }

    pub(crate) fn add(&mut self, path: &Path, all: &mut Vec<InputObject<'static>>) -> Result<(), CliError> {
        let files = self.files.files(path)?;
        let (files, sources) = without_sources(files, &mut SourceFiles::default(), &self.files);
        report_sources(&sources);
        let is_named = |file: &Path| file == path;
        for file in files {
            match input::read(&file, self.mebibytes, self.release) {
                Ok(objects) => self.take(objects, all)?,
                // What a directory has is an error of the state, as it is of the inputs; what is named has to be there.
                Err(InputError::Cli(CliError::Read { path, error })) if !is_named(&file) => {
                    self.report(InputError::Unread { path, error })?;
                }
                Err(error) => self.report(error)?,
            }
        }
        Ok(())
    }

    pub(crate) fn take(
        &mut self,
        objects: ParsedObjects<'static>,
        all: &mut Vec<InputObject<'static>>,
    ) -> Result<(), CliError> {
        objects
            .reading_warnings()
            .for_each(|notice| self.notices.tell(notice));
        all.extend(objects.objects);
        let mut faults = objects.faults.into_iter();
        faults.try_for_each(|fault| self.report(fault))
    }

    /// Keeps namespaces; other objects are errors.
    pub(crate) fn namespaces(
        &mut self,
        inputs: Vec<InputObject<'static>>,
    ) -> Result<Vec<InputObject<'static>>, CliError> {
        let (namespaces, others): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| is_namespace(&input.object));
        for other in others {
            let place = problems::place(&other.location);
            let why = "expected a Namespace of v1".to_owned();
            self.report(InputError::Faulty { place, why })?;
        }
        self.existing(namespaces)
    }

    /// Keeps objects that a server can decode; others are errors.
    pub(crate) fn existing(
        &mut self,
        inputs: Vec<InputObject<'static>>,
    ) -> Result<Vec<InputObject<'static>>, CliError> {
        let mut existing = Vec::with_capacity(inputs.len());
        for input in inputs {
            let place = problems::place(&input.location);
            match &input.received {
                Err(why) => self.report(InputError::Faulty {
                    place,
                    why: why.clone(),
                })?,
                Ok(warnings) => {
                    for warning in warnings {
                        self.notices
                            .tell(InputNotice::new(SERVER_WARNING, &*place, warning));
                    }
                    existing.push(input);
                }
            }
        }
        Ok(existing)
    }

    /// Reads the authorizer rules of a file, if one is named.
    pub(crate) fn rules(&mut self, path: Option<&str>) -> Result<Option<Rules>, CliError> {
        let Some(path) = path else {
            return Ok(None);
        };
        let file = match input::read_file(Path::new(path), self.mebibytes) {
            Ok(file) => file,
            Err(error) => {
                self.report(error)?;
                return Ok(None);
            }
        };
        match read_rules(&file) {
            Ok(rules) => Ok(Some(rules)),
            Err(failures) => {
                let mut texts = FileTexts::default();
                texts.insert(&file.path, &file.content);
                problems::report(&failures, &mut texts);
                self.report(InputError::Faulty {
                    place: file.path.clone(),
                    why: "its rules cannot be read".to_owned(),
                })?;
                Ok(None)
            }
        }
    }

    /// Reports an error of an input; errors of the command are returned.
    pub(crate) fn report(&mut self, error: InputError) -> Result<(), CliError> {
        self.errors.add(error)
    }
}
