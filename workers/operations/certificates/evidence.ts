// Everything that proves one certificate, gathered for its owner: from the certificate's home, the ledger's receipts and the
// audit log. What a log cannot show at this moment is left out rather than waited for: the pack says what it lacks.
import type { Reader } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { packedAttestation } from "../../../core/certificates/attested.ts";
import {
  evidenceFacts,
  maxPackedActs,
  type EvidenceParts,
  type PackedAct,
  type PackedAnchor,
  type PackedAudit,
} from "../../../core/certificates/evidence-parts.ts";
import type { FactType } from "../../../core/facts.ts";
import type { OpenedCertificate, PublishedCertificate } from "../../../core/certificates/published.ts";
import { verifyView, withdrawalReceiptView } from "../../../core/certificates/views.ts";
import { homeOfId, type CertId } from "../../../core/ids.ts";
import { parseReceipt, type Receipt } from "../../../core/ledger/receipt.ts";
import { trustDocument } from "../../../core/ledger/trust-document.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { businessIdentity } from "../../../storage/accounts.ts";
import { certificateEntries } from "../../../storage/outboxes/audit.ts";
import { provenEntityWithdrawals } from "../../../storage/entity-withdrawals.ts";
import { entityAnchors, type EntityAnchor } from "../../../storage/outboxes/anchors.ts";
import { failingAlone } from "../../log.ts";
import type { Memories, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { attestedStatement } from "../attestations.ts";
import { openForReading } from "./read.ts";
import { trustedKeys } from "../service/trust.ts";
import { viewContext } from "./verify.ts";

const maxEntries = 2_010; // 999 withdrawals from single recipients, as many acknowledgements, and a few more; each is about 2 KiB of the pack's 10 MiB

/** The certificate's part of its business's chain; null while the log holds nothing of it, or does not answer. */
const auditOf = async (
  platform: Runtime & Stores & Proofs,
  db: Database,
  { certificate, chain }: OpenedCertificate,
): Promise<PackedAudit | null> => {
  const types = evidenceFacts(certificate);
  const found = await certificateEntries(db, platform.vault, { certId: certificate.id, chainTag: chain.tag, types, max: maxEntries });
  // Acts are entered in their order, and so are acknowledgements: what came after the certificate was read is not of that moment.
  const { entitiesWithdrawn } = certificate;
  const after = (wanted: FactType, known: number) => found.filter(({ type }) => type === wanted).slice(known);
  const later = [
    ...after("certificate.entities_withdrawn", entitiesWithdrawn.at(-1)?.number ?? 0),
    ...after("business.entities_ceased", Math.max(0, ...entitiesWithdrawn.map(({ acknowledgement }) => acknowledgement ?? 0))),
  ];
  const rows = found.filter((row) => !later.includes(row));
  const packed = await failingAlone(platform, "audit", async (): Promise<PackedAudit | null> => {
    const log = platform.auditLog(chain.shard);
    if (rows.some(({ drained }) => !drained)) await log.drainNow(homeOfId(certificate.id)); // what was committed before the question is in the answer
    const trail = await log.trailOf(
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

const packedEvents = { "certificate.issued": "issued", "certificate.revoked": "revoked" } as const;

const attestedOf = async (platform: Runtime & Stores & Memories & Proofs, receipt: Receipt | null) => {
  const attested = await attestedStatement(platform, receipt);
  return attested === null ? null : packedAttestation(attested);
};

/** Those of the facts that the evidence tells. */
const packedAnchors = async (
  platform: Runtime & Stores & Memories & Proofs,
  anchors: readonly EntityAnchor[],
  facts: readonly string[],
): Promise<PackedAnchor[]> => {
  const packed = anchors.map(async ({ event: type, statement, receipt }) => {
    const event = Object.entries(packedEvents).find(([name]) => name === type)?.[1];
    if (event === undefined || !facts.includes(type)) return [];
    return [{ event, statement, receipt, attested: await attestedOf(platform, receipt) }];
  });
  return (await Promise.all(packed)).flat();
};

/** What proves the withdrawals from single recipients that the certificate names. */
const packedActs = async (
  platform: Runtime & Stores & Memories & Proofs,
  db: Database,
  { id, entitiesWithdrawn }: PublishedCertificate,
): Promise<PackedAct[]> => {
  const to = Math.min(entitiesWithdrawn.at(-1)?.number ?? 0, maxPackedActs);
  const acts = await provenEntityWithdrawals(db, id, { from: 1, to });
  return Promise.all(
    acts.map(async ({ anchor, ...act }): Promise<PackedAct> => {
      if (anchor === null) return { ...act, anchor };
      const receipt = anchor.status !== "anchored" || anchor.receipt === null ? null : parseReceipt(anchor.receipt);
      return { ...act, anchor: { statement: anchor.statement, receipt, attested: await attestedOf(platform, receipt) } };
    }),
  );
};

/**
 * All parts of a certificate's evidence, whatever they are written as; its export is in the business's audit outbox before it is
 * answered. `disclose` null discloses every field; `redacted` none, and no evidence that points to a person. Refuses
 * `cert_not_found` for unknown and foreign ids alike.
 */
export const gatherEvidence = async (
  services: Runtime & Stores & Memories & Proofs & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  asked: { readonly disclose: ReadonlySet<string> | null; readonly redacted: boolean },
): Promise<Result<EvidenceParts, "cert_not_found">> => {
  const read = await openForReading(services, reader, actor, certId, "evidence_pack.exported", {
    redacted: asked.redacted,
    disclosed: asked.disclose === null ? "all" : [...asked.disclose].sort(),
  });
  if (!read.ok) return read;
  const { opened, views, policyTexts } = read.value;
  const { config, signer } = services;
  const db = services.homes.of(certId);
  const [identity, anchors, acts, audit] = await Promise.all([
    businessIdentity(db, reader.business.id),
    entityAnchors(db, certId),
    packedActs(services, db, opened.certificate),
    auditOf(services, db, opened),
  ]);
  return ok({
    createdAt: services.clock(),
    opened,
    verifyView: verifyView(opened.certificate, viewContext(services)),
    withdrawalReceipt: opened.certificate.withdrawal === null ? null : withdrawalReceiptView(opened.certificate.withdrawal),
    views,
    policyTexts,
    identity,
    anchors: await packedAnchors(services, anchors, evidenceFacts(opened.certificate)),
    acts,
    audit,
    trust: trustDocument(trustedKeys(services)),
    issuer: {
      keyName: `${new URL(config.baseUrl).host}/issuer`,
      x: signer.publicKeys.find(({ kid }) => kid === signer.kid)?.x ?? "",
      sign: signer.sign,
    },
    ...asked,
  });
};
