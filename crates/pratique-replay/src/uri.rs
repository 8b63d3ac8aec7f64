//! The address of a request.

use pratique_gotext::url::Url;

/// The path and the parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestUri {
    /// The decoded path.
    pub(crate) path: String,
    query: Vec<(String, Vec<String>)>,
}

impl RequestUri {
    /// Reads the address of an event; one that is not valid is empty.
    pub(crate) fn parse(text: &str) -> Self {
        match Url::parse_request_uri(text) {
            Ok(url) => RequestUri {
                path: url.path(),
                query: url.query(),
            },
            Err(_) => RequestUri::default(),
        }
    }

    /// The values of a parameter.
    pub(crate) fn values(&self, name: &str) -> &[String] {
        let parameter = self.query.iter().find(|(key, _)| key == name);
        parameter.map_or(&[], |(_, values)| values)
    }

    /// The first value of a parameter; empty where there is none.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.values(name).first().map(String::as_str).unwrap_or_default()
    }

    /// Whether nothing is stored.
    // Upstream: apiserver/pkg/util/dryrun/dryrun.go, IsDryRun
    pub(crate) fn is_dry_run(&self) -> bool {
        !self.values("dryRun").is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let uri = RequestUri::parse("/api/v1/namespaces/a/pods/b/exec?command=sh&command=-c%20x&stdin=true");
        assert_eq!(uri.path, "/api/v1/namespaces/a/pods/b/exec");
        assert_eq!(uri.values("command"), ["sh", "-c x"]);
        assert_eq!(
            (uri.value("stdin"), uri.value("tty"), uri.is_dry_run()),
            ("true", "", false)
        );
        assert!(RequestUri::parse("/api/v1/pods?dryRun=All").is_dry_run());
        assert_eq!(RequestUri::parse("%"), RequestUri::default());
    }
}
