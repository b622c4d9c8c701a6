// Snapshots of policies: rows in D1, the text in KV under its own hash. A text that is there can never be stale, and it
// is there before any row names it.
import { sha256Hex } from "../core/hash.ts";
import { homeOfId, newId, type RandomBytes } from "../core/ids.ts";
import { policyKinds, type FoundPolicies, type PolicyKind, type PolicyText } from "../core/policies/snapshot.ts";
import type { Instant } from "../core/time.ts";

const textKey = (contentHash: string): string => `policy:${contentHash}`;

/** The text whose SHA-256 is `contentHash`; null when it cannot be had, or when what is kept under that hash is another text. */
export const policyText = async (kv: KVNamespace, contentHash: string): Promise<string | null> => {
  try {
    const text = await kv.get(textKey(contentHash));
    return text !== null && sha256Hex(text) === contentHash ? text : null;
  } catch {
    return null; // the store is down; hash, address and date of the snapshot still stand
  }
};

/** Writes the texts that no snapshot of this domain names yet: the same text is written once, not every 15 minutes. */
export const storePolicyTexts = async (db: D1Database, kv: KVNamespace, domain: string, found: FoundPolicies): Promise<void> => {
  const texts = policyKinds.flatMap((kind) => found[kind] ?? []);
  const { results } = await db
    .prepare("SELECT content_hash FROM policy_snapshots WHERE domain = ?1 AND content_hash IN (SELECT value FROM json_each(?2))")
    .bind(domain, JSON.stringify(texts.map(({ contentHash }) => contentHash)))
    .all<{ content_hash: string }>();
  const kept = new Set(results.map((row) => row.content_hash));
  for (const { contentHash, text } of texts) {
    if (kept.has(contentHash)) continue;
    kept.add(contentHash); // one page can be both policies, and a key takes one write a second
    await kv.put(textKey(contentHash), text);
  }
};

/** A look at a domain's policies, as certificates are linked to it. */
export interface PolicyCapture {
  readonly id: string;
  /** Content hash by kind; null where the look found none. */
  readonly hashes: Readonly<Record<PolicyKind, string | null>>;
}

/** The newest look at a domain that is not older than `notBefore`. */
export const captureSince = async (db: D1Database, domain: string, notBefore: Instant): Promise<PolicyCapture | null> => {
  const row = await db
    .prepare(
      `SELECT q.id, p.content_hash AS privacy, t.content_hash AS terms FROM policy_captures q
       LEFT JOIN policy_snapshots p ON p.id = q.privacy_id LEFT JOIN policy_snapshots t ON t.id = q.terms_id
       WHERE q.domain = ? AND q.captured_at > ? ORDER BY q.captured_at DESC LIMIT 1`,
    )
    .bind(domain, notBefore)
    .first<{ id: string; privacy: string | null; terms: string | null }>();
  return row === null ? null : { id: row.id, hashes: { privacy: row.privacy, terms: row.terms } };
};

const insertSnapshot = (
  db: D1Database,
  snapshot: { readonly id: string; readonly domain: string; readonly kind: PolicyKind; readonly text: PolicyText; readonly now: Instant },
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO policy_snapshots (id, domain, kind, source_url, content_hash, captured_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (domain, kind, content_hash) DO NOTHING`,
    )
    .bind(snapshot.id, snapshot.domain, snapshot.kind, snapshot.text.sourceUrl, snapshot.text.contentHash, snapshot.now);

/**
 * The rows of a look: a snapshot for each text that is new to the domain, and the look itself. `certId` names the home.
 * Their texts must be stored already.
 */
export const insertCapture = (
  db: D1Database,
  look: {
    readonly domain: string;
    readonly certId: string;
    readonly found: FoundPolicies;
    readonly now: Instant;
    readonly random: RandomBytes;
  },
): { readonly capture: PolicyCapture; readonly rows: readonly D1PreparedStatement[] } => {
  const { domain, found, now } = look;
  const home = homeOfId(look.certId);
  const hashes = { privacy: found.privacy?.contentHash ?? null, terms: found.terms?.contentHash ?? null };
  const capture: PolicyCapture = { id: newId("cap_", home, look.random), hashes };
  const snapshotId = (kind: PolicyKind): string =>
    `(SELECT s.id FROM policy_snapshots s WHERE s.domain = ?2 AND s.kind = '${kind}' AND s.content_hash = ${kind === "privacy" ? "?4" : "?5"})`;
  return {
    capture,
    rows: [
      ...policyKinds.flatMap((kind) => {
        const text = found[kind];
        return text === null ? [] : [insertSnapshot(db, { id: newId("pol_", home, look.random), domain, kind, text, now })];
      }),
      db
        .prepare(
          `INSERT INTO policy_captures (id, domain, captured_at, privacy_id, terms_id)
           VALUES (?1, ?2, ?3, ${snapshotId("privacy")}, ${snapshotId("terms")})`,
        )
        .bind(capture.id, domain, now, hashes.privacy, hashes.terms),
    ],
  };
};

/** For the batch that also deletes their outbox rows: fails, and takes the batch with it, when one of them is linked already. */
export const linkCertificates = (db: D1Database, captureId: string, certIds: readonly string[]): D1PreparedStatement =>
  db
    .prepare("UPDATE certificates SET policy_capture_id = ? WHERE id IN (SELECT value FROM json_each(?))")
    .bind(captureId, JSON.stringify(certIds));

/** True when the batch failed because another worker linked the same certificates first. */
export const isLinkedAlready = (error: unknown): boolean => error instanceof Error && error.message.includes("policies are linked once");
