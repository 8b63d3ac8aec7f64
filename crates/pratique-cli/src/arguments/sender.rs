//! Arguments about who sends the requests that are made of objects.

use clap::Args;
use pratique_request::{DEFAULT_NAMESPACE, DEFAULT_USER};

/// What a client brings into the requests that it makes of objects: a namespace, and its user.
#[derive(Clone, Debug, Args)]
pub(crate) struct SenderArguments {
    /// Namespace of objects without one.
    #[arg(long, short, env = "PRATIQUE_NAMESPACE", default_value = DEFAULT_NAMESPACE)]
    pub(crate) namespace: String,
    /// User who sends the requests that are made of objects.
    #[arg(
        long = "as",
        env = "PRATIQUE_AS",
        value_name = "USER",
        default_value = DEFAULT_USER
    )]
    pub(crate) user: String,
    /// Group of the user, besides system:authenticated.
    #[arg(
        long = "as-group",
        env = "PRATIQUE_AS_GROUP",
        value_name = "GROUP",
        value_delimiter = ','
    )]
    pub(crate) groups: Vec<String>,
    /// UID of the user.
    #[arg(long, env = "PRATIQUE_AS_UID", value_name = "UID")]
    pub(crate) as_uid: Option<String>,
    /// Extra field of the user, as KEY=VALUE; a key can have several values.
    #[arg(long, env = "PRATIQUE_AS_USER_EXTRA", value_name = "KEY=VALUE", value_delimiter = ',', value_parser = extra)]
    pub(crate) as_user_extra: Vec<(String, String)>,
}

/// A key and a value. As in an API server, keys are lower case.
fn extra(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_lowercase(), value.to_owned()))
}
