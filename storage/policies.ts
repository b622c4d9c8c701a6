// Policy snapshots: rows in D1, and texts in KV under their own hash. A text in KV is never stale, and it is written before any row refers
// to it. SPEC Policy snapshot.
import { desc, eq, gt, inArray, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { sha256Hex } from "../core/hash.ts";
import { shardOfId, generateId, type RandomBytes } from "../core/ids.ts";
import { policyKinds, type CapturedPolicies, type PolicyKind, type PolicyText } from "../core/policies/snapshot.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { isTriggerError, translateFaults } from "./faults.ts";
import { certificates, policyCaptures as captures, policySnapshots as snapshots } from "./schema.ts";
import { allOf, jsonList, query } from "./query.ts";

const policyTextKey = (contentHash: string): string => `policy:${contentHash}`;

/** The text with this SHA-256; null when it cannot be read or the stored text has another hash. */
export const findPolicyText = async (kv: KVNamespace, contentHash: string): Promise<string | null> => {
  try {
    const text = await translateFaults(() => kv.get(policyTextKey(contentHash)));
    return text !== null && sha256Hex(text) === contentHash ? text : null;
  } catch {
    return null; // the store is down; hash, URL and date of the snapshot are still valid
  }
};

/**
 * Writes the texts that no snapshot of this domain refers to yet, so that an unchanged text is written once rather than every 15 minutes.
 */
export const storePolicyTexts = async (db: Database, kv: KVNamespace, domain: string, found: CapturedPolicies): Promise<void> => {
  const texts = policyKinds.flatMap((kind) => found[kind] ?? []);
  const rows = await db
    .select({ contentHash: snapshots.contentHash })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), inArray(snapshots.contentHash, jsonList(texts.map(({ contentHash }) => contentHash)))));
  const known = new Set(rows.map(({ contentHash }) => contentHash));
  for (const { contentHash, text } of texts) {
    if (known.has(contentHash)) continue;
    known.add(contentHash); // one page can hold both policies, and KV allows one write per second to a key
    await translateFaults(() => kv.put(policyTextKey(contentHash), text));
  }
};

/** Where to look for policies: an origin (scheme, host and port) and the URL, without query, of the page with the form. */
export interface PolicyLocation {
  readonly origin: string;
  readonly page: string;
}

/** A capture of an origin's policies, which certificates are linked to. */
export interface PolicyCapture {
  readonly id: string;
  /** Content hash by kind; null where none was found. */
  readonly hashes: Readonly<Record<PolicyKind, string | null>>;
}

/** Condition: a capture newer than `notBefore` that applies to the whole origin or to this page. */
export const isSharedCapture = (origin: string | SQLWrapper, page: string | SQLWrapper, notBefore: Instant | SQLWrapper): SQL =>
  sql`${eq(captures.origin, origin)} and ${gt(captures.capturedAt, notBefore)} and (${captures.page} is null or ${eq(captures.page, page)})`;

/** The newest shared capture; null when there is none. */
export const findCaptureSince = async (db: Database, at: PolicyLocation, notBefore: Instant): Promise<PolicyCapture | null> => {
  const privacy = alias(snapshots, "privacy");
  const terms = alias(snapshots, "terms");
  const row = await db
    .select({ id: captures.id, hashes: { privacy: privacy.contentHash, terms: terms.contentHash } })
    .from(captures)
    .leftJoin(privacy, eq(privacy.id, captures.privacyId))
    .leftJoin(terms, eq(terms.id, captures.termsId))
    .where(isSharedCapture(at.origin, at.page, notBefore))
    .orderBy(desc(captures.capturedAt))
    .limit(1)
    .get();
  return row ?? null;
};

/** Sub-select for the snapshot of a text; NULL if none was found. */
const selectSnapshotId = (domain: string, kind: PolicyKind, text: PolicyText | null): SQL =>
  sql`${query
    .select({ id: snapshots.id })
    .from(snapshots)
    .where(allOf(eq(snapshots.domain, domain), eq(snapshots.kind, kind), sql`${snapshots.contentHash} = ${text?.contentHash ?? null}`))}`;

/**
 * The statements of a capture: a snapshot for each text that is new to the domain, and the capture itself. IDs carry the shard of `certId`.
 * The texts must already be stored.
 */
export const insertPolicyCapture = (
  db: Database,
  captured: {
    readonly domain: string;
    readonly origin: string;
    /** Null if every page of the origin shares it. */
    readonly page: string | null;
    readonly certId: string;
    readonly found: CapturedPolicies;
    readonly now: Instant;
    readonly random: RandomBytes;
  },
): { readonly capture: PolicyCapture; readonly rows: readonly Statement[] } => {
  const { domain, found, now } = captured;
  const shard = shardOfId(captured.certId);
  const hashes = { privacy: found.privacy?.contentHash ?? null, terms: found.terms?.contentHash ?? null };
  const capture: PolicyCapture = { id: generateId("cap_", shard, captured.random), hashes };
  const insertSnapshot = (kind: PolicyKind, { sourceUrl, contentHash }: PolicyText) =>
    db
      .insert(snapshots)
      .values({ id: generateId("pol_", shard, captured.random), domain, kind, sourceUrl, contentHash, capturedAt: now })
      .onConflictDoNothing({ target: [snapshots.domain, snapshots.kind, snapshots.contentHash] });
  return {
    capture,
    rows: [
      ...policyKinds.flatMap((kind) => {
        const text = found[kind];
        return text === null ? [] : [insertSnapshot(kind, text)];
      }),
      db.insert(captures).values({
        id: capture.id,
        domain,
        origin: captured.origin,
        page: captured.page,
        capturedAt: now,
        privacyId: selectSnapshotId(domain, "privacy", found.privacy),
        termsId: selectSnapshotId(domain, "terms", found.terms),
      }),
    ],
  };
};

/**
 * Links certificates to a capture, in the batch that deletes their outbox rows. Fails when one of them is already linked; check with
 * `isAlreadyLinked`.
 */
export const linkPolicyCapture = (db: Database, captureId: string, certIds: readonly string[]) =>
  db
    .update(certificates)
    .set({ policyCaptureId: captureId })
    .where(inArray(certificates.id, jsonList(certIds)));

/** True when the batch failed because another worker linked one of the certificates first. */
export const isAlreadyLinked = (error: unknown): boolean => isTriggerError(error, "policies can be linked to a certificate only once");
