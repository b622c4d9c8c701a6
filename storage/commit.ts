// One change, one batch: the rows of the change, the audit entries, ledger statements and events its facts call for, and
// the work that follows, all or nothing. A 2xx is answered only after this returned.
import type { BatchResponse } from "drizzle-orm/batch";
import { auditPayloadHash } from "../core/audit/payload.ts";
import { base64UrlOf } from "../core/bytes.ts";
import type { EventType } from "../core/events/event.ts";
import { factRoutes, type Fact, type FactRoute } from "../core/facts.ts";
import { anchorStatement, entryHash, type AnchoredEvent } from "../core/ledger/statement.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { payloadPlace } from "./audit.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { insertEvent } from "./events.ts";
import { prepared } from "./prepared.ts";
import { facts as factsView } from "./schema.ts";
import type { Vault } from "./vault.ts";

/** What the ledger will hold of a fact. Throws for an anchored fact that carries nothing to anchor. */
const anchorOf = (ledgerId: string, fact: Fact, route: FactRoute) => {
  if (!route.anchored) return { anchorId: null, ledgerId: null, statement: null, entryHash: null };
  if (fact.anchor === undefined) throw new Error(`commit: ${fact.type} is anchored and carries nothing to anchor`);
  const statement = anchorStatement({
    event: fact.type as AnchoredEvent,
    entityId: fact.entityId,
    fingerprint: fact.anchor.fingerprint,
    originDomain: fact.anchor.originDomain,
    at: fact.at,
  });
  return { anchorId: crypto.randomUUID(), ledgerId, statement, entryHash: entryHash(statement) };
};

/** The audit entry of a fact and its ledger statement, as one row of the view that writes both. */
const factRow = async (vault: Vault, ledgerId: string, fact: Fact, route: FactRoute): Promise<typeof factsView.$inferSelect> => {
  const id = crypto.randomUUID();
  const salt = base64UrlOf(crypto.getRandomValues(new Uint8Array(16)));
  return {
    id,
    shard: fact.chain.shard,
    chain: fact.chain.tag,
    type: fact.type,
    entityType: fact.entityType,
    entityId: fact.entityId,
    at: fact.at,
    payloadHash: auditPayloadHash(salt, fact.payload),
    payloadSealed: await vault.seal(payloadPlace(id, fact.chain.tag), canonicalJson([salt, fact.payload])),
    ...anchorOf(ledgerId, fact, route),
  };
};

const insertFact = prepared<typeof factsView.$inferSelect>()((db, row) => db.insert(factsView).values(row).prepare());

/** None for a fact about a sandbox record: test keys and test clients never make a live endpoint ring. */
const eventRows = (db: Database, fact: Fact, type: EventType): readonly Statement[] => {
  const { businessId, environment, shareId } = fact;
  if (businessId === undefined || environment === undefined) throw new Error(`commit: ${fact.type} has an event and does not say whose`);
  if (environment === "sandbox") return [];
  return [
    insertEvent(db, businessId, {
      id: crypto.randomUUID(),
      type,
      createdAt: fact.at,
      shareId: shareId ?? null,
      certId: shareId === undefined ? fact.entityId : null,
      dataSealed: fact.dataSealed ?? null,
    }),
  ];
};

/** The rows that `facts` add to a change. */
const factRows = async (db: Database, vault: Vault, ledgerId: string, facts: readonly Fact[]): Promise<readonly Statement[]> => {
  const rows: Statement[] = [];
  for (const fact of facts) {
    const route: FactRoute = factRoutes[fact.type];
    rows.push(insertFact(db, await factRow(vault, ledgerId, fact, route)));
    const untold = route.event === null || (route.onRequest === true && fact.businessId === undefined);
    if (!untold) rows.push(...eventRows(db, fact, route.event));
  }
  return rows;
};

/**
 * Runs the rows of a change and of its facts as one transaction; throws, with nothing written, when any of them fails.
 * Answers the results of `rows`, in their order.
 */
export const commit = async <const Rows extends readonly Statement[]>(
  store: { readonly db: Database; readonly vault: Vault; readonly ledgerId: string },
  rows: Rows,
  facts: readonly Fact[],
): Promise<BatchResponse<Rows>> => {
  const results = await batch(store.db, [...rows, ...(await factRows(store.db, store.vault, store.ledgerId, facts))]);
  return results.slice(0, rows.length) as BatchResponse<Rows>;
};
