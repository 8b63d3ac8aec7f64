//! Files that consist of manifests of one plugin, or of objects of the API: they are parsed once, while they are loaded.

use pratique::expressions::Expressions;
use pratique_manifest::{Kind, Loader, ManifestFile, ManifestSet};
use pratique_review::sorted_objects::ObjectGroup;

use super::plugin::plugins_of;
use crate::policies::OriginName;

/// The end of the names of static manifests.
const SUFFIX: &[u8] = b".static.k8s.io";

/// Loads a file as a whole, if its text looks as if all in it belonged together; `None` if it does not, or does not load so. What
/// loads is what it would be if it had been sorted: static manifests have names with the suffix, and in a text without the suffix
/// nothing is static.
pub(super) fn load(
    file: &ManifestFile,
    origin: Option<OriginName>,
    expressions: &Expressions,
) -> Option<(ObjectGroup, ManifestSet)> {
    let plugins = plugins_of(&file.content);
    let has_suffix = memchr::memmem::find(&file.content, SUFFIX).is_some();
    let is_alone = !plugins.is_empty() && has_no_other_kind(&file.content);
    let options = expressions.options();
    let files = std::slice::from_ref(file);
    match (plugins.as_slice(), origin) {
        _ if !is_alone => None,
        (&[plugin], None) if has_suffix => {
            let set = Loader::for_plugin(plugin, &options).load_files(files).ok()?;
            Some((ObjectGroup::Static(plugin), set))
        }
        (_, None) if !has_suffix => {
            let set = Loader::for_api(&options).load_files(files).ok()?;
            if !set.unread.is_empty() {
                return None;
            }
            // There is no directory that it could be loaded from.
            let hash = String::new();
            Some((ObjectGroup::Api, ManifestSet { hash, ..set }))
        }
        _ => None,
    }
}

/// Whether no line begins with a kind that does not configure admission: a guess, which decides only how a file is tried first.
fn has_no_other_kind(content: &[u8]) -> bool {
    let lines = content.split(|byte| *byte == b'\n');
    let mut kinds = lines.filter_map(|line| line.strip_prefix(b"kind:"));
    kinds.all(|kind| {
        let kind = String::from_utf8_lossy(kind);
        Kind::from_name(kind.trim().trim_matches(['"', '\''])).is_some()
    })
}
