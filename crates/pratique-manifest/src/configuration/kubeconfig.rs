//! The kubeconfig that a webhook plugin's configuration names: it has to exist and to decode.
//!
//! The files that it names are read with it. A file that cannot be read is an error only once its content is needed.

use std::collections::HashSet;

use pratique_gotext::strconv::quote;
use pratique_json::base64;
use pratique_schema::Release;
use pratique_typed::decode::{TreeNode, type_meta};
use pratique_types::{FileError, GroupVersionKind, KubeCluster, KubeConfig, KubeContext, KubeUser, ReadFile};
use serde_json::Value as Json;

use super::open::whole_file;
use super::root::{FileRoot, relative_to};
use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::decode::{self, RawDecoding, registry};
use crate::parse::{ParsedContent, parse_yaml};
use crate::read::directory;

/// Why a kubeconfig does not load, with the server's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubeConfigError {
    /// There is no such file, or it may not be opened.
    #[error(transparent)]
    NotFound(#[from] FileError),
    /// The file has an error.
    #[error("error loading config file {}: {issue}", quote(path))]
    Invalid {
        /// The path.
        path: String,
        /// The error.
        issue: KubeConfigIssue,
    },
}

/// An error in a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubeConfigIssue {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// The text is not YAML.
    #[error("{0}")]
    Syntax(String),
    /// The kind or the version is of the wrong type.
    #[error("{0}")]
    Header(String),
    /// There is a group or a kind, but no version in this document.
    #[error("Object 'apiVersion' is missing in '{0}'")]
    MissingVersion(String),
    /// The document is not a `Config`.
    #[error("{0}")]
    UnknownKind(String),
    /// A field is of the wrong type.
    #[error("{0}")]
    WrongType(String),
    /// Two items of a list have the same name.
    #[error("error converting *[]{list} into *map[string]{map}: duplicate name \"{name}\" in list")]
    DuplicateName {
        /// The type of the items.
        list: &'static str,
        /// The type that they are converted to.
        map: &'static str,
        /// The name.
        name: String,
    },
}

/// Reads a kubeconfig as webhook plugins of a release do; the empty path stands for no file.
///
/// # Errors
/// The file cannot be read, or is not a valid kubeconfig.
// Upstream: apiserver/pkg/util/webhook/authentication.go, NewDefaultAuthenticationInfoResolver
pub fn load_kube_config(
    path: &str,
    release: &'static Release,
) -> Result<Option<KubeConfig>, KubeConfigError> {
    load_below(FileRoot::below(""), path, release)
}

/// Reads a kubeconfig whose absolute paths begin at the root; its own path does not.
pub(super) fn load_below(
    root: FileRoot<'_>,
    path: &str,
    release: &'static Release,
) -> Result<Option<KubeConfig>, KubeConfigError> {
    if path.is_empty() {
        return Ok(None);
    }
    root.permit(path)?;
    directory::is_directory(path)?;
    load(root, path, release)
        .map(Some)
        .map_err(|issue| KubeConfigError::Invalid {
            path: path.to_owned(),
            issue,
        })
}

fn load(root: FileRoot<'_>, path: &str, release: &'static Release) -> Result<KubeConfig, KubeConfigIssue> {
    let bytes = directory::read_file(path)?;
    if bytes.is_empty() {
        return Ok(KubeConfig::default());
    }
    let parsed = parse_yaml(whole_file(path, bytes), &Budget::new(DEFAULT_LOAD_BYTES))
        .map_err(|failure| KubeConfigIssue::Syntax(failure.text))?;
    check_kind(&parsed, release)?;
    let decoded = decode::decode(
        release,
        parsed.tree(),
        parsed.root,
        "api/v1.Config",
        RawDecoding::LeftOut,
    );
    if let Some(fault) = decoded.fatal.first().or(decoded.types.first()) {
        return Err(KubeConfigIssue::WrongType(fault.message.clone()));
    }
    check_names(&decoded.value)?;
    Ok(KubeconfigConverter { path, root }.config(&decoded.value))
}

