//! The status page: the configuration and the last decisions. It has no scripts and loads nothing.

mod filter;
mod html;
mod tables;

use std::sync::LazyLock;
use std::time::SystemTime;

use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use pratique_json::base64;
use sha2::{Digest, Sha256};

use crate::configz::{self, ConfigzContent};
use crate::context::ServerContext;
use crate::recent::RecentDecisions;
use crate::respond::{HttpResponse, respond_text};
use filter::DecisionFilter;
use html::HtmlPage;

const STYLE: &str = include_str!("page/style.css");

/// The content security policy, which allows only the embedded style.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let hash = base64::encode(&Sha256::digest(STYLE.as_bytes()));
    let rules = [
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    .join("; ");
    HeaderValue::try_from(format!("{rules}; style-src 'sha256-{hash}'")).ok()
});

/// The response with the status page.
pub(crate) fn response(
    content: &ConfigzContent,
    query: Option<&str>,
    context: &ServerContext,
) -> HttpResponse {
    let mut answer = respond_text(
        StatusCode::OK,
        "text/html; charset=utf-8",
        write(content, &DecisionFilter::new(query), context),
    );
    let headers = answer.headers_mut();
    if let Some(policy) = &*POLICY {
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
    }
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

fn write(content: &ConfigzContent, filter: &DecisionFilter, context: &ServerContext) -> String {
    let now = SystemTime::now();
    let mut out = HtmlPage::default();
    out.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Pratique</title>");
    out.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    out.raw("<meta http-equiv=\"refresh\" content=\"10\"><style>")
        .raw(STYLE)
        .raw("</style></head><body>");
    out.raw("<h1>Pratique ").push_text(content.version).raw(": ");
    match &content.not_ready {
        None => out.raw("<span class=\"good\">ready</span>"),
        Some(why) => out
            .raw("<span class=\"bad\">not ready</span> <small>")
            .push_text(why)
            .raw("</small>"),
    };
    out.raw("</h1><p class=\"quiet\">");
    if let Some(version) = &content.kubernetes_version {
        out.raw("Decides as Kubernetes ").push_text(version).raw(". ");
    }
    out.raw("As of ")
        .push_text(&configz::time_text(now))
        .raw(", every ten seconds.</p>");
    tables::sources(&mut out, &content.sources);
    tables::certificates(&mut out, &content.certificates, now);
    tables::latencies(&mut out, &context.metrics.gather());
    tables::decisions(
        &mut out,
        &context
            .recent
            .as_ref()
            .map(RecentDecisions::to_vec)
            .unwrap_or_default(),
        filter,
    );
    out.raw("</body></html>\n");
    out.finish()
}
