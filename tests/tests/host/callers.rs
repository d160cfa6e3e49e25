//! Callers of two tenants at one host: nothing is admitted, shown or told across (SEC-01).

use everstep_machine::admission::Rejection;
use everstep_machine::agent::ToolOutcome;
use everstep_machine::authority::Policy;
use everstep_machine::event::EventSequence;
use everstep_machine::identity::{PrincipalId, TenantId};
use everstep_machine::ledger;
use everstep_machine::record::Record;
use everstep_machine::store::Refusal;
use everstep_runtime::{Clearance, Config, Host, HostError, Ports, Standing, Tools, block_on};

use crate::support::{Desk, OFTEN, call, count, lane, pay, ports, principal};

fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

fn host(desk: &Desk, clearance: Clearance) -> Host {
    let tools = Tools::default()
        .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) });
    let ports = Ports { clearance, ..ports(tools) };
    desk.host_on(desk.store(), ports, |config| Config { glance: OFTEN, ..config })
}

#[test]
fn sec_01_a_conversation_of_another_tenant_is_neither_written_nor_shown() {
    let desk = Desk::new();
    block_on(async {
        let host = host(&desk, Clearance::default());
        let [shop, bank] = ["shop", "bank"].map(|it| host.caller(tenant(it), principal()));
        let own = shop.submit(call("a", "1")).await.unwrap();
        assert!(matches!(shop.wait(&lane("a"), own.submission).await, Ok(Standing::Settled(_))));
        assert!(shop.watch(&lane("a"), own.submission, EventSequence(0)).await.unwrap().is_some());
        // The same names, another key, and the id itself.
        for key in ["1", "2"] {
            let refused = bank.submit(call("a", key)).await.unwrap_err();
            let foreign = HostError::Rejected(Rejection::Refused(Refusal::Ledger(
                ledger::Refusal::OtherTenant,
            )));
            assert_eq!(refused, foreign);
        }
        let unseen = bank.wait(&lane("a"), own.submission).await.unwrap_err();
        assert_eq!(unseen, HostError::NoSuchSubmission);
        let unseen = bank.watch(&lane("a"), own.submission, EventSequence(0)).await;
        assert_eq!(unseen.err(), Some(HostError::NoSuchSubmission));
        let same = shop.submit(call("a", "1")).await.unwrap();
        assert_eq!(same.submission, own.submission, "its own tenant is answered as before");
        host.stop().await;
    })
    .unwrap();
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::InputRecorded(_))), 1);
}

#[test]
fn sec_01_nobody_is_admitted_whom_a_tenant_with_a_policy_does_not_know() {
    let desk = Desk::new();
    block_on(async {
        let clearance = Clearance::of(&tenant("shop"), &principal(), Policy::default());
        let host = host(&desk, clearance.clone());
        let eve = PrincipalId::new("eve").unwrap();
        let stranger = host.caller(tenant("shop"), eve);
        assert_eq!(stranger.submit(call("a", "1")).await.err(), Some(HostError::NotAMember));
        let ada = host.caller(tenant("shop"), principal());
        let own = ada.submit(call("a", "1")).await.unwrap().submission;
        assert!(ada.wait(&lane("a"), own).await.is_ok());
        let pried = stranger.wait(&lane("a"), own).await;
        assert_eq!(pried.err(), Some(HostError::NotAMember));
        clearance.revoke(tenant("shop"), principal());
        assert_eq!(ada.submit(call("a", "2")).await.err(), Some(HostError::NotAMember));
        assert_eq!(ada.wait(&lane("a"), own).await.err(), Some(HostError::NotAMember));
        host.stop().await;
    })
    .unwrap();
}
