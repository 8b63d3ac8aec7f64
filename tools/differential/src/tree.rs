//! Expressions as trees of text, which can be made smaller.

/// An expression, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpressionTree(pub(super) Vec<TreeNode>);

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TreeNode {
    /// Text as it is.
    Text(String),
    /// An expression inside.
    Inner(ExpressionTree),
}

/// Replacements for any expression, the simplest first.
const SIMPLEST: &[&str] = &["1", "''", "true", "null", "[]", "{}", "object"];

/// Builds a whole with another part in a place.
type RebuildTree<'r> = dyn Fn(ExpressionTree) -> ExpressionTree + 'r;

/// Looks at a part.
type PartVisitor<'a> = dyn FnMut(&ExpressionTree, &RebuildTree<'_>) + 'a;

impl ExpressionTree {
    /// An expression of text only.
    pub(super) fn from_text(text: impl Into<String>) -> Self {
        ExpressionTree(vec![TreeNode::Text(text.into())])
    }

    /// The expression as source, its pieces joined by what `between` gives.
    pub(super) fn source(&self, between: &mut impl FnMut() -> &'static str) -> String {
        let mut source = String::new();
        self.write(&mut source, between);
        source
    }

    fn write(&self, source: &mut String, between: &mut impl FnMut() -> &'static str) {
        for (index, node) in self.0.iter().enumerate() {
            if index > 0 {
                source.push_str(between());
            }
            match node {
                TreeNode::Text(text) => source.push_str(text),
                TreeNode::Inner(tree) => tree.write(source, between),
            }
        }
    }

    /// The expression as plain source.
    pub(super) fn plain(&self) -> String {
        self.source(&mut || "")
    }

    /// Simpler expressions: with a part replaced by something in it, or by the simplest there is. Those from which most is
    /// gone come first.
    pub(super) fn simpler(&self) -> Vec<ExpressionTree> {
        let mut trees = Vec::new();
        self.visit(&mut |part, rebuild| {
            let length = part.plain().len();
            for inner in part.inner() {
                trees.push(rebuild(inner.clone()));
            }
            for simplest in SIMPLEST.iter().filter(|simplest| simplest.len() < length) {
                trees.push(rebuild(ExpressionTree::from_text(*simplest)));
            }
        });
        trees.sort_by_key(|tree| tree.plain().len());
        trees
    }

    fn inner(&self) -> impl Iterator<Item = &ExpressionTree> {
        self.0.iter().filter_map(|node| match node {
            TreeNode::Inner(tree) => Some(tree),
            TreeNode::Text(_) => None,
        })
    }

    /// Calls `act` with each part and a way to build the whole with another in its place.
    fn visit(&self, act: &mut PartVisitor<'_>) {
        self.visit_below(act, &|tree| tree);
    }

    fn visit_below(&self, act: &mut PartVisitor<'_>, rebuild: &RebuildTree<'_>) {
        act(self, rebuild);
        for (index, node) in self.0.iter().enumerate() {
            let TreeNode::Inner(inner) = node else {
                continue;
            };
            inner.visit_below(act, &|tree| {
                let mut whole = self.clone();
                if let Some(place) = whole.0.get_mut(index) {
                    *place = TreeNode::Inner(tree);
                }
                rebuild(whole)
            });
        }
    }
}

/// Shorter texts: without one of its stretches, long ones first.
pub(super) fn shorter(source: &str) -> Vec<String> {
    let characters: Vec<char> = source.chars().collect();
    let mut texts = Vec::new();
    let mut length = characters.len() / 2;
    while length > 0 {
        for start in (0..characters.len()).step_by(length) {
            let rest = characters
                .iter()
                .enumerate()
                .filter(|(index, _)| !(start..start + length).contains(index));
            texts.push(rest.map(|(_, character)| *character).collect());
        }
        length /= 2;
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_the_place_of_the_whole() {
        let inner = ExpressionTree(vec![
            TreeNode::Text("!".into()),
            TreeNode::Inner(ExpressionTree::from_text("object.a")),
        ]);
        let whole = ExpressionTree(vec![
            TreeNode::Text("f(".into()),
            TreeNode::Inner(inner),
            TreeNode::Text(")".into()),
        ]);
        assert_eq!(whole.plain(), "f(!object.a)");
        let simpler: Vec<String> = whole.simpler().iter().map(ExpressionTree::plain).collect();
        for expected in ["!object.a", "f(object.a)", "f(!1)", "1"] {
            assert!(simpler.iter().any(|tree| tree == expected), "{expected}");
        }
    }

    #[test]
    fn texts_without_a_stretch() {
        assert_eq!(shorter("abcd"), ["cd", "ab", "bcd", "acd", "abd", "abc"]);
    }
}
