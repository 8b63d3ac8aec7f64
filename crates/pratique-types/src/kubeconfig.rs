//! A kubeconfig, as far as webhook plugins use one: the client credentials for webhooks, and where a backend is.

use std::fmt;

/// Users by name, which is matched against webhooks, and the contexts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KubeConfig {
    /// The users, by name.
    pub users: Vec<(String, KubeUser)>,
    /// The clusters, by name.
    pub clusters: Vec<(String, KubeCluster)>,
    /// The contexts, by name.
    pub contexts: Vec<(String, KubeContext)>,
    /// The name of the context that is used where no user's name matches.
    pub current_context: String,
}

/// A cluster and a user, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeContext {
    /// The cluster.
    pub cluster: String,
    /// The user.
    pub user: String,
}

/// A server, and how it is trusted. Empty fields are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeCluster {
    /// Its URL.
    pub server: String,
    /// The name that its certificate has.
    pub tls_server_name: String,
    /// Whether its certificate is not verified.
    pub insecure_skip_tls_verify: bool,
    /// The authorities that are trusted, as PEM.
    pub certificate_authority_data: Vec<u8>,
    /// The file that they are in otherwise.
    pub certificate_authority: Option<ReadFile>,
    /// The proxy that it is reached by.
    pub proxy_url: String,
}

/// The credentials of a user. Empty fields are not set.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KubeUser {
    /// A bearer token.
    pub token: String,
    /// The file that a bearer token is in.
    pub token_file: Option<ReadFile>,
    /// A name for basic authentication.
    pub username: String,
    /// Its password.
    pub password: String,
    /// A client's certificate, as PEM.
    pub client_certificate_data: Vec<u8>,
    /// The file that it is in otherwise.
    pub client_certificate: Option<ReadFile>,
    /// The key of the client's certificate, as PEM.
    pub client_key_data: Vec<u8>,
    /// The file that it is in otherwise.
    pub client_key: Option<ReadFile>,
    /// The user to act as.
    pub act_as: String,
    /// That user's id.
    pub act_as_uid: String,
    /// That user's groups.
    pub act_as_groups: Vec<String>,
    /// Extra attributes of that user, by key.
    pub act_as_extra: Vec<(String, Vec<String>)>,
    /// Whether a command gives the credentials.
    pub has_exec: bool,
    /// Whether a provider gives the credentials.
    pub has_auth_provider: bool,
}

/// A file, and its content when the kubeconfig was read.
#[derive(Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// The path.
    pub path: String,
    /// The content, or why it could not be read.
    pub content: Result<Vec<u8>, FileError>,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call} {path}: {reason}")]
pub struct FileError {
    /// The system call that failed: `open`, `stat` or `read`.
    pub call: &'static str,
    /// The path of the file.
    pub path: String,
    /// Why it failed, as the C library words it, in lower case.
    pub reason: String,
}

impl KubeConfig {
    /// The user for a webhook at `host:port`.
    ///
    /// A user's name matches if it is the same, or `*.` and the text after one of the dots; for port 443 the port may be
    /// missing. Otherwise it is the user `*`, and then that of the current context.
    // Upstream: apiserver/pkg/util/webhook/authentication.go, authenticationInfoResolver.clientConfig
    pub fn user_for(&self, authority: &str) -> Option<&KubeUser> {
        let https = authority
            .strip_suffix(":443")
            .map(|host| host.trim_matches(['[', ']']));
        self.matching(authority)
            .or_else(|| self.matching(https?))
            .or_else(|| self.user("*"))
            .or_else(|| self.user(self.current_user()?))
    }

    /// The cluster of the current context, and its user.
    pub fn current(&self) -> Option<(&KubeCluster, Option<&KubeUser>)> {
        let context = self.current_context()?;
        let mut clusters = self.clusters.iter();
        let (_, cluster) = clusters.find(|(name, _)| *name == context.cluster)?;
        Some((cluster, self.user(&context.user)))
    }

    fn matching(&self, target: &str) -> Option<&KubeUser> {
        let wild = |(at, _): (usize, &str)| self.user(&format!("*{}", target.get(at..)?));
        self.user(target)
            .or_else(|| target.match_indices('.').find_map(wild))
    }

    fn user(&self, name: &str) -> Option<&KubeUser> {
        self.users
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, user)| user)
    }

    fn current_user(&self) -> Option<&str> {
        self.current_context().map(|context| context.user.as_str())
    }

    fn current_context(&self) -> Option<&KubeContext> {
        let mut contexts = self.contexts.iter();
        let current = contexts.find(|(name, _)| *name == self.current_context);
        current
            .map(|(_, context)| context)
            .filter(|_| !self.current_context.is_empty())
    }
}

/// The path only: the content may be secret.
impl fmt::Debug for ReadFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReadFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Names only: the rest is secret.
impl fmt::Debug for KubeConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.users.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("KubeConfig")
            .field("users", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(names: &[&str]) -> KubeConfig {
        let user = |name: &&str| {
            let user = KubeUser {
                token: (*name).to_owned(),
                ..KubeUser::default()
            };
            ((*name).to_owned(), user)
        };
        KubeConfig {
            users: names.iter().map(user).collect(),
            clusters: Vec::new(),
            contexts: vec![(
                "c".to_owned(),
                KubeContext {
                    cluster: String::new(),
                    user: "u".to_owned(),
                },
            )],
            current_context: "c".to_owned(),
        }
    }

    #[test]
    fn names_select_users() {
        let check = |names: &[&str], authority: &str, expected: Option<&str>| {
            let config = config(names);
            assert_eq!(
                config.user_for(authority).map(|user| user.token.as_str()),
                expected
            );
        };
        check(&["*", "h.example:8443"], "h.example:8443", Some("h.example:8443"));
        check(&["*", "h.example"], "h.example:8443", Some("*"));
        check(&["*", "h.example"], "h.example:443", Some("h.example"));
        check(
            &["*.example:443", "h.example"],
            "h.example:443",
            Some("*.example:443"),
        );
        check(&["*.svc", "*.n.svc"], "s.n.svc:443", Some("*.n.svc"));
        check(&["*.svc"], "s.n.svc:8443", None);
        check(&["*.svc:8443"], "s.n.svc:8443", Some("*.svc:8443"));
        check(&["*.0.0.1"], "127.0.0.1:443", Some("*.0.0.1"));
        check(&["::1"], "[::1]:443", Some("::1"));
        check(&["u"], "h.example:443", Some("u"));
        check(&["other"], "h.example:443", None);
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(
            format!("{:?}", config(&["a"])),
            "KubeConfig { users: [\"a\"], .. }"
        );
    }
}
