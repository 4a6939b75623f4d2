//! Creates placeholders.

use headroom_pods::convert::gang::Placeholder;
use headroom_pods::object::{Metadata, Text};
use headroom_pods::shim::{Outcome, PodIdentity};
use http::Method;
use serde::Deserialize;

use crate::client::{Content, Fault, decode, path};

use super::{Actor, Tries};

/// A created object.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Created {
    metadata: Metadata,
}

impl Actor {
    /// Creates a placeholder. Its random name makes the request safe to repeat.
    pub(super) async fn create_placeholder(
        &self,
        application: Text,
        placeholder: &Placeholder,
    ) -> Outcome {
        let mut tries = Tries::default();
        let mut is_first = true;
        loop {
            match self.create_once(placeholder, is_first).await {
                Ok(Created { metadata: Metadata { namespace, name, uid, .. } }) => {
                    let pod = PodIdentity { namespace, name, uid };
                    return Outcome::PlaceholderCreated { application, pod };
                }
                Err(fault) if tries.again(&fault).await => is_first = false,
                Err(fault) => {
                    let (name, error) = (placeholder.name.clone(), refusal(&fault));
                    return Outcome::PlaceholderRefused { application, name, error };
                }
            }
        }
    }

    async fn create_once(
        &self,
        placeholder: &Placeholder,
        is_first: bool,
    ) -> Result<Created, Fault> {
        let path = path::pods(&placeholder.namespace);
        match self.api.write(Method::POST, &path, Content::Json(&placeholder.body)).await {
            Ok(text) => decode(&text),
            // An earlier request had no answer, and created the pod.
            Err(fault) if fault.code() == Some(409) && !is_first => {
                self.api.get(&path::pod(&placeholder.namespace, &placeholder.name)).await
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Returns the sentence of the API server, which names the quota or the policy.
fn refusal(fault: &Fault) -> String {
    match fault {
        Fault::Refused(refusal) if !refusal.message.is_empty() => refusal.message.clone(),
        Fault::Refused(_)
        | Fault::Unreachable(_)
        | Fault::Late(_)
        | Fault::TooLarge(_)
        | Fault::Unreadable(_)
        | Fault::Unsendable(_) => fault.to_string(),
    }
}
