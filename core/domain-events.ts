// The switchboard: for every kind of fact, where it goes besides its own rows. A change of what is audited, anchored or
// told to a business is a change of this table and of nothing else.
import type { Environment } from "./access/entitlement.ts";
import { formatActor, type Actor } from "./actor.ts";
import type { JsonObject } from "./canonical-json.ts";
import type { EventType } from "./events/event.ts";
import type { BusinessId } from "./ids.ts";
import type { AnchorSubject } from "./ledger/statement.ts";
import type { Instant } from "./time.ts";

export interface DomainEventRoute {
  readonly anchored: boolean;
  /** The event that tells the business of it, by webhook and feed. */
  readonly event: EventType | null;
  /** Told only to businesses that asked for it: the fact then names one. */
  readonly requiresOptIn?: true;
}

export const domainEventRoutes = {
  "certificate.issued": { anchored: true, event: "certificate.issued", requiresOptIn: true },
  "certificate.revoked": { anchored: true, event: "certificate.revoked" },
  "certificate.entities_withdrawn": { anchored: true, event: "certificate.entities_withdrawn", requiresOptIn: true },
  "certificate.subject_erased": { anchored: false, event: null },
  "certificate.subject_read": { anchored: false, event: null },
  "business.ceased": { anchored: true, event: "business.ceased" },
  "business.entities_ceased": { anchored: false, event: null },
  "evidence_pack.exported": { anchored: false, event: null },
  "list.exported": { anchored: false, event: null },
  "view.saved": { anchored: false, event: null },
  "view.removed": { anchored: false, event: null },
  "optout.code_requested": { anchored: false, event: null },
  "share.created": { anchored: true, event: "share.created" },
  "share.redeemed": { anchored: false, event: null },
  "share.renewed": { anchored: true, event: "share.renewed" },
  "share.expiring": { anchored: false, event: "share.expiring" },
  "share.expired": { anchored: false, event: "share.expired" },
  "share.revoked": { anchored: true, event: "share.revoked" },
  "consumer.current_read": { anchored: false, event: null },
  "fields.updated": { anchored: false, event: null },
  "data.exported": { anchored: false, event: null },
  "account.deleted": { anchored: false, event: null },
  "removal.requested": { anchored: false, event: null },
  "removal.completed": { anchored: false, event: null },
  "policy.linked": { anchored: false, event: null },
  "session.ended": { anchored: false, event: null },
  "passkey.added": { anchored: false, event: null },
  "passkey.removed": { anchored: false, event: null },
  "business.plan_changed": { anchored: false, event: null },
  "business.status_changed": { anchored: false, event: null },
  "consumer.plan_changed": { anchored: false, event: null },
  "webhook.created": { anchored: false, event: null },
  "webhook.changed": { anchored: false, event: null },
  "webhook.secret_rotated": { anchored: false, event: null },
  "webhook.secret_revealed": { anchored: false, event: null },
  "webhook.deleted": { anchored: false, event: null },
  "agent_token.minted": { anchored: false, event: null },
  "agent_token.revoked": { anchored: false, event: null },
  "agent.called": { anchored: false, event: null },
  "business.signed_up": { anchored: false, event: null },
  "business.profile_changed": { anchored: false, event: null },
  "domain.added": { anchored: false, event: null },
  "domain.verified": { anchored: false, event: null },
  "domain.lapsed": { anchored: false, event: null },
  "domain.removed": { anchored: false, event: null },
  "client.created": { anchored: false, event: null },
  "api_key.created": { anchored: false, event: null },
  "api_key.revoked": { anchored: false, event: null },
  "member.invited": { anchored: false, event: null },
  "member.joined": { anchored: false, event: null },
  "member.declined": { anchored: false, event: null },
  "member.role_changed": { anchored: false, event: null },
  "member.removed": { anchored: false, event: null },
} as const satisfies Record<string, DomainEventRoute>;

export type DomainEventType = keyof typeof domainEventRoutes;

export type EntityType =
  | "certificate"
  | "webhook"
  | "share"
  | "consumer"
  | "business"
  | "domain"
  | "client"
  | "api_key"
  | "agent_token"
  | "member"
  | "session"
  | "passkey"
  | "removal";

export interface DomainEvent {
  readonly type: DomainEventType;
  readonly entityType: EntityType;
  readonly entityId: string;
  readonly at: Instant;
  /** Whose audit chains tell it: the business's, the person's, or both. */
  readonly chains: readonly [DomainEventChain, ...DomainEventChain[]];
  readonly actor: Actor;
  /** What the audit entry commits to besides the actor: hashes, words and ids; sealed at rest. */
  readonly payload: JsonObject;
  /** What the ledger statement needs, for facts that are anchored. */
  readonly anchor?: Pick<AnchorSubject, "fingerprint" | "originDomain" | "receiptHash">;
  /** Whose event it is; needed where the table names one. */
  readonly businessId?: BusinessId;
  /** Needed with it: events about sandbox records have a sequence of their own. */
  readonly environment?: Environment;
  /** What its event says instead of `at`: the time by the clock of a sandbox that was moved. Chains and the ledger keep the real time. */
  readonly occurredAt?: Instant;
}

/** What was done, and to what. */
export interface AuditedAction extends Pick<DomainEvent, "type" | "entityType" | "entityId"> {
  /** Words, ids and hashes; nothing personal. */
  readonly payload?: DomainEvent["payload"];
}

/** A fact that one chain tells, and that neither the ledger nor an event does. */
export const createAuditedEvent = (
  { chain, actor }: { readonly chain: AuditChain; readonly actor: Actor },
  { payload = {}, ...act }: AuditedAction,
  at: Instant,
): DomainEvent => ({ ...act, at, chains: [chain], actor, payload });

/** A fact decided on by the clock of a sandbox, as it is written down at a real time. */
export const withRecordedTime = (fact: DomainEvent, at: Instant): DomainEvent => ({ ...fact, at, occurredAt: fact.at });

/** A principal's audit chain: a random tag, not derived from anything personal, and the log that holds it. */
export interface AuditChain {
  readonly tag: string;
  readonly auditLog: number;
}

/** Something that happened to a certificate, as the chain of its business tells it. */
export const createCertificateEvent = (
  { id, chain }: { readonly id: string; readonly chain: AuditChain },
  at: Instant,
  act: Omit<DomainEvent, "entityType" | "entityId" | "at" | "chains">,
): DomainEvent => ({ ...act, entityType: "certificate", entityId: id, at, chains: [chain] });

/** Who did it and what an entry commits to. */
export type AuditContent = Pick<DomainEvent, "actor" | "payload">;

/** A chain that tells a fact, in words of its own where it must not say what the other one says: a business's never names the person. */
export interface DomainEventChain extends AuditChain {
  readonly content?: AuditContent;
}

/** What the audit entry of a fact commits to. Entries of members say `by`: their chains have begun that way. */
export const toAuditPayload = ({ actor, payload }: AuditContent): JsonObject =>
  actor.kind === "member" ? { by: actor.id, ...payload } : { actor: formatActor(actor), ...payload };
