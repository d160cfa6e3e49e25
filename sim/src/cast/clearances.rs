//! What the processes of a world may do.

use std::sync::Arc;

use everstep_machine::authority;
use everstep_machine::clearance::{self, Input, State};
use everstep_machine::contract::Machine;

use super::Client;
use crate::scenario::{RevocationScript, Scenario};

/// What every process knows when it begins.
#[derive(Debug)]
pub(crate) struct Clearances {
    /// What is granted.
    pub(crate) whole: Arc<State>,
    /// What takes something of it back, if the scenario does.
    pub(crate) revocation: Vec<Input>,
    /// What is left then.
    pub(crate) left: Arc<State>,
}

impl Clearances {
    /// Every client belongs to its tenant, and a tenant has the policy that the scenario says.
    pub(super) fn of(scenario: &Scenario, clients: &[Client]) -> Self {
        let mut whole = State::default();
        let tell = |state: State, input| clearance::Clearances::step(state, input).state;
        for client in clients {
            let (tenant, principal) = (client.call.tenant.clone(), client.call.principal.clone());
            let joined = authority::Input::Joined { tenant: tenant.clone(), principal };
            whole = tell(whole, Input::Authority(joined));
            if let Some(policy) = scenario.authority.grants.clone() {
                let laid = authority::Input::PolicyLaidDown { tenant, policy };
                whole = tell(whole, Input::Authority(laid));
            }
        }
        let tenants = clients.iter().map(|client| client.call.tenant.clone());
        let taken = tenants.filter_map(|tenant| match scenario.revocation.clone()? {
            RevocationScript::Grant(grant) => {
                Some(authority::Input::GrantRevoked { tenant, component: None, grant })
            }
            RevocationScript::Principal(principal) => {
                Some(authority::Input::Revoked { tenant, principal })
            }
        });
        let revocation: Vec<Input> = taken.map(Input::Authority).collect();
        let left = revocation.iter().cloned().fold(whole.clone(), tell);
        Self { whole: Arc::new(whole), revocation, left: Arc::new(left) }
    }
}
