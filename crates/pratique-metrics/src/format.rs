//! Text formats of metrics, and content negotiation.

/// A text format of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The Prometheus text format 0.0.4, as of API servers.
    #[default]
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The format for an `Accept` header: OpenMetrics if it is preferred to plain text by quality or order, otherwise the
    /// format of API servers.
    #[must_use]
    pub fn accepted(accept: &str) -> Self {
        let mut best = (Format::Text, 0.0);
        for part in accept.split(',') {
            let mut parameters = part.split(';').map(str::trim);
            let format = match parameters.next() {
                Some("application/openmetrics-text") => Format::OpenMetrics,
                Some("text/plain" | "text/*" | "*/*") => Format::Text,
                _ => continue,
            };
            let quality = parameters
                .find_map(|parameter| parameter.strip_prefix("q="))
                .map_or(Ok(1.0), str::parse::<f64>);
            if let Ok(quality) = quality
                && quality > best.1
            {
                best = (format, quality);
            }
        }
        best.0
    }

    /// The content type.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn formats_are_negotiated() {
        let check = |accept, expected| assert_eq!(Format::accepted(accept), expected, "{accept}");
        check("", Format::Text);
        check("*/*", Format::Text);
        check("application/openmetrics-text", Format::OpenMetrics);
        check("text/plain, application/openmetrics-text", Format::Text);
        check(
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
            Format::OpenMetrics,
        );
        check(
            "application/openmetrics-text;q=0.2,text/plain;q=0.3",
            Format::Text,
        );
        check("application/openmetrics-text;q=0", Format::Text);
        check("application/openmetrics-text;q=high", Format::Text);
    }
}
