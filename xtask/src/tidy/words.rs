//! The words of a source file that say too little, and other habits that are given up.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, ExprMatch, ExprPath, Ident, ImplItemFn, ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStruct,
    ItemTrait, ItemType, ItemUnion, Lit, Meta, Pat, PatIdent, TraitItemFn,
};

/// What is counted by crate. Its number may only fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourceHabit {
    /// The name of a type has one word, and is not the main noun of its crate.
    OneWordTypes,
    /// The name of a function is a bare word that does not say what it does.
    BareFunctions,
    /// The name of a local says that it was found or shown, and not what it is.
    BareLocals,
    /// A `match` has arms `true` and `false`, and could be an `if`.
    BoolMatches,
    /// A module is in `foo/mod.rs`, and not in `foo.rs`.
    ModFiles,
    /// The name of a module is a participle: `compared.rs`.
    ParticipleFiles,
    /// The tables of the latest release are taken, where whoever asks has a release.
    LatestReleases,
}

/// A place where a file has a habit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HabitOccurrence {
    pub(crate) habit: SourceHabit,
    /// The name; for `match`, for releases and for files the path of the file in its crate.
    pub(crate) word: String,
    pub(crate) path: PathBuf,
    /// From 1; 0 for the file itself.
    pub(crate) line: usize,
}

impl SourceHabit {
    pub(crate) const ALL: [SourceHabit; 7] = [
        SourceHabit::OneWordTypes,
        SourceHabit::BareFunctions,
        SourceHabit::BareLocals,
        SourceHabit::BoolMatches,
        SourceHabit::ModFiles,
        SourceHabit::ParticipleFiles,
        SourceHabit::LatestReleases,
    ];

    /// Its name in the baseline.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SourceHabit::OneWordTypes => "one-word-types",
            SourceHabit::BareFunctions => "bare-functions",
            SourceHabit::BareLocals => "bare-locals",
            SourceHabit::BoolMatches => "bool-matches",
            SourceHabit::ModFiles => "mod-files",
            SourceHabit::ParticipleFiles => "participle-files",
            SourceHabit::LatestReleases => "latest-releases",
        }
    }
}

impl Display for SourceHabit {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Display for HabitOccurrence {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if self.line > 0 {
            write!(formatter, ":{}", self.line)?;
        }
        write!(formatter, ": {}", self.word)
    }
}

const FUNCTIONS: [&str; 5] = ["of", "text", "check", "all", "shown"];
const LOCALS: [&str; 6] = ["found", "shown", "before", "taken", "supplied", "of_inputs"];

/// Participles that do not end in `ed`, as far as modules were named so.
const IRREGULAR: [&str; 14] = [
    "chosen", "found", "given", "held", "kept", "known", "made", "seen", "sent", "shown", "taken", "told",
    "unknown", "written",
];
/// Nouns that end like participles.
const NOUNS: [&str; 5] = ["embed", "feed", "need", "seed", "speed"];

/// What has tables of the latest release, and the crate that chooses them.
const RELEASES: [&str; 2] = ["Release", "BuiltinResources"];
const HOME_OF_RELEASES: &str = "pratique-schema";

/// The main nouns of crates that are not named by them.
const MAIN_NOUNS: [(&str, &[&str]); 5] = [
    ("pratique", &["Admission"]),
    ("pratique-cel", &["Value"]),
    ("pratique-explain", &["Explanation"]),
    ("pratique-json", &["Value"]),
    ("pratique-lint", &["Warning"]),
];

/// The habits of a source file. Tests may have them: a table and its `check` are the house's form of tests.
///
/// # Errors
///
/// The text is no Rust.
pub(crate) fn find_habits(
    path: &Path,
    in_crate: &Path,
    name: &str,
    text: &str,
) -> syn::Result<Vec<HabitOccurrence>> {
    let mut reader = HabitReader {
        crate_name: name,
        file: in_crate.to_string_lossy().into_owned(),
        path,
        occurrences: Vec::new(),
    };
    reader.read_file_name(in_crate);
    let is_test = in_crate
        .iter()
        .any(|part| matches!(part.to_str(), Some("tests" | "tests.rs" | "testing.rs")));
    if !is_test {
        reader.visit_file(&syn::parse_file(text)?);
    }
    Ok(reader.occurrences)
}

