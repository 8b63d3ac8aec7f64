//! Where objects come from that a program made of sources, so that findings stand where somebody can mend them.
//!
//! Helm writes the template of an object in a comment above it, and Kustomize the file of an object in an annotation, if it is
//! asked to. Neither is trusted: a source is named by a path that goes down, and no more is told of it than its name and lines.

mod build_program;
mod chart_path;
mod chart_root;
mod document_origin;
mod failure_place;
mod kustomize_origin;
mod overlay_patch;
mod packed_chart;
mod patch_fields;
pub(crate) mod render_error;
pub(super) mod template_lines;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pratique_json::Value;
use pratique_manifest::{
    Location, ManifestFile, MappingFields, Position, SourceDocument, path_text, read_contents, read_documents,
};
use pratique_request::kind_of;
use pratique_review::FieldPath;

use super::fields::{LocatedField, PieceFields};
use super::{STDIN_FILENAME_COMMANDS, read_regular};
use crate::output::counted_nouns::counted;
use crate::output::notice::{InputNotice, MISSING_SOURCE};
use build_program::main_file;
pub(crate) use build_program::{BuildOptions, BuildProgram, BuiltDirectory};
use chart_path::{below_chart, downward};
use chart_root::ChartRoots;
use document_origin::DocumentOrigin;
use kustomize_origin::read_annotation;
use overlay_patch::{OverlayPatch, PatchCollector, PatchSubject};
use packed_chart::PackedChart;
use patch_fields::PatchFields;
use template_lines::TemplateLines;

/// The largest source in which lines are looked for, in bytes.
const MAX_SOURCE: u64 = 4 << 20;

/// How many sources are kept.
const MAX_SOURCES: usize = 2000;

/// The source that an object was made of.
#[derive(Debug)]
pub(crate) struct ObjectOrigin {
    file: Arc<str>,
    /// Where the object begins in the source.
    object: Location,
    places: OriginPlaces,
}

/// How places in what was made become places in the source.
#[derive(Debug)]
enum OriginPlaces {
    /// By lines, as a template is text.
    Lines {
        /// The line of the stream that the document of the object begins with, from 1.
        first: u32,
        lines: Arc<TemplateLines>,
    },
    /// By fields, as the source has an object as well.
    Fields {
        document: DocumentOrigin,
        /// What patches set.
        patches: PatchFields,
    },
    /// The source alone is known.
    Unknown,
}

impl ObjectOrigin {
    /// A place that stands for all of an object.
    fn whole(object: Location) -> Self {
        ObjectOrigin {
            file: Arc::clone(&object.file),
            object,
            places: OriginPlaces::Unknown,
        }
    }

    /// Where the object begins in the source; it has no line where that is not known.
    pub(crate) fn object(&self) -> &Location {
        &self.object
    }

    /// Where a field of the object is in the source, which is at a place of what was made. It has no line where the source does not
    /// have the field, but something else that the object was made of, such as a patch.
    pub(crate) fn field(&self, field: &FieldPath, made: Option<&LocatedField>) -> Location {
        let place = match &self.places {
            OriginPlaces::Lines { first, lines } => made.and_then(|made| {
                let line = lines.source_line(made.location.start.line.checked_sub(*first)?)?;
                Some(line_location(&self.file, line))
            }),
            OriginPlaces::Fields { document, patches } => {
                let depth = made.map_or(0, |made| made.depth);
                let place = patches
                    .find_value(field)
                    .or_else(|| document.locate(field, depth))
                    .or_else(|| patches.find_parent(field, depth));
                Some(place.unwrap_or_else(|| line_location(&self.file, 0)))
            }
            OriginPlaces::Unknown => None,
        };
        place.unwrap_or_else(|| self.object.clone())
    }
}

/// A line of a file, as a place.
fn line_location(file: &Arc<str>, line: u32) -> Location {
    let at = Position {
        line,
        column: u32::from(line > 0),
        offset: 0,
    };
    Location {
        file: Arc::clone(file),
        document: 0,
        start: at,
        end: at,
    }
}

/// The texts of members of the first document of a file; `None` if the file cannot be read.
fn first_document_texts<const N: usize>(content: Vec<u8>, names: [&str; N]) -> Option<[Option<String>; N]> {
    let file = ManifestFile {
        path: String::new(),
        content,
    };
    let documents = read_documents(&file).ok()?;
    let source = &documents.first()?.source;
    let root = MappingFields {
        tree: source.tree(),
        id: source.root(),
    };
    Some(names.map(|name| root.read_text(name)))
}

/// Names what standard input stands for, if that is known, in messages and locations.
pub(crate) fn name_stdin(path: Option<&Path>) {
    if let Some(path) = path {
        super::name_stdin(&rendered_file(path));
    }
}

