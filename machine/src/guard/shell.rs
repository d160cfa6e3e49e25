//! A command line as a shell reads it: simple commands, their words, and what is within them.
//!
//! This is no shell. It finds more commands than one would run, never fewer: where it is not sure
//! what something is, it says so with a [`Reason`], and the command is put to a person.

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::Peekable;
use core::str::Chars;

use super::Reason;

/// A word, its quotes taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether a shell would put something else in its place.
    pub(super) is_expanded: bool,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// Where arrows point.
    pub(super) redirects: Vec<Word>,
}

/// Everything that is in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) commands: Vec<Simple>,
    /// Texts that are run to find out what stands here.
    pub(super) nested: Vec<String>,
    /// Why this is more than one plain command.
    pub(super) reasons: Vec<Reason>,
}

/// Reads a text.
pub(super) fn read(text: &str) -> Script {
    let mut reader = Reader {
        rest: text.trim_matches([' ', '\t', '\n']).chars().peekable(),
        script: Script::default(),
        simple: Simple::default(),
        word: None,
        is_target: false,
    };
    reader.all();
    reader.script
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    script: Script,
    simple: Simple,
    word: Option<Word>,
    /// Whether the next word is where an arrow points.
    is_target: bool,
}

impl Reader<'_> {
    fn all(&mut self) {
        while let Some(letter) = self.rest.next() {
            match letter {
                ' ' | '\t' => self.end_word(),
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    self.because(Reason::Compound);
                    self.end_command();
                }
                '#' if self.word.is_none() => {
                    self.because(Reason::Compound);
                    while self.rest.next_if(|next| *next != '\n').is_some() {}
                }
                '<' | '>' => self.arrow(),
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(next) => self.push(next),
                    None => self.because(Reason::Unbalanced),
                },
                '\'' => self.single(),
                '"' => self.double(),
                '`' => self.backtick(),
                '$' => self.dollar(),
                '*' | '?' | '[' | '{' | '}' => self.expand(letter),
                '~' if self.word.is_none() => self.expand(letter),
                other => self.push(other),
            }
        }
        self.end_command();
    }

    fn because(&mut self, reason: Reason) {
        if !self.script.reasons.contains(&reason) {
            self.script.reasons.push(reason);
        }
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().text.push(letter);
    }

    fn expand(&mut self, letter: char) {
        self.because(Reason::Expansion);
        let word = self.word.get_or_insert_default();
        word.is_expanded = true;
        word.text.push(letter);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if core::mem::take(&mut self.is_target) {
            self.simple.redirects.push(word);
        } else {
            self.simple.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_target = false;
        let simple = core::mem::take(&mut self.simple);
        if !(simple.words.is_empty() && simple.redirects.is_empty()) {
            self.script.commands.push(simple);
        }
    }

    fn arrow(&mut self) {
        self.because(Reason::Redirection);
        self.end_word();
        while self.rest.next_if(|next| matches!(next, '<' | '>' | '|' | '&')).is_some() {}
        if self.rest.next_if_eq(&'(').is_some() {
            let inner = self.until_closed('(', ')');
            self.script.nested.push(inner);
        } else {
            self.is_target = true;
        }
    }

    fn single(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(letter) => self.push(letter),
                None => return self.because(Reason::Unbalanced),
            }
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('$') => self.dollar(),
                Some('`') => self.backtick(),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(next @ ('$' | '`' | '"' | '\\')) => self.push(next),
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => self.because(Reason::Unbalanced),
                },
                Some(letter) => self.push(letter),
                None => return self.because(Reason::Unbalanced),
            }
        }
    }

    fn backtick(&mut self) {
        self.expand('`');
        let mut inner = String::new();
        loop {
            match self.rest.next() {
                Some('`') => break,
                Some('\\') => inner.extend(self.rest.next()),
                Some(letter) => inner.push(letter),
                None => {
                    self.because(Reason::Unbalanced);
                    break;
                }
            }
        }
        self.script.nested.push(inner);
    }

    /// A dollar sign: what stands behind it is kept in the word, and read on its own if it is run.
    fn dollar(&mut self) {
        self.expand('$');
        if self.rest.next_if_eq(&'(').is_some() {
            let inner = self.until_closed('(', ')');
            self.script.nested.push(inner);
        } else if self.rest.next_if_eq(&'{').is_some() {
            let inner = self.until_closed('{', '}');
            self.word.get_or_insert_default().text.extend(["{", inner.as_str(), "}"]);
            self.script.nested.push(inner);
        } else if self.rest.next_if_eq(&'\'').is_some() {
            self.word.get_or_insert_default().text.pop();
            self.escapes();
        }
    }

    /// What stands up to the bracket that closes; brackets in quotes do not count.
    fn until_closed(&mut self, open: char, close: char) -> String {
        let (mut inner, mut depth, mut quote) = (String::new(), 1, None);
        while let Some(letter) = self.rest.next() {
            if letter == '\\' && quote != Some('\'') {
                inner.push(letter);
                inner.extend(self.rest.next());
                continue;
            }
            match quote {
                Some(mark) if letter == mark => quote = None,
                Some(_) => {}
                None if matches!(letter, '\'' | '"') => quote = Some(letter),
                None if letter == open => depth += 1,
                None if letter == close => depth -= 1,
                None => {}
            }
            if depth == 0 {
                return inner;
            }
            inner.push(letter);
        }
        self.because(Reason::Unbalanced);
        inner
    }

    /// `$'…'`: letters by their numbers.
    fn escapes(&mut self) {
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some('\\') => self.escape(),
                Some(letter) => self.push(letter),
                None => return self.because(Reason::Unbalanced),
            }
        }
    }

    fn escape(&mut self) {
        let Some(letter) = self.rest.next() else { return };
        let (radix, most) = match letter {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 2),
            'n' => return self.push('\n'),
            't' => return self.push('\t'),
            other => return self.push(other),
        };
        let mut number = if radix == 8 { letter.to_digit(8).unwrap_or(0) } else { 0 };
        for _ in 0..most {
            let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(radix)) else { break };
            number = number.wrapping_mul(radix).wrapping_add(digit);
            self.rest.next();
        }
        self.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}
