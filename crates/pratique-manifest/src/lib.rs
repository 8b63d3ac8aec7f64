//! Strict loading of static admission manifests: positions, decoding, defaulting, validation.
//!
//! A kube-apiserver can read policies and webhook configurations from a directory instead of the API. A manifest that
//! does not load keeps that server from starting. This crate loads such directories as the server does, and says what
//! it would say: a [`Loader`] gives the objects, defaulted and valid, each with its place in its file, or
//! *all* problems, with file, line and column; the first is the one the server stops with.
//!
//! ```
//! use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};
//!
//! let file = ManifestFile { path: "policies/a.yaml".into(), content: b"--- oops\n".to_vec() };
//! let loader = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &LoadOptions::checked());
//! let errors = loader.load_files(&[file]).unwrap_err();
//! let first = errors.problems().next().unwrap();
//! assert_eq!(first.message, "invalid Yaml document separator: oops");
//! assert_eq!(first.location.as_ref().unwrap().start.line, 1);
//! ```
//!
//! [`LoadOptions::checked`] compiles CEL expressions as that server does. It belongs to the feature `expressions`, which is on by
//! default; without it, the caller compiles them, through [`ExpressionCompiler`], or leaves them unchecked
//! ([`UncheckedExpressions`]). Documents are validated on several threads if the caller [lends](LoadOptions::with_workers) some.
//!
//! The modules follow the way of a file, and each knows only those before it: `read` (files), `parse` (documents and
//! values with positions), `decode` (kinds and types) and `default`, `validate` (fields and the rules of static
//! manifests), `load` (sets of objects, reloads). `configuration` loads AdmissionConfigurations by means of them.

#[cfg(feature = "expressions")]
mod comment_swallow;
mod configuration;
pub mod convert;
mod decode;
mod default;
mod expression;
#[cfg(feature = "expressions")]
mod expressions;
mod fields;
mod file_schema;
mod help;
mod kind;
mod list;
mod load;
mod parse;
mod plugin;
mod problem;
mod read;
mod time;
mod validate;

use pratique_yaml::{budget, json, position, tree, yaml};

pub use configuration::{
    ConfigurationErrors, ConfigurationFault, ConfigurationKind, ConfigurationLoader, ConfigurationOptions,
    DecodedConfiguration, EnabledPlugins, FieldStrictness, GivenConfiguration, IgnoredPlugin, IgnoredReason,
    KubeConfigError, KubeConfigIssue, LoadedConfiguration, PluginConfiguration, StartPlugin, StartedPlugin,
    decode_plugin_configuration, invalid_configuration, load_kube_config,
};

pub use decode::{TreeNode, decode_problems};
pub use expression::{
    Declarations, ExpressionCompiler, ExpressionError, ExpressionErrorKind, ExpressionHelp, ExpressionIssue,
    ExpressionUse, PolicyExpressions, UncheckedExpressions,
};
#[cfg(feature = "expressions")]
pub use expressions::{Cache as ExpressionCache, Expressions, help_for_issue};
pub use fields::MappingFields;
pub use file_schema::FileSchema;
pub use help::{Edit, Help};

pub use kind::Kind;
pub use list::list_items;
pub use load::content_hash::content_hash;
pub use load::loader::Loader;
pub use load::options::LoadOptions;
pub use load::reload::{ReadExtent, ReloadOutcome, Reloader};
pub use load::rewrites::{FileContent, RewriteDelays, RewriteDetector, UnstableFile, UnstableReason};
pub use load::selection::NamedOrigin;
pub use load::set::{ManifestSet, ObjectRef, OlderVersion, OptionalVersion, ReplacedObject, SourcedObject};
pub use parse::documents::{FileContents, SourceDocument, read_contents, read_documents};
pub use parse::source::ObjectSource;

#[cfg(feature = "expressions")]
pub use comment_swallow::{LITERAL_BLOCK, SwallowedText};
pub use plugin::{ManifestPlugin, UnknownManifestPlugin};
pub use pratique_yaml::budget::DEFAULT_LOAD_BYTES;
pub use pratique_yaml::position::{DocumentSource, Location, Position, Span};
pub use pratique_yaml::tree::{Entry, Node, NodeId, PathStep, StringStyle, Tree, TreeValue};
pub use pratique_yaml::{is_json, yaml_as_json};
pub use problem::{Failure, LoadErrors, ObjectName, Problem, ProblemList, Rule};
pub use read::boundary::{PathBoundary, absolute_path, canonical_path, is_below, repository_top};
pub use read::directory::ManifestFile;
pub use read::file::{FileState, MAX_CONFIGURATION_BYTES, open_regular, read_regular, read_with_state};
pub use read::path::{is_manifest, path_text, without_dots};
#[cfg(feature = "expressions")]
pub use validate::KIND_RULES;
