// Policy snapshots: rows in D1, and texts in KV under their own hash. A text in KV is never stale, and it is written before any row refers
// to it. SPEC Policy snapshot.
import { desc, eq, gt, inArray, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { sha256Hex } from "../core/hash.ts";
import { shardOfId, generateId, type CertId, type RandomBytes } from "../core/ids.ts";
import { policyKinds, type CapturedPolicies, type PolicyCapture, type PolicyKind, type PolicySnapshot } from "../core/policies/snapshot.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { isForeignKeyViolation, isTriggerError, translateFaults } from "./faults.ts";
import { auditEntries, certificates, policyCaptures as captures, policySnapshots as snapshots } from "./schema.ts";
import { allOf, jsonList, notExistsIn, query } from "./query.ts";

const policyTextKey = (contentHash: string): string => `policy:${contentHash}`;

/** Returns the text with this SHA-256, or null if it cannot be read or the stored text has another hash. */
export const findPolicyText = async (kv: KVNamespace, contentHash: string): Promise<string | null> => {
  try {
    const text = await translateFaults(() => kv.get(policyTextKey(contentHash)));
    return text !== null && sha256Hex(text) === contentHash ? text : null;
  } catch {
    return null; // the store is down, but the snapshot's hash, URL and date are still valid
  }
};

type KnownSnapshot = PolicySnapshot & { readonly kind: PolicyKind };

const snapshotFields = {
  id: snapshots.id,
  sourceUrl: snapshots.sourceUrl,
  contentHash: snapshots.contentHash,
  capturedAt: snapshots.capturedAt,
};

/**
 * Writes the texts that have no snapshot in this domain yet, so that an unchanged text is written once instead of every 15 minutes. Returns
 * the domain's snapshots of these texts.
 */
export const storePolicyTexts = async (
  db: Database,
  kv: KVNamespace,
  domain: string,
  found: CapturedPolicies,
): Promise<readonly KnownSnapshot[]> => {
  const texts = policyKinds.flatMap((kind) => found[kind] ?? []);
  const rows = await db
    .select({ ...snapshotFields, kind: snapshots.kind })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), inArray(snapshots.contentHash, jsonList(texts.map(({ contentHash }) => contentHash)))));
  const known = new Set(rows.map(({ contentHash }) => contentHash));
  for (const { contentHash, text } of texts) {
    if (known.has(contentHash)) continue;
    known.add(contentHash); // one page can contain both policies, and KV allows one write per second and key
    await translateFaults(() => kv.put(policyTextKey(contentHash), text));
  }
  return rows;
};

/** Where to look for policies: an origin (scheme, host and port) and the URL, without query, of the page with the form. */
export interface PolicyLocation {
  readonly origin: string;
  readonly page: string;
}

/** Builds the condition that a capture is newer than `notBefore` and applies to the whole origin or to this page. */
export const isSharedCapture = (origin: string | SQLWrapper, page: string | SQLWrapper, notBefore: Instant | SQLWrapper): SQL =>
  sql`${eq(captures.origin, origin)} and ${gt(captures.capturedAt, notBefore)} and (${captures.page} is null or ${eq(captures.page, page)})`;

const selectCapture = (db: Database) => {
  const privacy = alias(snapshots, "privacy");
  const terms = alias(snapshots, "terms");
  const fieldsOf = (of: typeof privacy | typeof terms) => ({
    id: of.id,
    sourceUrl: of.sourceUrl,
    contentHash: of.contentHash,
    capturedAt: of.capturedAt,
  });
  return db
    .select({ id: captures.id, privacy: fieldsOf(privacy), terms: fieldsOf(terms) })
    .from(captures)
    .leftJoin(privacy, eq(privacy.id, captures.privacyId))
    .leftJoin(terms, eq(terms.id, captures.termsId));
};

type CaptureRow = Awaited<ReturnType<ReturnType<typeof selectCapture>["all"]>>[number];

/** Returns the snapshot, or null if there is none, in which case the left join gives null columns. */
const toSnapshot = (row: CaptureRow["privacy"]): PolicySnapshot | null => (row?.id == null ? null : (row as PolicySnapshot));

