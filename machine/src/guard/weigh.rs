//! The judgement of one copy of a command.

use alloc::string::String;
use alloc::vec::Vec;

use super::hazard::{self, Arguments};
use super::shell::{self, Script, Simple, Word};
use super::{Judged, Reason, programs};
use crate::limits::{COMMAND_NESTING, COMMAND_READING_BYTES};

/// Judges a text, and whatever would be run to find out what it is.
pub(super) fn text(text: &str) -> Judged {
    Weigher::default().within(text, 0)
}

/// How many words are looked at to judge a text, each as often as it is.
#[cfg(test)]
pub(super) fn looks(text: &str) -> usize {
    let mut weigher = Weigher::default();
    let _judged = weigher.within(text, 0);
    weigher.looks
}

struct Weigher {
    /// Bytes that may still be read.
    left: usize,
    /// Words that were looked at: never more than bytes that were read.
    looks: usize,
}

impl Default for Weigher {
    fn default() -> Self {
        Self { left: COMMAND_READING_BYTES, looks: 0 }
    }
}

impl Weigher {
    fn within(&mut self, text: &str, depth: usize) -> Judged {
        let left = self.left.checked_sub(text.len());
        let (Some(left), true) = (left, depth <= COMMAND_NESTING) else {
            return Judged::of(Reason::TooDeep);
        };
        self.left = left;
        let script = shell::read(text);
        let mut reasons = script.reasons.clone();
        reasons.extend(hazard::bomb(text));
        reasons.extend(script.commands.iter().flat_map(|simple| self.command(simple)));
        if let ([], [simple]) = (reasons.as_slice(), script.commands.as_slice()) {
            reasons.push(programs::plain(&simple.words));
        }
        let own = reasons.into_iter().map(Judged::of).reduce(Judged::worse);
        let own = own.unwrap_or(Judged::of(Reason::Empty));
        let nested = script.nested.iter().cloned().chain(told(&script, depth > 0));
        nested.fold(own, |worst, text| worst.worse(self.within(&text, depth + 1)))
    }

    /// What is to be said about one simple command.
    fn command(&mut self, simple: &Simple) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if simple.redirects.iter().any(|target| hazard::is_device(&target.text)) {
            reasons.push(Reason::Destroys);
        }
        let (words, is_changed) = start(&simple.words);
        reasons.extend(is_changed.then_some(Reason::Environment));
        let runs = |word: &Word| {
            let name = programs::name(word);
            programs::is_wrapper(&name) || programs::is_interpreter(&name)
        };
        let is_wrapped = words.first().is_some_and(runs);
        reasons.extend(is_wrapped.then_some(Reason::Wrapper));
        // Behind a program that runs others, any word may be the one that it runs.
        let may_start = if is_wrapped { words.len() } else { words.len().min(1) };
        let mut arguments = Arguments::default();
        for (at, word) in words.iter().enumerate().rev() {
            if at < may_start {
                reasons.extend(arguments.hazard(&programs::name(word)));
            }
            arguments.add(word);
        }
        self.looks += arguments.count();
        reasons
    }
}

/// The words from the program on, and whether variables are set in front of it.
fn start(words: &[Word]) -> (&[Word], bool) {
    let mut is_changed = false;
    let at = words.iter().position(|word| {
        let is_set = programs::is_assignment(&word.text);
        is_changed |= is_set;
        !is_set && !programs::is_keyword(&word.text)
    });
    (at.map_or(&[], |at| &words[at..]), is_changed)
}

/// Texts that somebody may be given to run: the arguments of an interpreter, what another command
/// writes into it, where an arrow into it points; and words that hold several, of a wrapper or of
/// what is within another command (`is_within`), for that may be in another language.
fn told(script: &Script, is_within: bool) -> Vec<String> {
    let mut told = Vec::new();
    let is_interpreted =
        script.commands.iter().any(|simple| interpreter(start(&simple.words).0).is_some());
    for simple in &script.commands {
        let (words, _) = start(&simple.words);
        let text = |word: &Word| word.text.clone();
        if is_interpreted {
            let from = interpreter(words).unwrap_or(0) + 1;
            let rest = words.get(from..).unwrap_or_default();
            if rest.len() > 1 {
                told.push(rest.iter().map(text).collect::<Vec<_>>().join(" "));
            }
            told.extend(rest.iter().chain(&simple.redirects).map(text));
        } else if is_within || words.first().is_some_and(wraps) {
            let is_several = |word: &&Word| word.text.contains(char::is_whitespace);
            told.extend(words.iter().filter(is_several).map(text));
        }
    }
    told.retain(|text| !text.trim().is_empty());
    told
}

fn wraps(word: &Word) -> bool {
    programs::is_wrapper(&programs::name(word))
}

/// Where in a command an interpreter stands, be it behind a wrapper.
fn interpreter(words: &[Word]) -> Option<usize> {
    let interprets = |word: &Word| programs::is_interpreter(&programs::name(word));
    match words.first() {
        Some(first) if wraps(first) => words.iter().position(interprets),
        Some(first) => interprets(first).then_some(0),
        None => None,
    }
}
