//! Credentials of the user that a kubeconfig has for a webhook.
//!
//! Files were read with the kubeconfig, so no call waits for one, and a changed token is used after the
//! configuration is loaded again. Commands that provide credentials are refused.

use pratique_types::{KubeConfig, KubeUser, ReadFile};

use super::credentials::{CredentialError, CredentialSource, Credentials, Impersonation};

impl CredentialSource for KubeConfig {
    fn credentials(&self, authority: &str) -> Result<Credentials, CredentialError> {
        self.user_for(authority)
            .map_or_else(|| Ok(Credentials::default()), credentials)
    }
}

fn credentials(user: &KubeUser) -> Result<Credentials, CredentialError> {
    let token = token(user)?;
    if user.has_auth_provider {
        return Err(CredentialError::AuthProvider);
    }
    let basic = (!user.username.is_empty()).then(|| (user.username.clone(), user.password.clone()));
    if user.has_exec && token.is_none() && basic.is_none() {
        return Err(CredentialError::Exec);
    }
    let certificate = either(&user.client_certificate_data, user.client_certificate.as_ref())?;
    let key = either(&user.client_key_data, user.client_key.as_ref())?;
    Ok(Credentials {
        token,
        basic,
        // One without the other is ignored.
        certificate: certificate.zip(key),
        impersonation: impersonation(user),
    })
}

/// A token in the file takes precedence over the given one.
fn token(user: &KubeUser) -> Result<Option<String>, CredentialError> {
    let token = (!user.token.is_empty()).then(|| user.token.clone());
    let Some(file) = &user.token_file else {
        return Ok(token);
    };
    let read = file
        .content
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    match (read, token) {
        (Ok(token), _) if !token.is_empty() => Ok(Some(token)),
        (_, Some(token)) => Ok(Some(token)),
        (Ok(_), None) => Err(CredentialError::EmptyToken(file.path.clone())),
        (Err(error), None) => Err(CredentialError::Other(error.to_string())),
    }
}

fn either(data: &[u8], file: Option<&ReadFile>) -> Result<Option<Vec<u8>>, CredentialError> {
    if !data.is_empty() {
        return Ok(Some(data.to_vec()));
    }
    let content = file.map(|file| file.content.clone()).transpose();
    content.map_err(|error| CredentialError::Other(error.to_string()))
}

fn impersonation(user: &KubeUser) -> Option<Impersonation> {
    (!user.act_as.is_empty()).then(|| Impersonation {
        user: user.act_as.clone(),
        uid: user.act_as_uid.clone(),
        groups: user.act_as_groups.clone(),
        extra: user.act_as_extra.clone(),
    })
}

#[cfg(test)]
mod tests {
    use pratique_types::FileError;

    use super::*;

    fn file(content: Result<&str, &str>) -> Option<ReadFile> {
        Some(ReadFile {
            path: "/f".to_owned(),
            content: content
                .map(|text| text.as_bytes().to_vec())
                .map_err(|reason| FileError {
                    call: "open",
                    path: "/f".to_owned(),
                    reason: reason.to_owned(),
                }),
        })
    }

    fn check(user: KubeUser, expected: Result<Credentials, &str>) {
        let credentials = credentials(&user).map_err(|error| error.to_string());
        assert!(credentials == expected.map_err(str::to_owned));
    }

    fn with_token(token: &str) -> Credentials {
        Credentials {
            token: Some(token.to_owned()),
            ..Credentials::default()
        }
    }

    #[test]
    fn tokens() {
        let user = |token: &str, token_file: Option<ReadFile>| KubeUser {
            token: token.to_owned(),
            token_file,
            ..KubeUser::default()
        };
        check(user("", None), Ok(Credentials::default()));
        check(user("t", None), Ok(with_token("t")));
        check(user("t", file(Ok("u\n"))), Ok(with_token("u")));
        check(user("t", file(Err("gone"))), Ok(with_token("t")));
        check(user("", file(Err("gone"))), Err("open /f: gone"));
        check(user("", file(Ok(" "))), Err("read empty token from file \"/f\""));
    }

    #[test]
    fn providers() {
        let exec = KubeUser {
            has_exec: true,
            ..KubeUser::default()
        };
        check(exec.clone(), Err("exec credential plugins are not supported"));
        let token = "t".to_owned();
        check(KubeUser { token, ..exec }, Ok(with_token("t")));
        let provider = KubeUser {
            has_auth_provider: true,
            ..KubeUser::default()
        };
        check(provider, Err("auth provider not supported"));
    }

    #[test]
    fn certificates() {
        let user = |data: &[u8], key: Option<ReadFile>| KubeUser {
            client_certificate_data: data.to_vec(),
            client_key: key,
            ..KubeUser::default()
        };
        let both = Credentials {
            certificate: Some((b"c".to_vec(), b"k".to_vec())),
            ..Credentials::default()
        };
        check(user(b"c", file(Ok("k"))), Ok(both));
        check(user(b"c", None), Ok(Credentials::default()));
        check(user(b"", file(Ok("k"))), Ok(Credentials::default()));
        check(user(b"c", file(Err("gone"))), Err("open /f: gone"));
    }
}
