import type { PublishedAnchor, PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { parseReceipt } from "../../../core/ledger/receipt.ts";
import type { AttestationDependencies } from "./dependencies.ts";
import { hasAttestors, getAttestedStatement } from "./get-attested-statement.ts";

/** The anchor with what others attested of it. */
export const withAnchorAttestations = async (
  platform: AttestationDependencies,
  anchor: PublishedAnchor | null,
): Promise<PublishedAnchor | null> => {
  if (anchor?.status !== "anchored" || anchor.receipt === null || !hasAttestors(platform)) return anchor;
  return { ...anchor, attested: await getAttestedStatement(platform, parseReceipt(anchor.receipt)) };
};

/** The certificate with what others attested of its issuance, and of its withdrawal. */
export const withCertificateAttestations = async (
  platform: AttestationDependencies,
  certificate: PublishedCertificate,
): Promise<PublishedCertificate> => {
  const { withdrawal } = certificate;
  const [anchor, revocation] = await Promise.all([
    withAnchorAttestations(platform, certificate.anchor),
    withAnchorAttestations(platform, withdrawal?.anchor ?? null),
  ]);
  return { ...certificate, anchor, withdrawal: withdrawal === null ? null : { ...withdrawal, anchor: revocation } };
};
