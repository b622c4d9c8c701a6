// Implements POST /v1/certs/{id}/erase-subject.
import { createErasureEvent, type ErasureReason } from "../../../core/certificates/erasure.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import { findErasableCertificate, eraseSubjects, isAlreadyErased } from "../../../storage/certificate-erasures.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";

export interface ErasedSubject {
  readonly certId: CertId;
  readonly erasedAt: Instant;
}

/**
 * Irreversibly erases the personal data in a certificate: values, salts and evidence. Hashes, status and times stay, so the fingerprint can
 * still be verified. A repeated call returns the first result. Returns `cert_not_found` for unknown certificates and other businesses'
 * certificates, and `storage_unavailable` while a withdrawal is being applied to the person's certificates.
 */
export const eraseSubject = async (
  services: CertificateWriteDependencies,
  member: MemberSession,
  certId: CertId,
  reason: ErasureReason | null,
): Promise<Result<ErasedSubject, "cert_not_found" | "storage_unavailable">> => {
  const db = services.shards.forId(certId);
  const load = () => findErasableCertificate(db, { certId, businessId: member.business.id });
  const found = await findOrPlace(services, certId, load);
  if (found === null) return refuse("cert_not_found");
  if (found.erasedAt !== null) return ok({ certId, erasedAt: found.erasedAt });
  if (found.mayBeWithdrawn)
    return refuse("storage_unavailable", "A withdrawal of this person's consent is being processed. Try again in a minute.");

  const now = services.clock();
  const domainEvent = createErasureEvent(found.certificate, { reason, actor: { kind: "member", id: member.userId }, now });
  try {
    await commit(db, services, eraseSubjects(db, [certId], now), [domainEvent]);
  } catch (error) {
    const erasedAt = isAlreadyErased(error) ? (await load())?.erasedAt : null;
    if (erasedAt == null) throw error;
    return ok({ certId, erasedAt });
  }
  return ok({ certId, erasedAt: now });
};