/// The file that stands for what is made of a path: of the directory of a chart or a kustomization, the one that makes it so.
fn rendered_file(path: &Path) -> PathBuf {
    main_file(path).unwrap_or_else(|| path.to_owned())
}

/// Finds the sources of objects of the inputs that a program made.
#[derive(Debug, Default)]
pub(crate) struct RenderedInputs {
    /// What each of the inputs, by its name as it is shown, was made of; standard input and pipes are of unknown directories.
    inputs: HashMap<String, Option<BuiltDirectory>>,
    cache: Mutex<SourceCache>,
    /// The first in order of the sources that are named and are not there, and how many objects name such: objects are reviewed by
    /// several threads, and the same input is told the same.
    missing: Mutex<Option<(PathBuf, usize)>>,
}

/// What was read of sources.
#[derive(Debug, Default)]
struct SourceCache {
    roots: ChartRoots,
    /// The texts of templates.
    texts: HashMap<PathBuf, Option<Arc<str>>>,
    /// The documents of the files of which Kustomize makes objects.
    documents: HashMap<PathBuf, Option<Arc<[SourceDocument]>>>,
    /// The patches for the objects of a file that kustomizations in a directory apply, the last ones first.
    patches: HashMap<(PathBuf, PathBuf), Option<Arc<[OverlayPatch]>>>,
}

impl RenderedInputs {
    /// Adds an input that is read from a pipe: what made it is not known.
    pub(crate) fn add_pipe(&mut self, name: String) {
        self.inputs.entry(name).or_default();
    }

    /// Adds an input that was built.
    pub(crate) fn add_built(&mut self, name: String, directory: BuiltDirectory) {
        self.inputs.insert(name, Some(directory));
    }

    /// The source of an object; `None` where it was not made of one, or nothing says so.
    pub(crate) fn origin(
        &self,
        fields: &PieceFields<'_>,
        location: &Location,
        object: &Value<'_>,
    ) -> Option<Arc<ObjectOrigin>> {
        let built = self.inputs.get(&*location.file)?.as_ref();
        let of_template = || self.template_origin(built, fields, location);
        let of_kustomization = || self.kustomize_origin(built, object);
        of_template().or_else(of_kustomization).map(Arc::new)
    }

    /// Counts an object whose source is not where its name leads.
    fn count_missing(&self, path: &Path) {
        if path.is_file() {
            return;
        }
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, count) = missing.get_or_insert_with(|| (path.to_owned(), 0));
        if path < first.as_path() {
            path.clone_into(first);
        }
        *count += 1;
    }

    /// What is told of sources that are named and are not there.
    pub(crate) fn missing_notice(&self) -> Option<InputNotice> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, count) = missing.as_ref()?;
        let message = format!(
            "{} of a source that is not below the working directory, such as {}: --stdin-filename PATH, which {STDIN_FILENAME_COMMANDS} \
             take, names the chart or the kustomization that was built",
            counted(*count, "object is", "objects are"),
            path_text(first)
        );
        Some(InputNotice::new(MISSING_SOURCE, "", message))
    }

    /// The template that Helm names above an object.
    fn template_origin(
        &self,
        built: Option<&BuiltDirectory>,
        fields: &PieceFields<'_>,
        location: &Location,
    ) -> Option<ObjectOrigin> {
        let document = fields.document_lines(location)?;
        let named = downward(document.template?)?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let (source, absent) = match built {
            Some(BuiltDirectory { root, .. }) => {
                let below = below_chart(root, named)?;
                // What a chart depends on may be beside it, and packed in it.
                let source = if below.is_file() {
                    Some(below.clone())
                } else {
                    cache.roots.find_part(named)
                };
                (source, below)
            }
            None => (cache.roots.find(named), named.to_owned()),
        };
        let path = match source {
            Some(path) => path,
            None => match cache.find_packed(built, named) {
                Some(object) => return Some(ObjectOrigin::whole(object)),
                None => absent,
            },
        };
        let file: Arc<str> = path_text(&path).into();
        let text = cache.read_text(&path);
        drop(cache);
        if built.is_none() && text.is_none() {
            self.count_missing(&path);
        }
        let align = || text.and_then(|text| TemplateLines::align(&document.all, &text));
        let lines = document.aligned.get_or_init(|| align().map(Arc::new)).clone();
        let begin = location.start.line.checked_sub(document.first);
        let line = lines
            .as_ref()
            .and_then(|lines| lines.source_line(begin?))
            .unwrap_or_default();
        Some(ObjectOrigin {
            object: line_location(&file, line),
            file,
            places: lines.map_or(OriginPlaces::Unknown, |lines| OriginPlaces::Lines {
                first: document.first,
                lines,
            }),
        })
    }

    /// The file that Kustomize made an object of.
    fn kustomize_origin(&self, built: Option<&BuiltDirectory>, object: &Value<'_>) -> Option<ObjectOrigin> {
        let named = match built {
            Some(directory) => directory.origin_of(object)?,
            None => read_annotation(object, Path::new(""))?,
        };
        let file: Arc<str> = path_text(&named).into();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let documents = cache.read_documents(&named);
        let patches = built.and_then(|built| cache.find_patches(&built.root, &named));
        drop(cache);
        if built.is_none() && documents.is_none() {
            self.count_missing(&named);
        }
        let kind = kind_of(object).ok()?.kind;
        let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
        let document =
            documents.and_then(|documents| DocumentOrigin::find(&documents, &kind, name.unwrap_or_default()));
        Some(ObjectOrigin {
            object: document
                .as_ref()
                .map_or_else(|| line_location(&file, 0), DocumentOrigin::object),
            file,
            places: document.map_or(OriginPlaces::Unknown, |document| {
                let own_name = document.name();
                let subject = PatchSubject {
                    made: object,
                    own_name: &own_name,
                };
                let mut fields = PatchFields::default();
                let patches = patches.as_deref().unwrap_or_default().iter();
                for patch in patches.filter(|patch| patch.is_for(subject)) {
                    fields.add(patch, object);
                }
                OriginPlaces::Fields {
                    document,
                    patches: fields,
                }
            }),
        })
    }
}