const toCapture = (row: CaptureRow | undefined): PolicyCapture | null =>
  row === undefined ? null : { id: row.id, policies: { privacy: toSnapshot(row.privacy), terms: toSnapshot(row.terms) } };

/** Returns the newest shared capture, or null if there is none. */
export const findCaptureSince = async (db: Database, at: PolicyLocation, notBefore: Instant): Promise<PolicyCapture | null> =>
  toCapture(
    await selectCapture(db)
      .where(isSharedCapture(at.origin, at.page, notBefore))
      .orderBy(desc(captures.capturedAt))
      .limit(1)
      .get(),
  );

/**
 * Returns the capture to which a certificate is linked without an audit entry, because its issuance shared an earlier capture. Returns null
 * if the certificate has an entry or no capture.
 */
export const findUnloggedCapture = async (db: Database, certId: CertId): Promise<PolicyCapture | null> => {
  const linked = query.select({ id: certificates.policyCaptureId }).from(certificates).where(eq(certificates.id, certId));
  const isUnlogged = notExistsIn(auditEntries, eq(auditEntries.entityId, certId), eq(auditEntries.type, "policy.linked"));
  return toCapture(
    await selectCapture(db)
      .where(allOf(inArray(captures.id, linked), isUnlogged))
      .get(),
  );
};

/**
 * Returns the statements for a capture: a snapshot of each text that is new to the domain, and the capture itself. IDs contain the shard of
 * `certId`. The texts must already be stored. `known` contains the domain's snapshots of these texts. The audit entries contain the
 * snapshots' IDs, so the batch fails if another worker has inserted one of the snapshots in the meantime; check with `isOutdatedSnapshot`.
 */
export const insertPolicyCapture = (
  db: Database,
  captured: {
    readonly domain: string;
    readonly origin: string;
    /** Null if the capture is shared by every page of the origin. */
    readonly page: string | null;
    readonly certId: string;
    readonly found: CapturedPolicies;
    readonly known: readonly KnownSnapshot[];
    readonly now: Instant;
    readonly random: RandomBytes;
  },
): { readonly capture: PolicyCapture; readonly rows: readonly Statement[] } => {
  const { domain, found, now } = captured;
  const shard = shardOfId(captured.certId);
  const snapshotOf = (kind: PolicyKind): PolicySnapshot | null => {
    const text = found[kind];
    if (text === null) return null;
    const { sourceUrl, contentHash } = text;
    const known = captured.known.find((snapshot) => snapshot.kind === kind && snapshot.contentHash === contentHash);
    return known ?? { id: generateId("pol_", shard, captured.random), sourceUrl, contentHash, capturedAt: now };
  };
  const policies = { privacy: snapshotOf("privacy"), terms: snapshotOf("terms") };
  const capture: PolicyCapture = { id: generateId("cap_", shard, captured.random), policies };
  const insertSnapshot = (kind: PolicyKind, snapshot: PolicySnapshot) =>
    db
      .insert(snapshots)
      .values({ ...snapshot, domain, kind })
      .onConflictDoNothing();
  return {
    capture,
    rows: [
      ...policyKinds.flatMap((kind) => {
        const snapshot = policies[kind];
        return snapshot === null ? [] : [insertSnapshot(kind, snapshot)];
      }),
      db.insert(captures).values({
        id: capture.id,
        domain,
        origin: captured.origin,
        page: captured.page,
        capturedAt: now,
        privacyId: policies.privacy?.id ?? null,
        termsId: policies.terms?.id ?? null,
      }),
    ],
  };
};

/**
 * Links certificates to a capture, in the batch that deletes their outbox rows. Fails if one of the certificates is already linked; check
 * with `isAlreadyLinked`.
 */
export const linkPolicyCapture = (db: Database, captureId: string, certIds: readonly string[]) =>
  db
    .update(certificates)
    .set({ policyCaptureId: captureId })
    .where(inArray(certificates.id, jsonList(certIds)));

/** Returns true if the batch failed because another worker linked one of the certificates first. */
export const isAlreadyLinked = (error: unknown): boolean => isTriggerError(error, "policies can be linked to a certificate only once");

/** Returns true if the batch failed because another worker inserted a snapshot of the same text first. */
export const isOutdatedSnapshot = (error: unknown): boolean => isForeignKeyViolation(error);
