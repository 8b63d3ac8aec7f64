//! The patches that kustomizations apply to an object, from the last to the first.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_gotext::regexp::Regex;
use pratique_json::Value;
use pratique_manifest::{
    Location, ManifestFile, MappingFields, NodeId, SourceDocument, Span, StringStyle, TreeValue, path_text,
    read_contents,
};

use super::SourceCache;
use super::build_program::main_file;
use super::kustomize_origin::resolve_path;

/// How deep kustomizations name others.
const MAX_DEPTH: usize = 16;
/// How many kustomizations are looked at for a file.
const MAX_KUSTOMIZATIONS: usize = 500;
/// How many patches of them.
const MAX_PATCHES: usize = 2000;

/// A patch: a part of an object, or the operations of a JSON patch.
#[derive(Debug)]
pub(super) struct OverlayPatch {
    pub(super) document: SourceDocument,
    pub(super) node: NodeId,
    /// Where its text stands, if that is a text of a kustomization.
    inline: Option<InlineText>,
    target: PatchTarget,
}

/// A text within a file.
#[derive(Clone, Debug)]
struct InlineText {
    /// Where it begins.
    location: Location,
    /// The line before its first one, and its indentation, where it has lines of its own.
    lines: Option<(u32, u32)>,
}

/// Which objects a patch is for.
#[derive(Clone, Debug)]
enum PatchTarget {
    /// The one that it names itself.
    Own,
    /// Those of which all these patterns match their fields.
    Patterns(Vec<(TargetField, Regex)>),
}

#[derive(Clone, Copy, Debug)]
enum TargetField {
    Group,
    Version,
    Kind,
    Name,
    Namespace,
}

impl TargetField {
    const ALL: [(&str, TargetField); 5] = [
        ("group", TargetField::Group),
        ("version", TargetField::Version),
        ("kind", TargetField::Kind),
        ("name", TargetField::Name),
        ("namespace", TargetField::Namespace),
    ];
}

/// An object that was made, and the name that its source has.
#[derive(Clone, Copy)]
pub(super) struct PatchSubject<'a> {
    pub(super) made: &'a Value<'a>,
    pub(super) own_name: &'a str,
}

impl PatchSubject<'_> {
    fn read_text(&self, path: &[&str]) -> &str {
        self.made.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn group_version(&self) -> (&str, &str) {
        let api_version = self.read_text(&["apiVersion"]);
        api_version.split_once('/').unwrap_or(("", api_version))
    }

    /// Kustomizations may have added to its name since.
    fn has_name(&self, is_match: impl Fn(&str) -> bool) -> bool {
        is_match(self.own_name) || is_match(self.read_text(&["metadata", "name"]))
    }
}

impl OverlayPatch {
    /// Whether it is for an object.
    pub(super) fn is_for(&self, subject: PatchSubject<'_>) -> bool {
        match &self.target {
            PatchTarget::Own => {
                let tree = self.document.source.tree();
                let own = MappingFields { tree, id: self.node };
                let metadata = own.node("metadata");
                let name = metadata.and_then(|id| MappingFields { tree, id }.read_text("name"));
                let is_same = |field: &str| {
                    own.read_text(field)
                        .is_some_and(|text| text == subject.read_text(&[field]))
                };
                is_same("apiVersion")
                    && is_same("kind")
                    && name.is_some_and(|name| subject.has_name(|other| other == name))
            }
            PatchTarget::Patterns(patterns) => {
                let (group, version) = subject.group_version();
                patterns.iter().all(|(field, pattern)| match field {
                    TargetField::Group => pattern.is_match(group),
                    TargetField::Version => pattern.is_match(version),
                    TargetField::Kind => pattern.is_match(subject.read_text(&["kind"])),
                    TargetField::Name => subject.has_name(|name| pattern.is_match(name)),
                    TargetField::Namespace => pattern.is_match(subject.read_text(&["metadata", "namespace"])),
                })
            }
        }
    }

    /// Where a part of it is.
    pub(super) fn location(&self, span: Span) -> Location {
        let own = self.document.source.document().location(span);
        let Some(inline) = &self.inline else {
            return own;
        };
        let mut location = inline.location.clone();
        if let Some((preceding_line, indent)) = inline.lines {
            for (place, own) in [(&mut location.start, own.start), (&mut location.end, own.end)] {
                place.line = preceding_line.saturating_add(own.line);
                place.column = indent.saturating_add(own.column);
            }
        }
        location
    }
}

/// Collects the patches of kustomizations.
pub(super) struct PatchCollector<'c> {
    pub(super) cache: &'c mut SourceCache,
    /// The file that an object was made of, without links.
    pub(super) made_of: PathBuf,
    pub(super) visited: usize,
}

