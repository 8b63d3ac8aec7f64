//! Suffixes: their meaning, and the choice of the one to show.

/// The kind of suffix a quantity was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuantityFormat {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`
    BinarySi,
    /// `12M`
    DecimalSi,
}

/// The meaning of a suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuantitySuffix {
    /// Times 10 to the `exponent`.
    Decimal { exponent: i32, format: QuantityFormat },
    /// Times 2 to the `power`.
    Binary { power: u32 },
}

impl QuantitySuffix {
    pub(super) fn format(self) -> QuantityFormat {
        match self {
            Self::Decimal { format, .. } => format,
            Self::Binary { .. } => QuantityFormat::BinarySi,
        }
    }
}

/// The decimal suffixes from 10⁻⁹ in steps of 1000.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const DECIMAL_FIRST: i32 = -9;
/// The binary suffixes from 1024⁰.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The meaning of a suffix, if it has one.
pub(super) fn interpret(suffix: &str) -> Option<QuantitySuffix> {
    let decimal = |exponent| {
        Some(QuantitySuffix::Decimal {
            exponent,
            format: QuantityFormat::DecimalSi,
        })
    };
    let binary = |power| Some(QuantitySuffix::Binary { power });
    match suffix.as_bytes() {
        b"n" => return decimal(-9),
        b"u" => return decimal(-6),
        b"m" => return decimal(-3),
        b"" => return decimal(0),
        b"k" => return decimal(3),
        b"M" => return decimal(6),
        b"G" => return decimal(9),
        b"T" => return decimal(12),
        b"P" => return decimal(15),
        b"E" => return decimal(18),
        b"Ki" => return binary(10),
        b"Mi" => return binary(20),
        b"Gi" => return binary(30),
        b"Ti" => return binary(40),
        b"Pi" => return binary(50),
        b"Ei" => return binary(60),
        _ => {}
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Upstream drops the upper half without a look.
    Some(QuantitySuffix::Decimal {
        exponent: exponent as i32,
        format: QuantityFormat::DecimalExponent,
    })
}

/// The suffix for a power of 10 that is a multiple of 3. If there is none, the reference wrongly shows none.
pub(super) fn decimal(exponent: i32) -> &'static str {
    let index = (i64::from(exponent) - i64::from(DECIMAL_FIRST)) / 3;
    usize::try_from(index)
        .ok()
        .and_then(|index| DECIMAL.get(index))
        .copied()
        .unwrap_or_default()
}

/// The suffix for a power of 1024. Where there is none upstream shows none.
pub(super) fn binary(power: u64) -> &'static str {
    usize::try_from(power)
        .ok()
        .and_then(|power| BINARY.get(power))
        .copied()
        .unwrap_or_default()
}

/// The suffix for a power of 10 in scientific notation.
pub(super) fn exponent(exponent: i32) -> String {
    if exponent == 0 {
        String::new()
    } else {
        format!("e{exponent}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings() {
        let si = |exponent| {
            Some(QuantitySuffix::Decimal {
                exponent,
                format: QuantityFormat::DecimalSi,
            })
        };
        let scientific = |exponent| {
            Some(QuantitySuffix::Decimal {
                exponent,
                format: QuantityFormat::DecimalExponent,
            })
        };
        for (suffix, expected) in [
            ("n", si(-9)),
            ("", si(0)),
            ("E", si(18)),
            ("Ki", Some(QuantitySuffix::Binary { power: 10 })),
            ("Ei", Some(QuantitySuffix::Binary { power: 60 })),
            ("e3", scientific(3)),
            ("E-3", scientific(-3)),
            ("e+0", scientific(0)),
            ("e4294967297", scientific(1)),
            ("e", None),
            ("K", None),
            ("mi", None),
        ] {
            assert_eq!(interpret(suffix), expected, "{suffix}");
        }
    }

    #[test]
    fn what_is_shown_is_what_was_meant() {
        for suffix in DECIMAL {
            let Some(QuantitySuffix::Decimal { exponent, .. }) = interpret(suffix) else {
                panic!("{suffix}");
            };
            assert_eq!(decimal(exponent), suffix);
        }
        for suffix in BINARY.into_iter().skip(1) {
            let Some(QuantitySuffix::Binary { power }) = interpret(suffix) else {
                panic!("{suffix}");
            };
            assert_eq!(binary(u64::from(power / 10)), suffix);
        }
    }

    #[test]
    fn beyond_the_table() {
        assert_eq!(decimal(21), "");
        assert_eq!(decimal(-12), "");
        assert_eq!(decimal(i32::MIN), "");
        assert_eq!(binary(7), "");
    }
}