impl SourceCache {
    /// Where a chart names the one that a template is of, which it has packed.
    fn find_packed(&mut self, built: Option<&BuiltDirectory>, named: &Path) -> Option<Location> {
        let roots = &mut self.roots;
        let packed = PackedChart::find(named, |description| match built {
            Some(BuiltDirectory { root, .. }) => below_chart(root, description),
            None => roots.find(description),
        })?;
        let documents = self.read_documents(&packed.description).unwrap_or_default();
        Some(packed.locate(&documents))
    }

    /// The patches that the kustomization in a directory, and those that it names, apply to the objects of a file.
    fn find_patches(&mut self, root: &Path, named: &Path) -> Option<Arc<[OverlayPatch]>> {
        let key = (root.to_owned(), named.to_owned());
        if let Some(patches) = self.patches.get(&key) {
            return patches.clone();
        }
        let made_of = fs::canonicalize(named).ok();
        let patches = made_of.and_then(|made_of| {
            let mut collector = PatchCollector {
                cache: self,
                made_of,
                visited: 0,
            };
            collector.collect(root, 0).map(Arc::from)
        });
        if self.patches.len() < MAX_SOURCES {
            self.patches.insert(key, patches.clone());
        }
        patches
    }

    /// The text of a source; `None` if it cannot be read.
    fn read_text(&mut self, path: &Path) -> Option<Arc<str>> {
        if let Some(text) = self.texts.get(path) {
            return text.clone();
        }
        let text: Option<Arc<str>> = read_source(path).map(Arc::from);
        if self.texts.len() < MAX_SOURCES {
            self.texts.insert(path.to_owned(), text.clone());
        }
        text
    }

    /// The documents of a source, which is read once for all objects that are made of it; `None` if it cannot be read.
    fn read_documents(&mut self, path: &Path) -> Option<Arc<[SourceDocument]>> {
        if let Some(documents) = self.documents.get(path) {
            return documents.clone();
        }
        let documents: Option<Arc<[SourceDocument]>> = read_source(path).map(|text| {
            let file = ManifestFile {
                path: path_text(path),
                content: text.into_bytes(),
            };
            read_contents(&file).documents.into()
        });
        if self.documents.len() < MAX_SOURCES {
            self.documents.insert(path.to_owned(), documents.clone());
        }
        documents
    }
}

fn read_source(path: &Path) -> Option<String> {
    let content = read_regular(path, MAX_SOURCE).ok()?;
    String::from_utf8(content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_below_where_they_are_named() {
        for (path, expected) in [
            ("shop/templates/web.yaml", true),
            ("web.yaml", true),
            ("../secret.yaml", false),
            ("shop/../../secret.yaml", false),
            ("/etc/passwd", false),
            ("", false),
        ] {
            assert_eq!(downward(path).is_some(), expected, "{path}");
        }
        let below = |named: &str| below_chart(Path::new("charts/a"), Path::new(named));
        assert_eq!(
            below("shop/charts/db/templates/b.yaml"),
            Some(PathBuf::from("charts/a/charts/db/templates/b.yaml"))
        );
        assert_eq!(below("shop"), None);
    }
}
