// Decrypts a certificate for the API, the evidence pack and the portal.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { OpenedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import { createAuditedEvent, type AuditedAction } from "../../../core/domain-events.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { listViewTrail } from "../../../storage/certificate-views.ts";
import { findOpenedCertificate } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { findPolicyText } from "../../../storage/policies.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";

const maxShownViews = 100;

export interface AuditedCertificate {
  readonly opened: OpenedCertificate;
  /** Views of the public page, newest first, at most 100. */
  readonly views: readonly PageView[];
  /** The text of each linked policy by its content hash; null if the text could not be read. */
  readonly policyTexts: ReadonlyMap<string, string | null>;
}

/**
 * Decrypts a certificate that the reader's business issued. Commits an audit entry about the read to the business's chain before it
 * returns. Returns `cert_not_found` for unknown certificates and other businesses' certificates.
 */
export const openAuditedCertificate = async (
  services: CertificateWriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  action: Pick<AuditedAction, "type" | "payload">,
): Promise<Result<AuditedCertificate, "cert_not_found">> => {
  const db = services.shards.forId(certId);
  const { business, environment } = reader;
  const opened = await findOrPlace(services, certId, () =>
    findOpenedCertificate(db, services.vault, { certId, businessId: business.id, environment }),
  );
  if (opened === null) return refuse("cert_not_found");
  const read: AuditedAction = { ...action, entityType: "certificate", entityId: certId };
  const readEvent = createAuditedEvent({ chain: opened.chain, actor }, read, services.clock());
  const viewTrail = listViewTrail(db, services.vault, certId, maxShownViews);
  const [certificate, texts, viewRows] = await Promise.all([
    withCertificateAttestations(services, opened.certificate),
    Promise.all(
      opened.certificate.policies.map(async (policy) => [policy.contentHash, await findPolicyText(services.kv, policy)] as const),
    ),
    commit(db, services, viewTrail.queries, [readEvent]), // writes the audit entry and reads the views in one round trip
  ]);
  return ok({
    opened: { ...opened, certificate },
    views: await viewTrail.resultFromRows(viewRows),
    policyTexts: new Map(texts),
  });
};
