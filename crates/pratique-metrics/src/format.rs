//! The formats that metrics are served in, and which one a client wants.

/// A text format of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The text format of Prometheus, 0.0.4, which API servers write.
    #[default]
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The format that the `Accept` header of a client asks for: OpenMetrics if it prefers that by quality or order to
    /// any plain text, and the format of API servers in all other cases.
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
                .find_map(|own| own.strip_prefix("q="))
                .map_or(Ok(1.0), str::parse::<f64>);
            if let Ok(quality) = quality
                && quality > best.1
            {
                best = (format, quality);
            }
        }
        best.0
    }

    /// What to serve it as.
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
    fn clients_choose() {
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
