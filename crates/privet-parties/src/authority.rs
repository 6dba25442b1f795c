//! Certificates for one agreement: an authority of its own, and a key and certificate for each member.
//!
//! One person creates every key, and the authority's, which is then thrown away: no member can be added
//! later. Until the folders are handed out and deleted here, that person could impersonate any member,
//! servers included. Members must accept that, or each replace the key and certificate of its folder by
//! its own and agree on the fingerprints anew.

use crate::PartiesError;
use crate::agreement::{Agreement, Holder, Names, ServerAddress, hex};
use crate::folder::{Settings, lay_out};
use crate::server::now;
use privet_data::Schema;
use privet_dp::mechanism::shares::{NoiseMode, Participants};
use privet_learn::{Plan, Task};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use sha2::{Digest, Sha256};
use std::path::Path;
use time::{Duration, OffsetDateTime};

/// Name of a member inside TLS.
pub(crate) fn inner_name(name: &str) -> String {
    format!("{name}.privet.internal")
}

/// SHA-256 of a certificate.
pub(crate) fn fingerprint(der: &[u8]) -> String {
    hex(&Sha256::digest(der))
}

fn certificate_error(error: rcgen::Error) -> PartiesError {
    PartiesError::Authority(error.to_string())
}

/// Validity of certificates, in seconds since 1970; it begins an hour ago, for clocks that are behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validity {
    /// Start of the validity.
    pub from: u64,
    /// End of the validity.
    pub until: u64,
}

impl Validity {
    /// From an hour ago until this many days from now.
    pub fn days(days: u32) -> Self {
        let now = now();
        Self { from: now.saturating_sub(3600), until: now + 86_400 * u64::from(days) }
    }

    fn apply(self, parameters: &mut CertificateParams) {
        let at = |seconds: u64| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds as i64);
        (parameters.not_before, parameters.not_after) = (at(self.from), at(self.until));
    }
}

/// Writes a folder for every member of a plan below `folder`, and returns their agreement.
pub fn write_member_folders<T: Task>(
    folder: &Path,
    (planned, schema): (&Plan<T>, &Schema),
    names: &Names,
    patience: u64,
    validity: Validity,
) -> Result<Agreement, PartiesError> {
    names.check()?;
    let odd = |error: serde_json::Error| PartiesError::InvalidRequest(error.to_string());
    let request = serde_json::to_value(planned.request()).map_err(odd)?;
    let asked = (request, serde_json::to_value(schema).map_err(odd)?);
    let (issuer, authority) = authority(validity)?;
    let (mut parties, mut servers, mut identities) = (vec![], vec![], vec![]);
    for (name, rows) in &names.parties {
        let identity = identity(name, &issuer, validity)?;
        let fingerprint = fingerprint(&identity.der);
        parties.push(Holder { name: name.clone(), rows: *rows, fingerprint });
        identities.push(identity);
    }
    for (name, address) in &names.servers {
        let identity = identity(name, &issuer, validity)?;
        let fingerprint = fingerprint(&identity.der);
        servers.push(ServerAddress { name: name.clone(), address: address.clone(), fingerprint });
        identities.push(identity);
    }
    let agreement =
        Agreement::new(asked, (parties, servers), (patience, authority, validity.until))?;
    for identity in &identities {
        let settings = Settings::usual(&identity.name);
        let pems = (identity.certificate.as_str(), identity.key.as_str());
        lay_out(&folder.join(&identity.name), &settings, &agreement, pems)?;
    }
    Ok(agreement)
}

/// Creates an agreement without certificates, for members of one process.
pub fn without_certificates<T: Task>(
    (planned, schema): (&Plan<T>, &Schema),
    names: &Names,
    patience: u64,
) -> Result<Agreement, PartiesError> {
    names.check()?;
    let odd = |error: serde_json::Error| PartiesError::InvalidRequest(error.to_string());
    let request = serde_json::to_value(planned.request()).map_err(odd)?;
    let asked = (request, serde_json::to_value(schema).map_err(odd)?);
    let none = String::new;
    let party = |(name, rows): &(String, u64)| Holder {
        name: name.clone(),
        rows: *rows,
        fingerprint: none(),
    };
    let server = |(name, address): &(String, String)| ServerAddress {
        name: name.clone(),
        address: address.clone(),
        fingerprint: none(),
    };
    let members =
        (names.parties.iter().map(party).collect(), names.servers.iter().map(server).collect());
    Agreement::new(asked, members, (patience, none(), 1 << 53))
}

/// The number of members by their names; every server draws its own noise.
pub fn count_members(names: &Names, honest: u32) -> Result<Participants, PartiesError> {
    among_with(names, honest, NoiseMode::Shares)
}

/// The number of members by their names, with this noise mode.
pub fn among_with(
    names: &Names,
    honest: u32,
    noise: NoiseMode,
) -> Result<Participants, PartiesError> {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let (parties, servers) = (count(names.parties.len()), count(names.servers.len()));
    let among = Participants { parties, servers, honest, noise };
    Ok(among.check().map_err(privet_learn::LearnError::from)?)
}

fn authority(validity: Validity) -> Result<(Issuer<'static, KeyPair>, String), PartiesError> {
    let mut parameters = CertificateParams::new(Vec::<String>::new()).map_err(certificate_error)?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    parameters.distinguished_name.push(DnType::CommonName, "privet agreement");
    validity.apply(&mut parameters);
    let key = KeyPair::generate().map_err(certificate_error)?;
    let certificate = parameters.self_signed(&key).map_err(certificate_error)?;
    Ok((Issuer::new(parameters, key), certificate.pem()))
}

struct Identity {
    name: String,
    certificate: String,
    der: Vec<u8>,
    key: String,
}

fn identity(
    name: &str,
    issuer: &Issuer<'static, KeyPair>,
    validity: Validity,
) -> Result<Identity, PartiesError> {
    let mut parameters =
        CertificateParams::new(vec![inner_name(name)]).map_err(certificate_error)?;
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    validity.apply(&mut parameters);
    let key = KeyPair::generate().map_err(certificate_error)?;
    let certificate = parameters.signed_by(&key, issuer).map_err(certificate_error)?;
    Ok(Identity {
        name: name.into(),
        certificate: certificate.pem(),
        der: certificate.der().to_vec(),
        key: key.serialize_pem(),
    })
}