impl PatchCollector<'_> {
    /// The patches that a kustomization applies to the objects of the file, and those that it names apply before, the last ones first;
    /// `None` if it does not have the file.
    pub(super) fn collect(&mut self, directory: &Path, depth: usize) -> Option<Vec<OverlayPatch>> {
        self.visited += 1;
        if depth > MAX_DEPTH || self.visited > MAX_KUSTOMIZATIONS {
            return None;
        }
        let path = main_file(directory)?;
        let documents = self.cache.read_documents(&path)?;
        let document = documents.first()?;
        let (tree, root) = (document.source.tree(), document.source.root());
        let listed = |field: &str| {
            let node = MappingFields { tree, id: root }.node(field);
            match node.map(|node| &tree.get(node).value) {
                Some(TreeValue::List(nodes)) => nodes.clone(),
                _ => Vec::new(),
            }
        };
        // Upstream: kustomize, api/internal/target/kusttarget_configplugin.go, the order in which built-in transformers are configured
        let fields = ["patchesJson6902", "patches", "patchesStrategicMerge"];
        let own = fields.map(|field| listed(field).into_iter().rev().collect::<Vec<_>>());
        let mut patches = Vec::new();
        for node in own.into_iter().flatten() {
            if patches.len() < MAX_PATCHES {
                self.add_entry(directory, document, node, &mut patches);
            }
        }
        let named = |node: &NodeId| MappingFields { tree, id: *node }.as_text();
        // Components change what the resources before them are.
        for component in listed("components").iter().rev().filter_map(named) {
            if let Some(component) = resolve_path(directory, &component) {
                let of_component = self.collect_component(&component, depth + 1);
                patches.extend(of_component.unwrap_or_default());
            }
        }
        let mut has_file = self.is_file(&path);
        for field in ["bases", "resources"] {
            for resource in listed(field).iter().filter_map(named) {
                let Some(resource) = resolve_path(directory, &resource) else {
                    continue;
                };
                if self.is_file(&resource) {
                    has_file = true;
                } else if let Some(inner) = self.collect(&resource, depth + 1) {
                    has_file = true;
                    patches.extend(inner);
                }
            }
        }
        has_file.then_some(patches)
    }

    /// The patches of a component, which are for what others name.
    fn collect_component(&mut self, directory: &Path, depth: usize) -> Option<Vec<OverlayPatch>> {
        let made_of = std::mem::replace(&mut self.made_of, fs::canonicalize(main_file(directory)?).ok()?);
        let patches = self.collect(directory, depth);
        self.made_of = made_of;
        patches
    }

    fn is_file(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path == self.made_of)
    }

    /// Adds the patches of an entry: a path, a text, or one of them with a target.
    fn add_entry(
        &mut self,
        directory: &Path,
        document: &SourceDocument,
        entry: NodeId,
        patches: &mut Vec<OverlayPatch>,
    ) {
        let tree = document.source.tree();
        let fields = MappingFields { tree, id: entry };
        let target = fields.node("target");
        let Some(target) = target.map_or(Some(PatchTarget::Own), |id| {
            read_target(MappingFields { tree, id })
        }) else {
            return;
        };
        let node = match &tree.get(entry).value {
            TreeValue::String(..) => Some(entry),
            _ => fields.node("patch").or_else(|| fields.node("path")),
        };
        let Some((node, TreeValue::String(text, style))) = node.map(|node| (node, &tree.get(node).value))
        else {
            return;
        };
        let is_path = fields.node("path") == Some(node)
            || (node == entry && !text.contains('\n') && !text.trim_start().starts_with(['{', '[']));
        let (documents, inline): (Arc<[SourceDocument]>, _) = if is_path {
            let Some(documents) =
                resolve_path(directory, text).and_then(|path| self.cache.read_documents(&path))
            else {
                return;
            };
            (documents, None)
        } else {
            let location = document.source.document().location(tree.get(node).span);
            let file = ManifestFile {
                path: path_text(Path::new(&*location.file)),
                content: text.to_string().into_bytes(),
            };
            let lines = (*style == StringStyle::Literal)
                .then(|| own_lines(document, tree.get(node).span, &location, text));
            (
                read_contents(&file).documents.into(),
                Some(InlineText { location, lines }),
            )
        };
        for document in documents.iter() {
            patches.push(OverlayPatch {
                node: document.source.root(),
                document: document.clone(),
                inline: inline.clone(),
                target: target.clone(),
            });
        }
    }
}

/// The line before the first one of a literal text, and how far the lines are indented.
fn own_lines(document: &SourceDocument, span: Span, location: &Location, text: &str) -> (u32, u32) {
    let source = document.source.document().as_str();
    let written = source.get(span.start as usize..).unwrap_or_default();
    // The header of the text, such as `|-`, has a line of its own.
    let header = u32::from(written.starts_with('|'));
    let blanks = |line: &str| line.len() - line.trim_start().len();
    let line_starts = source.get(..span.start as usize).unwrap_or_default().rfind('\n');
    let whole = source
        .get(line_starts.map_or(0, |at| at + 1)..)
        .unwrap_or_default();
    let skip = header as usize;
    let first_line = |text: &str, skip: usize| {
        let mut lines = text.lines().skip(skip);
        lines.find(|line| !line.trim().is_empty()).map_or(0, blanks)
    };
    let indent = first_line(whole, skip).saturating_sub(first_line(text, 0));
    let preceding_line = location.start.line.saturating_add(header).saturating_sub(1);
    (preceding_line, u32::try_from(indent).unwrap_or_default())
}

/// The objects of a target; `None` if it selects by something else too, which what was made does not tell.
// Upstream: kustomize, api/types/selector.go, NewSelectorRegex
fn read_target(target: MappingFields<'_>) -> Option<PatchTarget> {
    if target.node("labelSelector").is_some() || target.node("annotationSelector").is_some() {
        return None;
    }
    let mut patterns = Vec::new();
    for (name, field) in TargetField::ALL {
        if let Some(pattern) = target.read_text(name).filter(|pattern| !pattern.is_empty()) {
            patterns.push((field, Regex::new(&format!("^(?:{pattern})$")).ok()?));
        }
    }
    Some(PatchTarget::Patterns(patterns))
}
