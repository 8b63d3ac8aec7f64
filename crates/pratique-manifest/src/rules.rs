//! The rules of static manifests.
use crate::load::{FileDocument, Options};
use crate::plugin::Plugin;
use crate::problem::Failure;
use crate::set::ManifestSet;

pub(crate) struct StaticRules<'a> {
    plugin: Plugin,
    options: &'a Options<'a>,
    set: ManifestSet,
    failures: Vec<Failure>,
}

impl<'a> StaticRules<'a> {
    pub(crate) fn new(plugin: Plugin, options: &'a Options<'a>) -> Self {
        Self {
            plugin,
            options,
            set: ManifestSet::default(),
            failures: Vec::new(),
        }
    }

    pub(crate) fn accept(&mut self, document: FileDocument) {
        let _ = (
            document.file,
            document.index,
            document.raw,
            document.file_lines,
            self.plugin,
            self.options,
        );
    }

    pub(crate) fn finish(self) -> (ManifestSet, Vec<Failure>) {
        (self.set, self.failures)
    }
}
