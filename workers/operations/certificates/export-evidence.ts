// Everything that proves one certificate, gathered for its owner: from the certificate's home, the ledger's receipts and the
// audit log. What a log cannot show at this moment is left out rather than waited for: the pack says what it lacks.
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
import { parseReceipt, type Receipt } from "../../../core/ledger/receipt.ts";
import { buildTrustDocument } from "../../../core/ledger/trust-document.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import { listCertificateEntries } from "../../../storage/outboxes/audit.ts";
import { listEntityWithdrawalProofs } from "../../../storage/entity-withdrawals.ts";
import { listEntityAnchors, type EntityAnchor } from "../../../storage/outboxes/anchors.ts";
import { runIsolated } from "../../log.ts";
import type { Caches, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { getAttestedStatement } from "../attestations/get-attested-statement.ts";
import { openAuditedCertificate } from "./open-audited-certificate.ts";
import { getTrustedKeys } from "../service/get-trusted-keys.ts";
import { getViewContext } from "./get-view-context.ts";

const maxAuditEntries = 2_010; // 999 withdrawals from single recipients, as many acknowledgements, and a few more; each is about 2 KiB of the pack's 10 MiB

/** The certificate's part of its business's chain; null while the log holds nothing of it, or does not answer. */
const packAudit = async (
  platform: Runtime & Stores & Proofs,
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
  // Acts are entered in their order, and so are acknowledgements: what came after the certificate was read is not of that moment.
  const { entitiesWithdrawn } = certificate;
  const after = (wanted: DomainEventType, known: number) => found.filter(({ type }) => type === wanted).slice(known);
  const later = [
    ...after("certificate.entities_withdrawn", entitiesWithdrawn.at(-1)?.number ?? 0),
    ...after("business.entities_ceased", Math.max(0, ...entitiesWithdrawn.map(({ acknowledgement }) => acknowledgement ?? 0))),
  ];
  const rows = found.filter((row) => !later.includes(row));
  const packed = await runIsolated(platform, "audit", async (): Promise<PackedAudit | null> => {
    const log = platform.auditLogStub(chain.auditLog);
    if (rows.some(({ drained }) => !drained)) await log.drainNow(shardOfId(certificate.id)); // what was committed before the question is in the answer
    const trail = await log.getTrail(
      chain.tag,
      rows.map(({ id }) => id),
    );
    if (trail === null) return null;
    const committed = new Map(rows.map((row) => [row.id, row.committed]));
    return {
      chainIndex: trail.chainIndex,
      head: trail.head,
      entries: trail.entries,
      payloads: new Map(
        trail.entries.flatMap(({ seq, outbox_id }) => {
          const one = committed.get(outbox_id) ?? null;
          return one === null ? [] : [[seq, one]];
        }),
      ),
      proofs: new Map(trail.entries.map(({ seq }, at) => [seq, trail.proofs[at] as string])),
      heads: trail.heads,
    };
  });
  return packed ?? null;
};

const packedEventNames = { "certificate.issued": "issued", "certificate.revoked": "revoked" } as const;

const packAttestationOfReceipt = async (platform: Runtime & Stores & Caches & Proofs, receipt: Receipt | null) => {
  const attested = await getAttestedStatement(platform, receipt);
  return attested === null ? null : toPackedAttestation(attested);
};

/** Those of the facts that the evidence tells. */
const packAnchors = async (
  platform: Runtime & Stores & Caches & Proofs,
  anchors: readonly EntityAnchor[],
  facts: readonly string[],
): Promise<PackedAnchor[]> => {
  const packed = anchors.map(async ({ event: type, statement, receipt }) => {
    const event = Object.entries(packedEventNames).find(([name]) => name === type)?.[1];
    if (event === undefined || !facts.includes(type)) return [];
    return [{ event, statement, receipt, attested: await packAttestationOfReceipt(platform, receipt) }];
  });
  return (await Promise.all(packed)).flat();
};

/** What proves the withdrawals from single recipients that the certificate names. */
const packEntityWithdrawals = async (
  platform: Runtime & Stores & Caches & Proofs,
  db: Database,
  { id, entitiesWithdrawn }: PublishedCertificate,
): Promise<PackedEntityWithdrawal[]> => {
  const to = Math.min(entitiesWithdrawn.at(-1)?.number ?? 0, maxPackedEntityWithdrawals);
  const acts = await listEntityWithdrawalProofs(db, id, { from: 1, to });
  return Promise.all(
    acts.map(async ({ anchor, ...act }): Promise<PackedEntityWithdrawal> => {
      if (anchor === null) return { ...act, anchor };
      const receipt = anchor.status !== "anchored" || anchor.receipt === null ? null : parseReceipt(anchor.receipt);
      return { ...act, anchor: { statement: anchor.statement, receipt, attested: await packAttestationOfReceipt(platform, receipt) } };
    }),
  );
};

/**
 * All parts of a certificate's evidence, whatever they are written as; its export is in the business's audit outbox before it is
 * answered. `disclose` null discloses every field; `redacted` none, and no evidence that points to a person. Refuses
 * `cert_not_found` for unknown and foreign ids alike.
 */
export const exportEvidence = async (
  services: Runtime & Stores & Caches & Proofs & Schedules,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  asked: { readonly disclose: ReadonlySet<string> | null; readonly redacted: boolean },
): Promise<Result<EvidenceParts, "cert_not_found">> => {
  const read = await openAuditedCertificate(services, reader, actor, certId, "evidence_pack.exported", {
    redacted: asked.redacted,
    disclosed: asked.disclose === null ? "all" : [...asked.disclose].sort(),
  });
  if (!read.ok) return read;
  const { opened, views, policyTexts } = read.value;
  const { config, signer } = services;
  const db = services.shards.forId(certId);
  const [identity, anchors, acts, audit] = await Promise.all([
    getBusinessIdentity(db, reader.business.id),
    listEntityAnchors(db, certId),
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
    anchors: await packAnchors(services, anchors, listEvidenceEventTypes(opened.certificate)),
    entityWithdrawals: acts,
    audit,
    trust: buildTrustDocument(getTrustedKeys(services)),
    issuer: {
      keyName: `${new URL(config.baseUrl).host}/issuer`,
      x: signer.publicKeys.find(({ kid }) => kid === signer.kid)?.x ?? "",
      sign: signer.sign,
    },
    disclosedKeys: asked.disclose,
    isRedacted: asked.redacted,
  });
};
