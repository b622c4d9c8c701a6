// One change, one batch: the rows of the change, the audit entries, ledger statements and events its facts call for, and
// the work that follows, all or nothing. A 2xx is answered only after this returned.
import { auditPayloadHash } from "../core/audit/payload.ts";
import { base64UrlOf } from "../core/bytes.ts";
import type { EventType } from "../core/events/event.ts";
import { factRoutes, type Fact, type FactRoute } from "../core/facts.ts";
import { anchorStatement, entryHash, type AnchoredEvent } from "../core/ledger/statement.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { payloadPlace } from "./audit.ts";
import { insertEvent } from "./events.ts";
import { insertInto } from "./sql.ts";
import type { Vault } from "./vault.ts";

/** What the ledger will hold of a fact. Throws for an anchored fact that carries nothing to anchor. */
const anchorOf = (ledgerId: string, fact: Fact, route: FactRoute) => {
  if (!route.anchored) return { anchor_id: null, ledger_id: null, statement: null, entry_hash: null };
  if (fact.anchor === undefined) throw new Error(`commit: ${fact.type} is anchored and carries nothing to anchor`);
  const statement = anchorStatement({
    event: fact.type as AnchoredEvent,
    entityId: fact.entityId,
    fingerprint: fact.anchor.fingerprint,
    originDomain: fact.anchor.originDomain,
    at: fact.at,
  });
  return { anchor_id: crypto.randomUUID(), ledger_id: ledgerId, statement, entry_hash: entryHash(statement) };
};

/** The audit entry of a fact and its ledger statement, as one row of the view that writes both. */
const factRow = async (db: D1Database, vault: Vault, ledgerId: string, fact: Fact, route: FactRoute): Promise<D1PreparedStatement> => {
  const id = crypto.randomUUID();
  const salt = base64UrlOf(crypto.getRandomValues(new Uint8Array(16)));
  return insertInto(db, "facts", {
    id,
    shard: fact.chain.shard,
    chain: fact.chain.tag,
    type: fact.type,
    entity_type: fact.entityType,
    entity_id: fact.entityId,
    at: fact.at,
    payload_hash: auditPayloadHash(salt, fact.payload),
    payload_sealed: await vault.seal(payloadPlace(id, fact.chain.tag), canonicalJson([salt, fact.payload])),
    ...anchorOf(ledgerId, fact, route),
  });
};

/** Null for a fact about a sandbox record: test keys and test clients never make a live endpoint ring. */
const eventRow = (db: D1Database, fact: Fact, type: EventType): D1PreparedStatement | null => {
  const { businessId, environment, shareId } = fact;
  if (businessId === undefined || environment === undefined) throw new Error(`commit: ${fact.type} has an event and does not say whose`);
  if (environment === "sandbox") return null;
  return insertEvent(db, businessId, {
    id: crypto.randomUUID(),
    type,
    createdAt: fact.at,
    shareId: shareId ?? null,
    certId: shareId === undefined ? fact.entityId : null,
    dataSealed: fact.dataSealed ?? null,
  });
};

/** The rows that `facts` add to a change. */
const factRows = async (db: D1Database, vault: Vault, ledgerId: string, facts: readonly Fact[]): Promise<D1PreparedStatement[]> => {
  const rows: D1PreparedStatement[] = [];
  for (const fact of facts) {
    const route: FactRoute = factRoutes[fact.type];
    rows.push(await factRow(db, vault, ledgerId, fact, route));
    const untold = route.event === null || (route.onRequest === true && fact.businessId === undefined);
    const event = untold ? null : eventRow(db, fact, route.event);
    if (event !== null) rows.push(event);
  }
  return rows;
};

/**
 * Runs the rows of a change and of its facts as one transaction; throws, with nothing written, when any of them fails.
 * Answers the results of `rows`, in their order.
 */
export const commit = async (
  store: { readonly db: D1Database; readonly vault: Vault; readonly ledgerId: string },
  rows: readonly D1PreparedStatement[],
  facts: readonly Fact[],
): Promise<readonly D1Result[]> => {
  const results = await store.db.batch([...rows, ...(await factRows(store.db, store.vault, store.ledgerId, facts))]);
  return results.slice(0, rows.length);
};
