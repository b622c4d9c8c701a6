// The switchboard: for every kind of fact, where it goes besides its own rows. A change of what is audited, anchored or
// told to a business is a change of this table and of nothing else.
import type { Environment } from "./access/entitlement.ts";
import { actorText, type Actor } from "./actor.ts";
import type { Json } from "./canonical-json.ts";
import type { EventType } from "./events/event.ts";
import type { BusinessId } from "./ids.ts";
import type { AnchorSubject } from "./ledger/statement.ts";
import type { Instant } from "./time.ts";

export interface FactRoute {
  readonly anchored: boolean;
  /** The event that tells the business of it, by webhook and feed. */
  readonly event: EventType | null;
  /** Told only to businesses that asked for it: the fact then names one. */
  readonly onRequest?: true;
}

export const factRoutes = {
  "certificate.issued": { anchored: true, event: "certificate.issued", onRequest: true },
  "certificate.revoked": { anchored: true, event: "certificate.revoked" },
  "certificate.entities_withdrawn": { anchored: true, event: "certificate.entities_withdrawn", onRequest: true },
  "certificate.subject_erased": { anchored: false, event: null },
  "certificate.subject_read": { anchored: false, event: null },
  "business.ceased": { anchored: true, event: "business.ceased" },
  "evidence_pack.exported": { anchored: false, event: null },
  "optout.code_requested": { anchored: false, event: null },
  "policy.linked": { anchored: false, event: null },
  "business.plan_changed": { anchored: false, event: null },
  "business.status_changed": { anchored: false, event: null },
  "consumer.plan_changed": { anchored: false, event: null },
  "webhook.created": { anchored: false, event: null },
  "webhook.changed": { anchored: false, event: null },
  "webhook.secret_rotated": { anchored: false, event: null },
  "webhook.secret_revealed": { anchored: false, event: null },
  "webhook.deleted": { anchored: false, event: null },
} as const satisfies Record<string, FactRoute>;

export type FactType = keyof typeof factRoutes;

export type EntityType =
  | "certificate"
  | "webhook"
  | "share"
  | "consumer"
  | "business"
  | "domain"
  | "api_key"
  | "agent_token"
  | "member"
  | "removal";

export interface Fact {
  readonly type: FactType;
  readonly entityType: EntityType;
  readonly entityId: string;
  readonly at: Instant;
  /** Whose audit chains tell it: the business's, the consumer's, or both. */
  readonly chains: readonly [AuditChain, ...AuditChain[]];
  readonly actor: Actor;
  /** What the audit entry commits to besides the actor: hashes, words and ids; sealed at rest. */
  readonly payload: { readonly [key: string]: Json };
  /** What the ledger statement needs, for facts that are anchored. */
  readonly anchor?: Pick<AnchorSubject, "fingerprint" | "originDomain" | "receiptHash">;
  /** Whose event it is; needed where the table names one. */
  readonly businessId?: BusinessId;
  /** Needed with it: facts about sandbox records emit no event. */
  readonly environment?: Environment;
  /** The share an event is about; without one it is about the fact's entity. */
  readonly shareId?: string;
  /** The payload of an update, sealed under its share's key. */
  readonly dataSealed?: string;
}

/** A principal's audit chain: a random tag, not derived from anything personal, and the log that holds it. */
export interface AuditChain {
  readonly tag: string;
  readonly shard: number;
}

/** What the audit entry of a fact commits to. Entries of members say `by`: their chains have begun that way. */
export const entryPayload = ({ actor, payload }: Fact): { readonly [key: string]: Json } =>
  actor.kind === "member" ? { by: actor.id, ...payload } : { actor: actorText(actor), ...payload };