/// Checks the kind and the version, which may both be missing.
fn check_kind(parsed: &ParsedContent, release: &Release) -> Result<(), KubeConfigIssue> {
    let mut header_kind = type_meta(TreeNode::new(parsed.tree(), parsed.root), release)
        .map_err(|error| KubeConfigIssue::Header(error.to_string()))?;
    if header_kind.kind.is_empty() {
        "Config".clone_into(&mut header_kind.kind);
    }
    if header_kind.version.is_empty() && header_kind.group.is_empty() {
        "v1".clone_into(&mut header_kind.version);
    }
    if header_kind.version.is_empty() {
        return Err(KubeConfigIssue::MissingVersion(parsed.raw_text(parsed.root)));
    }
    if header_kind == GroupVersionKind::new("", "v1", "Config") {
        Ok(())
    } else {
        Err(KubeConfigIssue::UnknownKind(registry::not_registered(
            &header_kind,
            release,
        )))
    }
}

/// Checks that names are unique: lists are converted to maps.
fn check_names(config: &Json) -> Result<(), KubeConfigIssue> {
    for (field, list, map) in [
        ("clusters", "NamedCluster", "*api.Cluster"),
        ("users", "NamedAuthInfo", "*api.AuthInfo"),
        ("contexts", "NamedContext", "*api.Context"),
    ] {
        let mut names = HashSet::new();
        for name in items(config, field).filter_map(|item| item.get("name").and_then(Json::as_str)) {
            if !names.insert(name) {
                let name = name.to_owned();
                return Err(KubeConfigIssue::DuplicateName { list, map, name });
            }
        }
    }
    Ok(())
}

/// Converts a decoded kubeconfig, and reads the files that it names.
struct KubeconfigConverter<'a> {
    path: &'a str,
    root: FileRoot<'a>,
}

impl KubeconfigConverter<'_> {
    fn config(&self, json: &Json) -> KubeConfig {
        let users = items(json, "users");
        let contexts = items(json, "contexts");
        KubeConfig {
            users: users
                .map(|item| (text_member(item, "name"), self.user(member(item, "user"))))
                .collect(),
            clusters: items(json, "clusters")
                .map(|item| (text_member(item, "name"), self.cluster(member(item, "cluster"))))
                .collect(),
            contexts: contexts
                .map(|item| (text_member(item, "name"), context(member(item, "context"))))
                .collect(),
            current_context: text_member(json, "current-context"),
        }
    }

    fn cluster(&self, json: &Json) -> KubeCluster {
        KubeCluster {
            server: text_member(json, "server"),
            tls_server_name: text_member(json, "tls-server-name"),
            insecure_skip_tls_verify: member(json, "insecure-skip-tls-verify") == &Json::Bool(true),
            certificate_authority_data: bytes(json, "certificate-authority-data"),
            certificate_authority: self.file(json, "certificate-authority"),
            proxy_url: text_member(json, "proxy-url"),
        }
    }

    fn user(&self, json: &Json) -> KubeUser {
        KubeUser {
            token: text_member(json, "token"),
            token_file: self.file(json, "tokenFile"),
            username: text_member(json, "username"),
            password: text_member(json, "password"),
            client_certificate_data: bytes(json, "client-certificate-data"),
            client_certificate: self.file(json, "client-certificate"),
            client_key_data: bytes(json, "client-key-data"),
            client_key: self.file(json, "client-key"),
            act_as: text_member(json, "as"),
            act_as_uid: text_member(json, "as-uid"),
            act_as_groups: texts(member(json, "as-groups")),
            act_as_extra: extra(member(json, "as-user-extra")),
            has_exec: member(json, "exec").is_object(),
            has_auth_provider: member(json, "auth-provider").is_object(),
        }
    }

    fn file(&self, json: &Json, name: &str) -> Option<ReadFile> {
        let path = text_member(json, name);
        if path.is_empty() {
            return None;
        }
        let path = relative_to(&path, self.path, self.root);
        let content = self.root.permit(&path).and_then(|()| directory::read_file(&path));
        Some(ReadFile { path, content })
    }
}

fn context(json: &Json) -> KubeContext {
    KubeContext {
        cluster: text_member(json, "cluster"),
        user: text_member(json, "user"),
    }
}

fn items<'a>(json: &'a Json, list: &str) -> impl Iterator<Item = &'a Json> {
    json.get(list).and_then(Json::as_array).into_iter().flatten()
}

