//! Classes with names: `\d`, `[:alpha:]`, `\p{Greek}`.

use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use super::set::{KNOWN, named, negated, range};

/// The class of `\d`, `\s` or `\w` (ASCII all), by its lower-case letter.
pub(super) fn perl(letter: u8) -> Option<ClassUnicode> {
    static DIGIT: LazyLock<ClassUnicode> = LazyLock::new(|| named("[0-9]"));
    static SPACE: LazyLock<ClassUnicode> = LazyLock::new(|| named(r"[\t\n\x0C\r ]"));
    static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| named("[0-9A-Za-z_]"));
    Some(match letter {
        b'd' => DIGIT.clone(),
        b's' => SPACE.clone(),
        b'w' => WORD.clone(),
        _ => return None,
    })
}

/// The class that POSIX calls by a name.
pub(super) fn posix(name: &str) -> Option<ClassUnicode> {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
        "upper", "word", "xdigit",
    ];
    NAMES.contains(&name).then(|| named(&format!("[[:{name}:]]")))
}

/// The class that Unicode calls by a name: a general category or a script. Case, blanks, underscores and hyphens in
/// the name do not matter; names of two words are not known.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    let name = canonical(name);
    match name.as_str() {
        "Any" => return Some(range(0, 0x10_FFFF)),
        "Ascii" => return Some(range(0, 0x7F)),
        "Assigned" => return category("Cn").map(negated),
        "Lc" => return category("LC"),
        "Cs" | "Surrogate" => return Some(ClassUnicode::empty()),
        _ => {}
    }
    if CATEGORIES.contains(&name.as_str()) {
        category(&name)
    } else if SCRIPTS.contains(&name.as_str()) {
        Some(known(&format!(r"\p{{Script={name}}}")))
    } else {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        alias.and_then(|(_, name)| category(name))
    }
}

/// A general category. Characters that Go does not know are unassigned, and so in "other".
fn category(name: &str) -> Option<ClassUnicode> {
    let pattern = format!(r"\p{{gc={name}}}");
    Some(match name {
        "C" | "Cn" => {
            let mut class = named(&pattern);
            class.union(&negated(KNOWN.clone()));
            class
        }
        "Mn" => {
            let mut class = known(&pattern);
            class.union(&ahom_medial_ra());
            class
        }
        "Mc" => {
            let mut class = known(&pattern);
            class.difference(&ahom_medial_ra());
            class
        }
        _ => known(&pattern),
    })
}

/// The one character whose category changed after Unicode 15: from a nonspacing to a spacing mark.
fn ahom_medial_ra() -> ClassUnicode {
    range(0x1171E, 0x1171E)
}

fn known(pattern: &str) -> ClassUnicode {
    let mut class = named(pattern);
    class.intersect(&KNOWN);
    class
}

/// A name with a capital first and small letters after, without blanks, underscores and hyphens.
fn canonical(name: &str) -> String {
    let mut canonical = String::with_capacity(name.len());
    for character in name
        .chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
    {
        canonical.push(if canonical.is_empty() {
            character.to_ascii_uppercase()
        } else {
            character.to_ascii_lowercase()
        });
    }
    canonical
}

const CATEGORIES: [&str; 36] = [
    "C", "Cc", "Cf", "Cn", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
];

/// Long names of categories.
const ALIASES: [(&str, &str); 41] = [
    ("Casedletter", "LC"),
    ("Closepunctuation", "Pe"),
    ("Cntrl", "Cc"),
    ("Combiningmark", "M"),
    ("Connectorpunctuation", "Pc"),
    ("Control", "Cc"),
    ("Currencysymbol", "Sc"),
    ("Dashpunctuation", "Pd"),
    ("Decimalnumber", "Nd"),
    ("Digit", "Nd"),
    ("Enclosingmark", "Me"),
    ("Finalpunctuation", "Pf"),
    ("Format", "Cf"),
    ("Initialpunctuation", "Pi"),
    ("Letter", "L"),
    ("Letternumber", "Nl"),
    ("Lineseparator", "Zl"),
    ("Lowercaseletter", "Ll"),
    ("Mark", "M"),
    ("Mathsymbol", "Sm"),
    ("Modifierletter", "Lm"),
    ("Modifiersymbol", "Sk"),
    ("Nonspacingmark", "Mn"),
    ("Number", "N"),
    ("Openpunctuation", "Ps"),
    ("Other", "C"),
    ("Otherletter", "Lo"),
    ("Othernumber", "No"),
    ("Otherpunctuation", "Po"),
    ("Othersymbol", "So"),
    ("Paragraphseparator", "Zp"),
    ("Privateuse", "Co"),
    ("Punct", "P"),
    ("Punctuation", "P"),
    ("Separator", "Z"),
    ("Spaceseparator", "Zs"),
    ("Spacingmark", "Mc"),
    ("Symbol", "S"),
    ("Titlecaseletter", "Lt"),
    ("Unassigned", "Cn"),
    ("Uppercaseletter", "Lu"),
];

/// Scripts of one word, as of Unicode 15.
const SCRIPTS: [&str; 117] = [
    "Adlam",
    "Ahom",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Carian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dogra",
    "Duployan",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kharoshthi",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Medefaidrin",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nandinagari",
    "Newa",
    "Nko",
    "Nushu",
    "Ogham",
    "Oriya",
    "Osage",
    "Osmanya",
    "Palmyrene",
    "Phoenician",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "Sinhala",
    "Sogdian",
    "Soyombo",
    "Sundanese",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Toto",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Yezidi",
    "Yi",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unicode_names() {
        let check = |name, member: Option<char>, other: char| {
            let class = unicode(name).unwrap_or_else(|| panic!("{name}"));
            let holds = |character| {
                class
                    .iter()
                    .any(|range| (range.start()..=range.end()).contains(&character))
            };
            assert_eq!((member.is_none_or(holds), holds(other)), (true, false), "{name}");
        };
        check("Lu", Some('É'), 'é');
        check("uppercase letter", Some('É'), 'é');
        check("GREEK", Some('σ'), 's');
        check("Zl", Some('\u{2028}'), '\u{2029}');
        check("LC", Some('ǅ'), '世');
        check("cn", Some('\u{10ffff}'), 'a');
        check("Cn", Some('\u{1c89}'), '\u{e000}');
        check("Assigned", Some('\u{e000}'), '\u{1c89}');
        check("L", Some('a'), '\u{1c89}');
        check("Cs", None, 'a');
        check("Mn", Some('\u{1171e}'), 'a');
        for name in [
            "",
            "Garay",
            "Old_Italic",
            "SignWriting",
            "Grek",
            "Alphabetic",
            "sc=Greek",
            "L}",
        ] {
            assert!(unicode(name).is_none(), "{name}");
        }
    }
}