struct HabitReader<'f> {
    crate_name: &'f str,
    path: &'f Path,
    file: String,
    occurrences: Vec<HabitOccurrence>,
}

impl HabitReader<'_> {
    fn add(&mut self, habit: SourceHabit, word: String, line: usize) {
        self.occurrences.push(HabitOccurrence {
            habit,
            word,
            path: self.path.to_owned(),
            line,
        });
    }

    fn read_file_name(&mut self, in_crate: &Path) {
        let stem = |path: &Path| path.file_stem()?.to_str().map(str::to_owned);
        let is_mod = stem(in_crate).as_deref() == Some("mod");
        if is_mod {
            self.add(SourceHabit::ModFiles, self.file.clone(), 0);
        }
        let module = if is_mod { in_crate.parent() } else { Some(in_crate) };
        if module.and_then(stem).is_some_and(|name| is_participle(&name)) {
            self.add(SourceHabit::ParticipleFiles, self.file.clone(), 0);
        }
    }

    fn read_type(&mut self, ident: &Ident) {
        let name = ident.to_string();
        if count_words(&name) == 1 && !is_main_noun(self.crate_name, &name) {
            self.add(SourceHabit::OneWordTypes, name, ident.span().start().line);
        }
    }

    fn read_function(&mut self, ident: &Ident) {
        let name = ident.to_string();
        if FUNCTIONS.contains(&name.as_str()) {
            self.add(SourceHabit::BareFunctions, name, ident.span().start().line);
        }
    }
}

