use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::record::BatchKind;

#[test]
fn dur_019_every_kind_of_effect_has_a_name_of_its_own() {
    let kinds: Vec<EffectKind> = EffectKind::all().collect();
    let distinct: BTreeSet<EffectKind> = kinds.iter().copied().collect();
    let names: BTreeSet<&str> = kinds.iter().map(|kind| kind.name()).collect();
    assert_eq!(distinct.len(), kinds.len());
    assert_eq!(names.len(), kinds.len());
    // A slash would end the name in a failpoint; an at sign would start an occurrence.
    assert!(names.iter().all(|name| !name.is_empty() && !name.contains(['/', '@'])));
}

#[test]
fn dur_019_the_kinds_are_complete() {
    let single =
        [EffectKind::Materialize, EffectKind::Fence, EffectKind::ReadLane, EffectKind::ReadLog];
    let of_enums = LedgerKind::ALL.len() + BatchKind::ALL.len() + ExternalKind::ALL.len();
    assert_eq!(EffectKind::all().count(), single.len() + of_enums);
    for kind in single {
        assert_eq!(EffectKind::all().filter(|each| *each == kind).count(), 1, "{kind:?}");
    }
    assert_eq!(LedgerKind::ALL.len(), 25);
    assert_eq!(ExternalKind::ALL.len(), 9);
}

#[test]
fn dur_019_the_class_alone_fixes_the_phases() {
    use CrashPhase::{After, Before, During};
    assert_eq!(EffectClass::Durable.phases(), [Before, After]);
    assert_eq!(EffectClass::Read.phases(), [Before, After]);
    assert_eq!(EffectClass::External.phases(), [Before, During, After]);
    assert!(EffectClass::Compute.phases().is_empty());
    assert!(EffectClass::Volatile.phases().is_empty());
}

#[test]
fn dur_019_what_the_outside_does_may_half_happen_and_nothing_else() {
    for kind in EffectKind::all() {
        let expected = match kind {
            EffectKind::External(ExternalKind::Check) => EffectClass::Compute,
            // Nothing of a call has begun while it is judged, or waits for its permits.
            EffectKind::External(ExternalKind::Clear | ExternalKind::Permits) => {
                EffectClass::Volatile
            }
            EffectKind::External(_) => EffectClass::External,
            EffectKind::ReadLane | EffectKind::ReadLog => EffectClass::Read,
            EffectKind::Ledger(_)
            | EffectKind::Materialize
            | EffectKind::Fence
            | EffectKind::Append(_) => EffectClass::Durable,
        };
        assert_eq!(kind.class(), expected, "{kind:?}");
    }
}

#[test]
fn dur_019_every_failpoint_is_listed_once_and_reads_back() {
    let all: Vec<Failpoint> = Failpoint::all().collect();
    let phases: usize = EffectKind::all().map(|kind| kind.class().phases().len()).sum();
    assert_eq!(all.len(), phases);
    let texts: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), all.len());
    for failpoint in all {
        assert_eq!(failpoint.to_string().parse(), Ok(failpoint));
    }
}

#[test]
fn dur_019_failpoints_are_written_as_the_design_writes_them() {
    let append = EffectKind::Append(BatchKind::SubmissionSettled);
    let settled = Failpoint::new(append, CrashPhase::After);
    assert_eq!(settled.to_string(), "conversation.append:SubmissionSettled/after");
    let invoked =
        Failpoint::new(EffectKind::External(ExternalKind::InvokeTool), CrashPhase::During);
    assert_eq!(invoked.to_string(), "tool.invoke/during");
    assert_eq!(
        "ledger.admit/before".parse(),
        Ok(Failpoint::new(EffectKind::Ledger(LedgerKind::Admit), CrashPhase::Before,))
    );
}

#[test]
fn dur_019_failpoint_error_no_phase() {
    assert_eq!("ledger.admit".parse::<Failpoint>(), Err(FailpointError::NoPhase));
    assert_eq!("".parse::<Failpoint>(), Err(FailpointError::NoPhase));
}

#[test]
fn dur_019_failpoint_error_unknown_effect() {
    for text in ["ledger.adopt/before", "/before", "ledger.admit/x/before", "Ledger.Admit/before"] {
        assert_eq!(text.parse::<Failpoint>(), Err(FailpointError::UnknownEffect), "{text}");
    }
}

#[test]
fn dur_019_failpoint_error_unknown_phase() {
    // A commit happens or does not: there is no during.
    for text in ["ledger.admit/during", "ledger.read/during", "tool.invoke/", "tool.invoke/After"] {
        assert_eq!(text.parse::<Failpoint>(), Err(FailpointError::UnknownPhase), "{text}");
    }
}
