//! The backend of ImagePolicyWebhook, which first allows every image, and then none.

use std::fs;
use std::path::Path;

use pratique_harness::ToolError;
use pratique_json::base64;
use pratique_webhook_backend::{Backend, Listener, Script};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::kubectl::KubectlUser;

/// A backend that listens.
pub(super) struct ImageBackendServer {
    _runtime: Runtime,
    backend: Backend,
}

/// The path of the backend.
const PATH: &str = "/images";

/// A Pod whose image was not asked about before.
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: images, namespace: lab}\n\
    spec: {containers: [{name: c, image: 'refused.example/c:1'}]}\n";

impl ImageBackendServer {
    pub(super) fn start() -> Result<Self, ToolError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let backend = runtime.block_on(Backend::start());
        let images = ImageBackendServer {
            _runtime: runtime,
            backend: backend.map_err(|error| error.to_string())?,
        };
        images.answer(&json!({"allowed": true}))?;
        Ok(images)
    }

    fn answer(&self, status: &serde_json::Value) -> Result<(), ToolError> {
        let review =
            json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": status});
        let script = Script::from_json(&json!({"body": review.to_string()}).to_string());
        let script = script.map_err(|error| error.to_string())?;
        self.backend.begin([(PATH.to_owned(), script)], false);
        Ok(())
    }

    /// The configuration of the plugin, whose kubeconfig is written to the same directory.
    pub(super) fn configuration(&self, directory: &Path) -> Result<String, ToolError> {
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "images",
            "contexts": [{"name": "images", "context": {"cluster": "images", "user": "images"}}],
            "users": [{"name": "images", "user": {"token": "images"}}],
            "clusters": [{"name": "images", "cluster": {
                "server": format!("{}{PATH}", self.backend.url(Listener::Backend)),
                "certificate-authority-data": base64::encode(self.backend.ca_pem().as_bytes()),
            }}],
        });
        let path = directory.join("images.kubeconfig");
        fs::write(&path, kubeconfig.to_string()).map_err(ToolError::file(&path))?;
        Ok(json!({"imagePolicy": {"kubeConfigFile": path, "defaultAllow": false}}).to_string())
    }

    /// Lets the backend refuse an image.
    pub(super) fn refuse(&self, kubectl: &KubectlUser) -> Result<String, ToolError> {
        if self.backend.calls().is_empty() {
            return Err("the backend was not asked about the images of the Pods before".into());
        } else {
            self.answer(&json!({"allowed": false, "reason": "of no known registry"}))?
        }
        let result = kubectl.feed(&["create", "--dry-run=server"], POD)?;
        // Upstream: plugin/pkg/admission/imagepolicy/admission.go, admitPod
        let expected = "pods \"images\" is forbidden: image policy webhook backend denied one or more images: of no known \
            registry";
        if result.stderr.contains(expected) {
            Ok(result.stderr)
        } else {
            Err(format!("{expected:?} is not in {}{}", result.stdout, result.stderr).into())
        }
    }
}
