//! A kubeconfig, as the webhook plugins read one.

use super::meta::{API_VERSION, KIND};
use super::{Package, Struct, TEXT, Type, optional, written};

/// Config.
pub(crate) static KUBE_CONFIG: Struct = Struct {
    name: "Config",
    package: Package::Api,
    fields: &[
        KIND,
        API_VERSION,
        written("preferences", Type::Struct(&PREFERENCES)),
        written("clusters", Type::List(&Type::Struct(&NAMED_CLUSTER))),
        written("users", Type::List(&Type::Struct(&NAMED_USER))),
        written("contexts", Type::List(&Type::Struct(&NAMED_CONTEXT))),
        written("current-context", TEXT),
        EXTENSIONS,
    ],
};

const EXTENSIONS: super::Field = written("extensions", Type::List(&NAMED_EXTENSION_TYPE));

static NAMED_EXTENSION_TYPE: Type = Type::Struct(&NAMED_EXTENSION);

static NAMED_EXTENSION: Struct = Struct {
    name: "NamedExtension",
    package: Package::Api,
    fields: &[written("name", TEXT), written("extension", Type::Any)],
};

static PREFERENCES: Struct = Struct {
    name: "Preferences",
    package: Package::Api,
    fields: &[written("colors", Type::Bool), EXTENSIONS],
};

static NAMED_CLUSTER: Struct = Struct {
    name: "NamedCluster",
    package: Package::Api,
    fields: &[written("name", TEXT), written("cluster", Type::Struct(&CLUSTER))],
};

static CLUSTER: Struct = Struct {
    name: "Cluster",
    package: Package::Api,
    fields: &[
        written("server", TEXT),
        written("tls-server-name", TEXT),
        written("insecure-skip-tls-verify", Type::Bool),
        written("certificate-authority", TEXT),
        written("certificate-authority-data", Type::Bytes),
        written("proxy-url", TEXT),
        written("disable-compression", Type::Bool),
        EXTENSIONS,
    ],
};

static NAMED_CONTEXT: Struct = Struct {
    name: "NamedContext",
    package: Package::Api,
    fields: &[written("name", TEXT), written("context", Type::Struct(&CONTEXT))],
};

static CONTEXT: Struct = Struct {
    name: "Context",
    package: Package::Api,
    fields: &[
        written("cluster", TEXT),
        written("user", TEXT),
        written("namespace", TEXT),
        EXTENSIONS,
    ],
};

static NAMED_USER: Struct = Struct {
    name: "NamedAuthInfo",
    package: Package::Api,
    fields: &[written("name", TEXT), written("user", Type::Struct(&USER))],
};

static USER: Struct = Struct {
    name: "AuthInfo",
    package: Package::Api,
    fields: &[
        written("client-certificate", TEXT),
        written("client-certificate-data", Type::Bytes),
        written("client-key", TEXT),
        written("client-key-data", Type::Bytes),
        written("token", TEXT),
        written("tokenFile", TEXT),
        written("as", TEXT),
        written("as-uid", TEXT),
        written("as-groups", Type::List(&TEXT)),
        written("as-user-extra", Type::TextLists),
        written("username", TEXT),
        written("password", TEXT),
        optional("auth-provider", Type::Struct(&AUTH_PROVIDER)),
        optional("exec", Type::Struct(&EXEC)),
        EXTENSIONS,
    ],
};

static AUTH_PROVIDER: Struct = Struct {
    name: "AuthProviderConfig",
    package: Package::Api,
    fields: &[written("name", TEXT), written("config", Type::Map)],
};

static EXEC: Struct = Struct {
    name: "ExecConfig",
    package: Package::Api,
    fields: &[
        written("command", TEXT),
        written("args", Type::List(&TEXT)),
        written("env", Type::List(&Type::Struct(&EXEC_VARIABLE))),
        written("apiVersion", TEXT),
        written("installHint", TEXT),
        written("provideClusterInfo", Type::Bool),
        written("interactiveMode", Type::Text("ExecInteractiveMode")),
    ],
};

static EXEC_VARIABLE: Struct = Struct {
    name: "ExecEnvVar",
    package: Package::Api,
    fields: &[written("name", TEXT), written("value", TEXT)],
};
