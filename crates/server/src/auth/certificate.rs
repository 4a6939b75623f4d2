//! Callers with a client certificate. The certificate chain was verified when the connection was established.

use headroom_config::process::Certificates;
use headroom_core::Name;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use super::roles::RoleRules;
use crate::caller::{Caller, Proof};

/// Rules for the content of certificates.
#[derive(Clone, Debug)]
pub(super) struct CertificateRules {
    user_is_alternative_name: bool,
    roles: RoleRules,
}

impl CertificateRules {
    pub(super) fn new(settings: &Certificates) -> Self {
        let Certificates { user_is_alternative_name, roles } = settings;
        let roles = RoleRules::new(roles);
        Self { user_is_alternative_name: *user_is_alternative_name, roles }
    }

    /// Returns the caller of this certificate. The user is its common name or first alternative name, and the groups
    /// are its organisations.
    ///
    /// # Errors
    /// The part that is missing in the certificate.
    pub(super) fn caller(&self, der: &[u8]) -> Result<Caller, &'static str> {
        let (_, certificate) =
            X509Certificate::from_der(der).map_err(|_| "the client certificate cannot be read")?;
        let user = if self.user_is_alternative_name {
            alternative_name(&certificate)
                .ok_or("the client certificate has no alternative name that is a URI, an email address, or a host")?
        } else {
            let mut names = certificate.subject().iter_common_name();
            let name = names.next().and_then(|name| name.as_str().ok());
            name.ok_or("the client certificate has no common name")?.to_owned()
        };
        if user.is_empty() || user.chars().any(char::is_control) {
            return Err("the name in the client certificate is not a valid user name");
        }
        let organisations = certificate.subject().iter_organization();
        let groups: Vec<Name> =
            organisations.filter_map(|name| name.as_str().ok()).map(Name::new).collect();
        let roles = self.roles.of(&user, &groups);
        Ok(Caller {
            identity: format!("certificate:{user}"),
            user: Name::new(&user),
            groups,
            roles,
            tenants: Vec::new(),
            proof: Proof::Certificate,
        })
    }
}

fn alternative_name(certificate: &X509Certificate<'_>) -> Option<String> {
    let names = certificate.subject_alternative_name().ok().flatten()?;
    names.value.general_names.iter().find_map(|name| match name {
        GeneralName::URI(text) | GeneralName::RFC822Name(text) | GeneralName::DNSName(text) => {
            Some((*text).to_owned())
        }
        _ => None,
    })
}
