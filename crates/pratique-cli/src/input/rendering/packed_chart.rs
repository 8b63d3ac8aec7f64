//! Charts that another one has packed in its `charts`: their templates are no files of a repository, but that chart names them.

use std::path::{Path, PathBuf};

use pratique_manifest::{Location, MappingFields, SourceDocument, path_text};
use pratique_review::CHART;

use super::line_location;

/// A chart that another one has packed.
pub(super) struct PackedChart {
    /// The file that describes the other one.
    pub(super) description: PathBuf,
    /// The name that it has there.
    name: String,
}

impl PackedChart {
    /// The innermost chart that a template is of, by a path such as `shop/charts/db/templates/web.yaml`. `file` gives the file of a
    /// path that begins with the name of a chart, if it is known.
    pub(super) fn find(named: &Path, mut file: impl FnMut(&Path) -> Option<PathBuf>) -> Option<Self> {
        let mut directories = named.ancestors().skip(1);
        directories.find_map(|directory| {
            let charts = directory.parent().filter(|parent| parent.ends_with("charts"))?;
            let description = file(&charts.parent()?.join(CHART))?;
            let name = directory.file_name()?.to_str()?.to_owned();
            description.is_file().then_some(PackedChart { description, name })
        })
    }

    /// Where the description names it, by its alias if it has one; the file alone where it does not.
    pub(super) fn locate(&self, documents: &[SourceDocument]) -> Location {
        let entry = documents.first().and_then(|document| self.entry(document));
        entry.unwrap_or_else(|| line_location(&path_text(&self.description).into(), 0))
    }

    fn entry(&self, document: &SourceDocument) -> Option<Location> {
        let source = &document.source;
        let tree = source.tree();
        let description = MappingFields {
            tree,
            id: source.root(),
        };
        let is_meant = |id: &_| {
            let entry = MappingFields { tree, id: *id };
            let own = entry.read_text("alias").or_else(|| entry.read_text("name"));
            own.is_some_and(|own| own == self.name)
        };
        let entry = description.list("dependencies").into_iter().find(is_meant)?;
        Some(source.document().location(tree.get(entry).span))
    }
}
