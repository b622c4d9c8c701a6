// Adds attested statements to anchors when a certificate is read.
import type { PublishedAnchor, PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { AttestationDependencies } from "./dependencies.ts";
import { hasAttestors, getAttestedStatement } from "./get-attested-statement.ts";

/** Adds the attested statement to an anchor whose statement is in the ledger. */
export const withAnchorAttestations = async (
  services: AttestationDependencies,
  anchor: PublishedAnchor | null,
): Promise<PublishedAnchor | null> => {
  if (anchor === null || anchor.receipt === null || !hasAttestors(services)) return anchor;
  return { ...anchor, attested: await getAttestedStatement(services, anchor.receipt) };
};

export const withCertificateAttestations = async (
  services: AttestationDependencies,
  certificate: PublishedCertificate,
): Promise<PublishedCertificate> => {
  const { withdrawal } = certificate;
  const [anchor, revocation] = await Promise.all([
    withAnchorAttestations(services, certificate.anchor),
    withAnchorAttestations(services, withdrawal?.anchor ?? null),
  ]);
  return { ...certificate, anchor, withdrawal: withdrawal === null ? null : { ...withdrawal, anchor: revocation } };
};
