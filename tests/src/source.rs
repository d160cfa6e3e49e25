//! Rust sources as a flat list of tokens.
//!
//! Comments are gone and a string is one token with its quotes, so a check that looks for a word
//! of code finds code only. Delimiters are tokens of their own; punctuation is one character each.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::repository::File;

/// One token and the line it begins on, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As it is written.
    pub text: String,
    /// Where it begins.
    pub line: usize,
}

/// The tokens of one source file, in order.
///
/// # Panics
///
/// When the file is not Rust; the message names it.
pub fn tokens(file: &File) -> Vec<Token> {
    match TokenStream::from_str(&file.text) {
        Ok(stream) => {
            let mut flat = Vec::new();
            flatten(stream, &mut flat);
            flat
        }
        Err(fault) => panic!("{}: {fault}", file.path),
    }
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), into);
                into.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                into.push(Token { text: tree.to_string(), line });
            }
        }
    }
}

/// Whether `tokens` begin with `words`.
pub fn begins(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.text == *word)
}

/// The lines on which the sequence `words` begins.
pub fn lines_of(tokens: &[Token], words: &[&str]) -> Vec<usize> {
    let starts = (0..tokens.len()).filter(|&at| begins(&tokens[at..], words));
    starts.map(|at| tokens[at].line).collect()
}

/// The same tokens without the items that only a test build has, those under `#[cfg(test)]`.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if begins(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = end_of_item(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// One past the item at `at`, its attributes included: it ends with a semicolon or with the body
/// in braces, whichever comes first outside of other delimiters.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" if depth <= 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The names of the functions that carry `#[test]`, those inside macros included.
pub fn test_names(tokens: &[Token]) -> Vec<String> {
    let starts = (0..tokens.len()).filter(|&at| begins(&tokens[at..], &["#", "[", "test", "]"]));
    let name = |at: usize| {
        let function = tokens[at..].iter().position(|token| token.text == "fn")?;
        Some(tokens.get(at + function + 1)?.text.clone())
    };
    starts.filter_map(name).collect()
}

/// The modules a file declares to be in files of their own, each with the inline modules around
/// it: `mod a { mod b; }` gives `a/b`.
pub fn declared_modules(tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<Option<&str>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => {
                let inline = at >= 2 && tokens[at - 2].text == "mod";
                open.push(inline.then(|| tokens[at - 1].text.as_str()));
            }
            "}" => {
                open.pop();
            }
            "mod" if tokens.get(at + 2).is_some_and(|after| after.text == ";") => {
                let around = open.iter().flatten().copied();
                let path: Vec<_> = around.chain([tokens[at + 1].text.as_str()]).collect();
                found.push(path.join("/"));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{File, declared_modules, lines_of, test_names, tokens, without_tests};

    fn read(text: &str) -> Vec<super::Token> {
        tokens(&File::planted("planted.rs", text))
    }

    #[test]
    fn house_words_in_comments_and_strings_are_not_code() {
        let source = read("// unsafe\n/* unsafe */\nfn f() { g(\"unsafe\"); }\nunsafe fn h() {}\n");
        assert_eq!(lines_of(&source, &["unsafe"]), [4]);
    }

    #[test]
    fn house_items_of_a_test_build_are_left_out() {
        let source = read(
            "#[cfg(test)]\nextern crate std;\n#[cfg(test)]\n#[allow(x)]\nmod tests { use std::fs; }\n\
             fn kept(a: [u8; 2]) {}\nuse std::env;\n",
        );
        assert_eq!(lines_of(&source, &["std"]).len(), 3);
        assert_eq!(lines_of(&without_tests(&source), &["std"]), [7]);
        assert_eq!(lines_of(&without_tests(&source), &["fn", "kept"]), [6]);
    }

    #[test]
    fn house_test_names_are_found_inside_macros_too() {
        let source = read(
            "#[test]\n/// fn doc\n#[should_panic]\nfn one() {}\nfn helper() {}\n\
             proptest! { #[test] fn two(x in 0..3) {} }\n",
        );
        assert_eq!(test_names(&source), ["one", "two"]);
    }

    #[test]
    fn house_modules_in_files_are_told_from_inline_ones() {
        let source = read("pub mod a;\nmod b { mod c; fn f() { { } } mod d; }\nmod e;\n");
        assert_eq!(declared_modules(&source), ["a", "b/c", "b/d", "e"]);
    }
}
