// Implements GET /v1/certs/{id}.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { OpenedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { runIsolated } from "../../log.ts";
import type { CertificateDependencies, CertificateWriteDependencies } from "./dependencies.ts";
import { openAuditedCertificate, type AuditedCertificate } from "./open-audited-certificate.ts";

export interface CertificateDetail extends AuditedCertificate {
  /** The issuance's entry in the business's audit chain; null if the log does not have it yet or does not respond. */
  readonly auditEntry: { readonly seq: string; readonly hash: string; readonly prevHash: string } | null;
}

const findIssuanceEntry = async (
  services: CertificateDependencies,
  { chain, issuedEntry: row }: OpenedCertificate,
): Promise<CertificateDetail["auditEntry"]> => {
  if (row === null) return null;
  const found = await runIsolated(services, "audit", () => services.auditLogStub(chain.auditLog).listEntries(chain.tag, [row]));
  const entry = found?.[0];
  return entry === undefined ? null : { seq: entry.seq, hash: entry.hash, prevHash: entry.prev_hash };
};

/**
 * Returns a certificate with the person's details and the evidence decrypted, to the business that issued it. Writes an audit entry with
 * the actor. Returns `cert_not_found` for unknown certificates and other businesses' certificates.
 */
export const getCertificate = async (
  services: CertificateWriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => {
  const read = await openAuditedCertificate(services, reader, actor, certId, { type: "certificate.subject_read", payload: {} });
  if (!read.ok) return read;
  return ok({ ...read.value, auditEntry: await findIssuanceEntry(services, read.value.opened) });
};
