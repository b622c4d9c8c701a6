// A certificate for anyone: to verify, as a receipt that other systems read, and the signed receipts of what was withdrawn. Needs no credential
// and shows nothing personal.
import { consentReceipt, type ReceiptFormat } from "../../../core/certificates/consent-receipt.ts";
import { isRefusal, type ProvenWithdrawal, type PublishedCertificate, type WithdrawalProof } from "../../../core/certificates/published.ts";
import type { ViewContext } from "../../../core/certificates/views.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { businessCountry, businessIdentity } from "../../../storage/accounts.ts";
import { certificateById, certificateEvidence } from "../../../storage/certificates.ts";
import { provenEntityWithdrawals } from "../../../storage/entity-withdrawals.ts";
import type { Database } from "../../../storage/database.ts";
import type { Memories, Proofs, Runtime, Stores } from "../../services.ts";
import { attestedCertificate, withAttested } from "../attestations.ts";

/** What a view of a certificate needs to know of this deployment and of the moment. */
export const viewContext = ({ config, clock }: Runtime): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});

export type Reach = Pick<Awaited<ReturnType<typeof businessIdentity>>, "contact" | "mailingAddress">;

/** Where the business of a certificate can be reached, for whoever wants its contact to end. */
export const reachOf = (services: Stores, { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">): Promise<Reach> =>
  businessIdentity(services.homes.of(id), businessId);

/** Refuses `cert_not_found`. */
export const verifyCertificate = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const certificate = await certificateById(services.homes.of(certId), certId);
  return certificate === null ? refuse("cert_not_found") : ok(await attestedCertificate(services, certificate));
};

/** Whether the person ticked the box themselves. What was erased states nothing any more. */
const isExplicit = async ({ vault }: Stores, db: Database, certificate: PublishedCertificate): Promise<boolean> => {
  const evidence = await certificateEvidence(db, vault, certificate);
  return (evidence?.presentation as { readonly opt_in_type?: string } | null | undefined)?.opt_in_type === "manual";
};

/** The certificate as a receipt that other systems read. Refuses `cert_not_found`, and `not_a_consent` where nobody was agreed to. */
export const certificateReceipt = async (
  services: Runtime & Stores,
  certId: CertId,
  format: ReceiptFormat,
): Promise<Result<ReturnType<typeof consentReceipt>, "cert_not_found" | "not_a_consent">> => {
  const db = services.homes.of(certId);
  const certificate = await certificateById(db, certId);
  if (certificate === null) return refuse("cert_not_found");
  if (isRefusal(certificate)) return refuse("not_a_consent");
  const country = await businessCountry(db, certificate.businessId);
  if (country === null) throw new Error("receipt: the certificate's business is not there");
  return ok(
    consentReceipt(format, {
      certificate,
      country,
      isExplicit: await isExplicit(services, db, certificate),
      context: viewContext(services),
    }),
  );
};

/** The signed receipt of its withdrawal. Refuses `cert_not_found`, and `not_found` while the certificate is active. */
export const withdrawalReceipt = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
): Promise<Result<ProvenWithdrawal, "cert_not_found" | "not_found">> => {
  const found = await verifyCertificate(services, certId);
  if (!found.ok) return found;
  const { withdrawal } = found.value;
  return withdrawal === null ? refuse("not_found") : ok(withdrawal);
};

/** Of one act by which single recipients were withdrawn from. Refuses `cert_not_found`, and `not_found` where there was no such act. */
export const entityWithdrawalReceipt = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
  act: number,
): Promise<Result<WithdrawalProof, "cert_not_found" | "not_found">> => {
  const [proof] = await provenEntityWithdrawals(services.homes.of(certId), certId, { from: act, to: act });
  if (proof !== undefined) return ok({ ...proof, anchor: await withAttested(services, proof.anchor) });
  const found = await verifyCertificate(services, certId);
  return found.ok ? refuse("not_found") : found;
};
