//! Whatever happens in whatever order: a second account, made of nothing but what each has used by
//! itself, says what everybody has used and what may still be reserved.

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Reservations 1 to 6; 0 is the root.
const OWNERS: u8 = 7;
/// The two dimensions that differ: one that is reported, and one that may never be.
const DIMENSIONS: [Dimension; 2] = [Dimension::InputTokens, Dimension::CostMicros];

#[derive(Clone, Debug)]
enum Act {
    Reserve { number: u8, parent: u8, amount: u64, children: u64 },
    Report { owner: u8, tokens: Option<u64>, cost: Option<u64> },
    Settle { number: u8, tokens: Option<u64>, cost: Option<u64> },
    Release { number: u8 },
}

fn any_act() -> impl Strategy<Value = Act> {
    let used = || (prop::option::weighted(0.7, 0..40_u64), prop::option::weighted(0.4, 0..40_u64));
    prop_oneof![
        4 => (1..OWNERS, 0..OWNERS, 0..40_u64, 0..3_u64).prop_map(
            |(number, parent, amount, children)| Act::Reserve { number, parent, amount, children }
        ),
        5 => (0..OWNERS, used())
            .prop_map(|(owner, (tokens, cost))| Act::Report { owner, tokens, cost }),
        3 => (1..OWNERS, used())
            .prop_map(|(number, (tokens, cost))| Act::Settle { number, tokens, cost }),
        3 => (1..OWNERS).prop_map(|number| Act::Release { number }),
    ]
}

fn owner(number: u8) -> Owner {
    if number == 0 { Owner::Root } else { child(number) }
}

fn used(tokens: Option<u64>, cost: Option<u64>) -> Used {
    let said = [(Dimension::InputTokens, tokens), (Dimension::CostMicros, cost)];
    said.into_iter().fold(Used::default(), |used, (dimension, amount)| {
        amount.map_or(used, |amount| used.with(dimension, amount))
    })
}

fn input(act: &Act) -> Input {
    match *act {
        Act::Reserve { number, parent, amount, children } => Input::Reserve {
            reservation: id(number),
            parent: owner(parent),
            allocation: Amounts::all(amount).with(Dimension::Children, children),
        },
        Act::Report { owner: number, tokens, cost } => {
            Input::Report { owner: owner(number), used: used(tokens, cost) }
        }
        Act::Settle { number, tokens, cost } => {
            Input::Settle { reservation: id(number), used: used(tokens, cost) }
        }
        Act::Release { number } => Input::Release(id(number)),
    }
}

/// Somebody on the sheet.
#[derive(Clone, Copy, Debug)]
struct Line {
    parent: Option<u8>,
    cap: u64,
    own: [Option<u64>; 2],
    settled: bool,
    released: bool,
}

struct Sheet(BTreeMap<u8, Line>);

impl Sheet {
    fn new(cap: u64) -> Self {
        let root = Line { parent: None, cap, own: [None; 2], settled: false, released: false };
        Self([(0, root)].into())
    }

    fn children(&self, number: u8) -> impl Iterator<Item = (u8, &Line)> {
        let mine = move |line: &&Line| line.parent == Some(number);
        self.0.iter().map(|(number, line)| (*number, line)).filter(move |(_, line)| mine(line))
    }

    /// What somebody and all below have used.
    fn observed(&self, number: u8, at: usize) -> u64 {
        let below = self.children(number).map(|(child, _)| self.observed(child, at)).sum::<u64>();
        self.0[&number].own[at].unwrap_or(0) + below
    }

    /// What somebody has left who has never used more than there was: what is not used, and not held
    /// by a child.
    fn left(&self, number: u8, at: usize) -> i128 {
        let line = &self.0[&number];
        let taken = self.children(number).map(|(child, it)| match it.released {
            true => self.observed(child, at),
            false => it.cap.max(self.observed(child, at)),
        });
        let taken = taken.sum::<u64>() + line.own[at].unwrap_or(0);
        i128::from(line.cap) - i128::from(taken)
    }

    fn say(&mut self, number: u8, said: [Option<u64>; 2]) {
        let Some(line) = self.0.get_mut(&number) else { return };
        for (own, said) in line.own.iter_mut().zip(said) {
            // The larger of both; nothing is less than anything.
            *own = (*own).max(said);
        }
    }