impl<'a> Visit<'a> for HabitReader<'_> {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.read_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.read_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'a ItemUnion) {
        self.read_type(&item.ident);
        visit::visit_item_union(self, item);
    }

    fn visit_item_type(&mut self, item: &'a ItemType) {
        self.read_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_trait(&mut self, item: &'a ItemTrait) {
        self.read_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.read_function(&item.sig.ident);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a TraitItemFn) {
        self.read_function(&item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if item.trait_.is_some() {
            // The trait has chosen the names of its functions.
            for inner in &item.items {
                match inner {
                    syn::ImplItem::Fn(function) => visit::visit_impl_item_fn(self, function),
                    other => self.visit_impl_item(other),
                }
            }
        } else {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.read_function(&item.sig.ident);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        let name = pattern.ident.to_string();
        if LOCALS.contains(&name.as_str()) {
            self.add(SourceHabit::BareLocals, name, pattern.ident.span().start().line);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_match(&mut self, expression: &'a ExprMatch) {
        if expression.arms.iter().any(is_bool_arm) {
            let line = expression.match_token.span.start().line;
            self.add(SourceHabit::BoolMatches, self.file.clone(), line);
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_expr_path(&mut self, expression: &'a ExprPath) {
        if self.crate_name != HOME_OF_RELEASES
            && let Some(latest) = find_latest(&expression.path)
        {
            let line = latest.span().start().line;
            self.add(SourceHabit::LatestReleases, self.file.clone(), line);
        }
        visit::visit_expr_path(self, expression);
    }
}

/// What takes the latest release in a path: `Release::latest`.
fn find_latest(path: &syn::Path) -> Option<&Ident> {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    let (name, owner) = (names.next()?, names.next()?);
    let is_latest = name == "latest" && RELEASES.iter().any(|release| owner == release);
    is_latest.then_some(name)
}

fn is_bool_arm(arm: &Arm) -> bool {
    matches!(&arm.pat, Pat::Lit(literal) if matches!(literal.lit, Lit::Bool(_)))
}

/// Whether an item has `#[cfg(test)]` or `#[test]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::NameValue(_) => false,
    })
}

/// The words of a name in camel case: one of `Value` and `URL`, two of `ObjectName` and `HTTPClient`.
fn count_words(name: &str) -> usize {
    let letters: Vec<char> = name.chars().collect();
    let begins_word = |window: &[char]| match window {
        [previous, letter, next] => {
            letter.is_uppercase() && (!previous.is_uppercase() || next.is_lowercase())
        }
        _ => false,
    };
    1 + letters.windows(3).filter(|window| begins_word(window)).count()
}

fn is_main_noun(crate_name: &str, name: &str) -> bool {
    let is_listed = MAIN_NOUNS
        .iter()
        .any(|(known, nouns)| *known == crate_name && nouns.contains(&name));
    let lower = name.to_lowercase();
    let mut parts = crate_name.split('-').filter(|part| *part != "pratique");
    is_listed || parts.any(|part| singular(part) == singular(&lower))
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.trim_end_matches('s').to_owned(),
    }
}

fn is_participle(name: &str) -> bool {
    let is_regular = name.ends_with("ed") && !name.contains('_') && !NOUNS.contains(&name);
    is_regular || IRREGULAR.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, text: &str, expected: &[(SourceHabit, &str, usize)]) {
        let occurrences = find_habits(Path::new(file), Path::new(file), "pratique-policy", text).unwrap();
        let occurrences: Vec<_> = occurrences
            .iter()
            .map(|one| (one.habit, one.word.as_str(), one.line))
            .collect();
        assert_eq!(occurrences, expected, "{file}: {text}");
    }

    #[test]
    fn types_and_functions() {
        let types = "struct State;\nstruct PolicyState;\nstruct Policy;\nenum Policies {}\ntype URL = u8;\ntrait HTTPClient {}";
        let one_word = [
            (SourceHabit::OneWordTypes, "State", 1),
            (SourceHabit::OneWordTypes, "URL", 5),
        ];
        check("src/a.rs", types, &one_word);
        let functions = "fn of() {}\nimpl A { fn check(&self) {} fn check_rule() {} }\nimpl B for A { fn text() {} }\n\
                         trait BodyText { fn text(); }";
        let bare = [
            (SourceHabit::BareFunctions, "of", 1),
            (SourceHabit::BareFunctions, "check", 2),
            (SourceHabit::BareFunctions, "text", 4),
        ];
        check("src/a.rs", functions, &bare);
    }

    #[test]
    fn locals_and_matches() {
        let text = "fn a(found: u8) {\n  let (shown, rest) = (found, 1);\n  let x = match is_x {\n    true => 1,\n    \
                    false => 2,\n  };\n  match (x, is_x) { (1, true) => {} _ => {} }\n}";
        let habits = [
            (SourceHabit::BareLocals, "found", 1),
            (SourceHabit::BareLocals, "shown", 2),
            (SourceHabit::BoolMatches, "src/a.rs", 3),
        ];
        check("src/a.rs", text, &habits);
    }

    #[test]
    fn latest_releases() {
        let text = "fn a() { b(Release::latest()); }\nfn c() { d.unwrap_or_else(pratique_schema::Release::latest) }\n\
                    #[cfg(test)]\nmod tests { fn e() { Release::latest(); } }";
        let twice = [1, 2].map(|line| (SourceHabit::LatestReleases, "src/a.rs", line));
        check("src/a.rs", text, &twice);
        check("src/a.rs", "fn a(release: &Release) { release.latest() }", &[]);
    }

    #[test]
    fn files() {
        check("src/a/mod.rs", "", &[(SourceHabit::ModFiles, "src/a/mod.rs", 0)]);
        check(
            "src/compared.rs",
            "",
            &[(SourceHabit::ParticipleFiles, "src/compared.rs", 0)],
        );
        let both = [
            (SourceHabit::ModFiles, "src/told/mod.rs", 0),
            (SourceHabit::ParticipleFiles, "src/told/mod.rs", 0),
        ];
        check("src/told/mod.rs", "", &both);
        check("src/seed.rs", "", &[]);
        check("src/assumed_request.rs", "", &[]);
    }

    #[test]
    fn tests_may() {
        check(
            "src/a.rs",
            "#[cfg(test)]\nmod tests { fn check() { let found = 1; } }",
            &[],
        );
        check("tests/a.rs", "fn check() {}\nstruct State;", &[]);
        check("src/testing.rs", "fn check() {}", &[]);
    }
}
