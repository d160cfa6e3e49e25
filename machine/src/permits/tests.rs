use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::contract::Machine;
use crate::identity::{AgentId, GroupName};

fn limits(agent: usize, group: usize, host: usize) -> Limits {
    Limits { agent, group, groups: BTreeMap::new(), host }
}

fn asked(n: u64, agent: &str, group: Option<&str>) -> Input {
    let agent = AgentId::new(agent).unwrap();
    let group = group.map(|group| GroupName::new(group).unwrap());
    Input::Asked { ticket: Ticket(n), agent, group }
}

/// Tells a host's permits all of this; who was granted, in order.
fn granted(state: &mut State, inputs: impl IntoIterator<Item = Input>) -> Vec<u64> {
    let mut all = Vec::new();
    for input in inputs {
        let step = Permits::step(state.clone(), input);
        *state = step.state;
        all.extend(step.effects.into_iter().map(|Effect::Grant(ticket)| ticket.0));
    }
    all
}

#[test]
fn run_009_each_limit_holds_and_the_first_who_fits_is_next() {
    let mut state = State::new(limits(2, 1, 3));
    let inputs = [
        asked(1, "a", Some("cards")),
        asked(2, "b", Some("cards")),
        asked(3, "a", None),
        asked(4, "a", None),
        asked(5, "b", None),
        asked(6, "c", None),
    ];
    assert_eq!(granted(&mut state, inputs), [1, 3, 5], "group, agent and host are full in turn");
    assert_eq!(granted(&mut state, [Input::Released(Ticket(3))]), [4], "the group is still full");
    assert_eq!(granted(&mut state, [Input::Released(Ticket(1))]), [2]);
    assert_eq!(granted(&mut state, [Input::Released(Ticket(5))]), [6]);
}

#[test]
fn run_009_a_named_group_has_a_limit_of_its_own() {
    let mut limits = limits(9, 1, 9);
    limits.groups.insert(GroupName::new("cards").unwrap(), 2);
    let mut state = State::new(limits);
    let cards = (0..3).map(|n| asked(n, "a", Some("cards")));
    let mails = (3..5).map(|n| asked(n, "a", Some("mails")));
    assert_eq!(granted(&mut state, cards.chain(mails)), [0, 1, 3]);
}

#[test]
fn run_009_a_limit_of_zero_lets_one_through() {
    let mut state = State::new(limits(0, 0, 0));
    assert_eq!(granted(&mut state, [asked(1, "a", Some("g")), asked(2, "a", Some("g"))]), [1]);
}

#[test]
fn arc_06_a_ticket_counts_once_and_comes_back_once() {
    let mut state = State::new(limits(1, 1, 1));
    assert_eq!(granted(&mut state, [asked(1, "a", None), asked(1, "a", None)]), [1]);
    assert_eq!(state.waiting(), 0);
    // One that gives up while it waits is never granted.
    let inputs = [asked(2, "a", None), asked(3, "a", None), Input::Released(Ticket(2))];
    assert!(granted(&mut state, inputs).is_empty());
    let twice = [Input::Released(Ticket(1)), Input::Released(Ticket(1))];
    assert_eq!(granted(&mut state, twice), [3]);
    assert_eq!((state.granted(), state.waiting()), (1, 0));
}

proptest! {
    #[test]
    fn arc_05_whatever_is_asked_the_limits_hold_and_everybody_is_served(
        shape in (1..4_usize, 1..4_usize, 1..6_usize),
        acts in prop::collection::vec((0..24_u64, any::<bool>()), 0..80),
    ) {
        let mut state = State::new(limits(shape.0, shape.1, shape.2));
        let name = |n: u64| (["a", "b", "c"][n as usize % 3], ["x", "y"][n as usize % 2]);
        let mut served: Vec<u64> = Vec::new();
        for (n, release) in acts {
            let (agent, group) = name(n);
            let group = (n % 4 != 0).then_some(group);
            let input = if release { Input::Released(Ticket(n)) } else { asked(n, agent, group) };
            served.extend(granted(&mut state, [input]));
            prop_assert!(state.granted() <= shape.2);
            for agent in ["a", "b", "c"] {
                let of = |it: &super::state::Claim| it.agent.as_str() == agent;
                prop_assert!(state.granted.values().filter(|it| of(it)).count() <= shape.0);
            }
            for group in ["x", "y"] {
                let of = |it: &super::state::Claim| it.group.as_ref().is_some_and(|it| it.as_str() == group);
                prop_assert!(state.granted.values().filter(|it| of(it)).count() <= shape.1);
            }
        }
        // Whoever runs comes to an end: nobody waits for ever.
        for n in 0..24 {
            granted(&mut state, [Input::Released(Ticket(n))]);
        }
        let mut left = 24;
        while state.waiting() + state.granted() > 0 {
            let running: Vec<Ticket> = state.granted.keys().copied().collect();
            prop_assert!(!running.is_empty(), "somebody waits and nobody runs");
            granted(&mut state, running.into_iter().map(Input::Released));
            left -= 1;
            prop_assert!(left > 0);
        }
    }
}