    /// What has happened, if it has.
    fn write(&mut self, act: &Act) {
        match *act {
            Act::Reserve { number, parent, amount, .. } => {
                self.0.entry(number).or_insert(Line {
                    parent: Some(parent),
                    cap: amount,
                    own: [None; 2],
                    settled: false,
                    released: false,
                });
            }
            Act::Report { owner, tokens, cost } => self.say(owner, [tokens, cost]),
            Act::Settle { number, tokens, cost } => {
                if self.0[&number].settled {
                    return;
                }
                self.say(number, [tokens, cost]);
                for at in 0..2 {
                    let (line, observed) = (self.0[&number], self.observed(number, at));
                    if line.own[at].is_none() {
                        let rest = line.cap.saturating_sub(observed);
                        self.say(
                            number,
                            if at == 0 { [Some(rest), None] } else { [None, Some(rest)] },
                        );
                    }
                }
                if let Some(line) = self.0.get_mut(&number) {
                    line.settled = true;
                }
            }
            Act::Release { number } => {
                if let Some(line) = self.0.get_mut(&number) {
                    line.released = true;
                }
            }
        }
    }
}

/// Whether somebody, or anybody above, has used more than there was.
fn is_over(state: &State, sheet: &Sheet, number: u8) -> bool {
    let account = state.account(owner(number)).unwrap();
    let over = Dimension::ALL.into_iter().any(|it| account.overruns[it] > 0);
    over || sheet.0[&number].parent.is_some_and(|parent| is_over(state, sheet, parent))
}

proptest! {
    #[test]
    fn sub_010_whatever_happens_budgets_are_conserved_and_never_oversubscribed(
        cap in 1..120_u64,
        acts in prop::collection::vec(any_act(), 1..60),
    ) {
        let mut state = budget(cap);
        let mut sheet = Sheet::new(cap);
        for act in &acts {
            let step = Reservations::step(state.clone(), input(act));
            prop_assert_eq!(step.state.check(), Ok(()), "{:?}", act);
            let is_refused = matches!(step.effects[..], [Effect::Refuse(_)]);
            let again = Reservations::step(step.state.clone(), input(act));
            prop_assert_eq!(&again.state, &step.state, "what comes twice has happened once: {:?}", act);
            if is_refused {
                prop_assert_eq!(&step.state, &state, "a refusal changes nothing: {:?}", act);
            } else {
                if let Act::Reserve { number, parent, amount, .. } = *act
                    && !sheet.0.contains_key(&number)
                {
                    prop_assert!(!is_over(&state, &sheet, parent), "{:?}", act);
                    for at in 0..2 {
                        let left = sheet.left(parent, at);
                        prop_assert!(left >= i128::from(amount), "{} left: {:?}", left, act);
                    }
                }
                sheet.write(act);
            }
            state = step.state;
            for number in sheet.0.keys() {
                let account = state.account(owner(*number)).unwrap();
                for (at, dimension) in DIMENSIONS.into_iter().enumerate() {
                    let observed = sheet.observed(*number, at);
                    prop_assert_eq!(account.observed[dimension], observed, "{:?}", act);
                    if !is_over(&state, &sheet, *number)
                        && sheet.children(*number).all(|(child, _)| {
                            state.account(owner(child)).unwrap().overruns[dimension] == 0
                        })
                    {
                        let left = i128::from(account.available[dimension]);
                        prop_assert_eq!(left, sheet.left(*number, at), "{:?}", act);
                    }
                }
            }
        }
    }

    #[test]
    fn sub_010_children_that_start_at_once_share_no_remainder(
        cap in 1..200_u64,
        wanted in prop::collection::vec(0..80_u64, 1..6),
    ) {
        let mut state = State::new(Limits { cap: Amounts::all(cap), at_once: 9, depth: 1 });
        let mut had = 0;
        for (number, amount) in (1..).zip(&wanted) {
            let effects = Reservations::step(state.clone(), reserve(number, Owner::Root, *amount));
            state = effects.state;
            let fits = had + amount <= cap && u64::from(number) <= cap;
            prop_assert_eq!(effects.effects == [Effect::Admit(id(number))], fits);
            had += if fits { *amount } else { 0 };
            prop_assert!(had <= cap);
        }
    }
}
