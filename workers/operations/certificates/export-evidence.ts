// Implements GET /v1/certs/{id}/evidence-pack. Collects the parts of the pack from the shard, the ledger and the audit log. If a log cannot
// provide a part now, the pack lists it as missing.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { toPackedAttestation } from "../../../core/certificates/attested-statement.ts";
import {
  listEvidenceEventTypes,
  maxPackedEntityWithdrawals,
  type EvidenceParts,
  type PackedEntityWithdrawal,
  type PackedAnchor,
  type PackedAudit,
} from "../../../core/certificates/evidence-parts.ts";
import type { DomainEventType } from "../../../core/domain-events.ts";
import type { OpenedCertificate, PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { toPublicView, toWithdrawalReceiptView } from "../../../core/certificates/public-json.ts";
import { shardOfId, type CertId } from "../../../core/ids.ts";
import type { Receipt } from "../../../core/ledger/receipt.ts";
import { buildTrustDocument } from "../../../core/ledger/trust-document.ts";
import { createPolicyLinkedEvent } from "../../../core/policies/snapshot.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import { listCertificateEntries } from "../../../storage/audit-entries.ts";
import { listEntityWithdrawalProofs } from "../../../storage/entity-withdrawals.ts";
import { commit } from "../../../storage/commit.ts";
import { findUnloggedCapture } from "../../../storage/policies.ts";
import { runIsolated } from "../../log.ts";
import type { CertificateDependencies, CertificateWriteDependencies } from "./dependencies.ts";
import { getAttestedStatement } from "../attestations/get-attested-statement.ts";
import { openAuditedCertificate } from "./open-audited-certificate.ts";
import { getTrustedKeys } from "../service/get-trusted-keys.ts";
import { getViewContext } from "./get-view-context.ts";

/**
 * Enough for 999 withdrawals for individual recipients, 999 acknowledgments and a few other entries. At 2 KiB each, they fit into a pack of
 * at most 10 MiB.
 */
const maxAuditEntries = 2_010;

/** Returns the certificate's entries in the business's audit chain, or null if the log does not respond or does not have all of them. */
const packAudit = async (
  platform: CertificateDependencies,
  db: Database,
  { certificate, chain }: OpenedCertificate,
): Promise<PackedAudit | null> => {
  const types = listEvidenceEventTypes(certificate);
  const found = await listCertificateEntries(db, platform.vault, {
    certId: certificate.id,
    chainTag: chain.tag,
    types,
    max: maxAuditEntries,
  });
  // Leave out entries that were written after the certificate was read, so that the pack describes a single point in time. The nth entry of
  // a type belongs to the nth withdrawal or acknowledgment.
  const { entitiesWithdrawn } = certificate;
  const after = (eventType: DomainEventType, known: number) => found.filter(({ type }) => type === eventType).slice(known);
  const laterEntries = [
    ...after("certificate.entities_withdrawn", entitiesWithdrawn.at(-1)?.number ?? 0),
    ...after("business.entities_ceased", Math.max(0, ...entitiesWithdrawn.map(({ acknowledgement }) => acknowledgement ?? 0))),
  ];
  const rows = found.filter((row) => !laterEntries.includes(row));
  const packed = await runIsolated(platform, "audit", async (): Promise<PackedAudit | null> => {
    const log = platform.auditLogStub(chain.auditLog);
    if (rows.some(({ drained }) => !drained)) await log.drainNow(shardOfId(certificate.id));
    const trail = await log.getTrail(
      chain.tag,
      rows.map(({ id }) => id),
    );
    // The log must have an entry for every change that the certificate shows. Otherwise, the verifier would reject the pack.
    if (trail === null || trail.entries.length < rows.length) return null;
    const committed = new Map(rows.map((row) => [row.id, row.committed]));
    return {
      chainIndex: trail.chainIndex,
      head: trail.head,
      entries: trail.entries,
      payloads: new Map(
        trail.entries.flatMap(({ seq, change_id }) => {
          const one = committed.get(change_id) ?? null;
          return one === null ? [] : [[seq, one]];
        }),
      ),
      proofs: new Map(trail.entries.map(({ seq }, at) => [seq, trail.proofs[at] as string])),
      heads: trail.heads,
    };
  });
  return packed ?? null;
};

/**
 * Writes the missing audit entry for a certificate that was linked to an earlier policy capture when it was issued, so that the pack proves
 * its policies. The issuance does not write this entry, because it would need another round trip to read the capture.
 */
const logSharedPolicies = async (services: CertificateWriteDependencies, db: Database, opened: OpenedCertificate): Promise<void> => {
  const { certificate, chain } = opened;
  const capture = certificate.policiesCaptured ? await findUnloggedCapture(db, certificate.id) : null;
  if (capture === null) return;
  await commit(db, services, [], [createPolicyLinkedEvent({ certId: certificate.id, chain }, capture, services.clock())]);
};

const packAttestationOfReceipt = async (platform: CertificateDependencies, receipt: Receipt | null) => {
  const attested = await getAttestedStatement(platform, receipt);
  return attested === null ? null : toPackedAttestation(attested);
};

const packAnchors = (platform: CertificateDependencies, { anchor, withdrawal }: PublishedCertificate): Promise<PackedAnchor[]> => {
  const anchors = [
    { event: "issued" as const, anchor },
    { event: "revoked" as const, anchor: withdrawal?.anchor ?? null },
  ];
  return Promise.all(
    anchors.flatMap(({ event, anchor: found }) => {
      if (found === null) return [];
      const { statement, receipt } = found;
      return [packAttestationOfReceipt(platform, receipt).then((attested) => ({ event, statement, receipt, attested }))];
    }),
  );
};

const packEntityWithdrawals = async (
  platform: CertificateDependencies,
  db: Database,
  { id, entitiesWithdrawn }: PublishedCertificate,
): Promise<PackedEntityWithdrawal[]> => {
  const to = Math.min(entitiesWithdrawn.at(-1)?.number ?? 0, maxPackedEntityWithdrawals);
  const proofs = await listEntityWithdrawalProofs(db, id, { from: 1, to });
  return Promise.all(
    proofs.map(async ({ anchor, ...proof }): Promise<PackedEntityWithdrawal> => {
      if (anchor === null) return { ...proof, anchor };
      const { statement, receipt } = anchor;
      return { ...proof, anchor: { statement, receipt, attested: await packAttestationOfReceipt(platform, receipt) } };
    }),
  );
};

/**
 * Returns all parts of a certificate's evidence, independent of the format. Before it returns them, commits an audit entry about the export
 * to the business's chain. If `disclose` is null, discloses every field. If `redacted` is true, discloses no fields and no evidence that
 * identifies a person. Returns `cert_not_found` for unknown certificates and other businesses' certificates.
 */
export const exportEvidence = async (
  services: CertificateWriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  { disclose, redacted }: { readonly disclose: ReadonlySet<string> | null; readonly redacted: boolean },
): Promise<Result<EvidenceParts, "cert_not_found">> => {
  const payload = { redacted, disclosed: redacted ? [] : disclose === null ? "all" : [...disclose].sort() };
  const read = await openAuditedCertificate(services, reader, actor, certId, { type: "evidence_pack.exported", payload });
  if (!read.ok) return read;
  const { opened, views, policyTexts } = read.value;
  const { config, signer } = services;
  const db = services.shards.forId(certId);
  await logSharedPolicies(services, db, read.value.opened);
  const [identity, anchors, entityWithdrawals, audit] = await Promise.all([
    getBusinessIdentity(db, reader.business.id),
    packAnchors(services, opened.certificate),
    packEntityWithdrawals(services, db, opened.certificate),
    packAudit(services, db, opened),
  ]);
  return ok({
    createdAt: services.clock(),
    opened,
    publicView: toPublicView(opened.certificate, getViewContext(services)),
    withdrawalReceipt: opened.certificate.withdrawal === null ? null : toWithdrawalReceiptView(opened.certificate.withdrawal),
    views,
    policyTexts,
    identity,
    anchors,
    entityWithdrawals,
    audit,
    trust: buildTrustDocument(getTrustedKeys(services)),
    issuer: {
      keyName: `${new URL(config.baseUrl).host}/issuer`,
      x: signer.publicKeys.find(({ kid }) => kid === signer.kid)?.x ?? "",
      sign: signer.sign,
    },
    disclosedKeys: disclose,
    isRedacted: redacted,
  });
};