fn member<'a>(json: &'a Json, name: &str) -> &'a Json {
    json.get(name).unwrap_or(&Json::Null)
}

fn text_member(json: &Json, name: &str) -> String {
    json.get(name)
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn bytes(json: &Json, name: &str) -> Vec<u8> {
    base64::decode(&text_member(json, name)).unwrap_or_default()
}

fn texts(json: &Json) -> Vec<String> {
    let texts = json.as_array().into_iter().flatten();
    texts.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn extra(json: &Json) -> Vec<(String, Vec<String>)> {
    let extra = json.as_object().into_iter().flatten();
    extra.map(|(key, values)| (key.clone(), texts(values))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_kinds_are_refused_with_the_line_of_the_release() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config").to_string_lossy().into_owned();
        std::fs::write(&path, "apiVersion: v2\nkind: Config\n").unwrap();
        for (version, line) in [("1.34", 110), ("1.35", 111), ("1.37", 111), ("1.38", 110)] {
            let error = load_kube_config(&path, Release::by_version(version).unwrap()).unwrap_err();
            let expected = format!(
                "no kind \"Config\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:{line}\""
            );
            assert!(error.to_string().ends_with(&expected), "{version}: {error}");
        }
    }

    #[test]
    fn named_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("token"), "secret\n").unwrap();
        let text = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {name: c, context: {user: a, cluster: i}}\n\
                    clusters: [{name: i, cluster: {server: 'https://images:8443/review', certificate-authority: ca.pem}}]\n\
                    users:\n- name: a\n  user: {tokenFile: token, client-key: /nonexistent/key, as: jane, \
                    as-groups: [x], as-user-extra: {k: [v]}, client-certificate-data: YWJj}\n- name: b\n  user: {exec: \
                    {command: x}}\n";
        std::fs::write(path("config"), text).unwrap();
        let config = load_kube_config(&path("config"), Release::latest())
            .unwrap()
            .unwrap();
        assert_eq!(config.contexts.len(), 1);
        let (cluster, user) = config.current().unwrap();
        assert_eq!(cluster.server, "https://images:8443/review");
        let authority = cluster.certificate_authority.as_ref().unwrap();
        assert_eq!(authority.path, path("ca.pem"));
        assert!(user == config.user_for("somewhere:443"));
        let user = config.user_for("somewhere:443").unwrap();
        let token = user.token_file.as_ref().unwrap();
        assert_eq!(
            (token.path.as_str(), token.content.as_deref()),
            (path("token").as_str(), Ok(&b"secret\n"[..]))
        );
        let key = user.client_key.as_ref().unwrap();
        assert_eq!(
            key.content.as_ref().map_err(FileError::to_string),
            Err("open /nonexistent/key: no such file or directory".to_owned())
        );
        assert_eq!(user.client_certificate_data, b"abc");
        assert_eq!(user.act_as_extra, [("k".to_owned(), vec!["v".to_owned()])]);
        assert_eq!(
            (user.act_as.as_str(), user.act_as_groups.as_slice()),
            ("jane", &["x".to_owned()][..])
        );
        assert!(config.user_for("b").unwrap().has_exec);
        assert!(!user.has_exec && !user.has_auth_provider);
    }

    #[test]
    #[cfg(unix)]
    fn devices_are_not_read() {
        assert_eq!(
            load_kube_config("/dev/zero", Release::latest())
                .unwrap_err()
                .to_string(),
            "error loading config file \"/dev/zero\": open /dev/zero: not a regular file"
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config").to_string_lossy().into_owned();
        std::fs::write(&path, "users: [{name: a, user: {tokenFile: /dev/zero}}]\n").unwrap();
        let config = load_kube_config(&path, Release::latest()).unwrap().unwrap();
        let token = config.user_for("a").unwrap().token_file.clone().unwrap();
        assert_eq!(
            token.content.map_err(|error| error.to_string()),
            Err("open /dev/zero: not a regular file".to_owned())
        );
    }

    #[test]
    fn no_file_and_no_such_file() {
        assert_eq!(load_kube_config("", Release::latest()), Ok(None));
        let error = load_kube_config("/nonexistent/config", Release::latest()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stat /nonexistent/config: no such file or directory"
        );
    }
}
