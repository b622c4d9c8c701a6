// Domain events record what happens to certificates, shares, accounts and other records. For each type, `domainEventRoutes` states whether
// the event is anchored in the ledger and whether the business receives a public event. The public events for `consumer.updated.*` are an
// exception: workers/operations/consumers/prepare-share-updates.ts builds them.
import type { Environment } from "./access/entitlement.ts";
import { formatActor, parseActor, type Actor } from "./actor.ts";
import type { JsonObject } from "./canonical-json.ts";
import type { EventType } from "./events/event.ts";
import type { BusinessId, ShardId } from "./ids.ts";
import type { AnchorSubject } from "./ledger/statement.ts";
import type { Instant } from "./time.ts";

export interface DomainEventRoute {
  readonly anchored: boolean;
  /** The public event sent to the business by webhook and feed. */
  readonly event: EventType | null;
  /**
   * True if the event is sent only to businesses that have opted in. For other businesses, the operation leaves `businessId` unset on the
   * domain event.
   */
  readonly requiresOptIn?: true;
  /**
   * True if the payload is stored only in the audit log, because events of this type are too frequent for the database. The payload is
   * stored unsealed and consists of fixed text and IDs. The event has one chain, no anchor and no public event.
   */
  readonly isKeptInLog?: true;
}

export const domainEventRoutes = {
  "certificate.issued": { anchored: true, event: "certificate.issued", requiresOptIn: true },
  "certificate.revoked": { anchored: true, event: "certificate.revoked" },
  "certificate.entities_withdrawn": { anchored: true, event: "certificate.entities_withdrawn", requiresOptIn: true },
  "certificate.subject_erased": { anchored: false, event: null },
  "certificate.subject_read": { anchored: false, event: null, isKeptInLog: true },
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
  "removal.opened": { anchored: false, event: null },
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
  "webhook.delivery_revealed": { anchored: false, event: null },
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
  "client.return_urls_changed": { anchored: false, event: null },
  "client.require_origin_changed": { anchored: false, event: null },
  "api_key.created": { anchored: false, event: null },
  "api_key.revoked": { anchored: false, event: null },
  "recipient.linked": { anchored: false, event: null },
  "recipient.unlinked": { anchored: false, event: null },
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
  /** The audit chains that record the event: the business's, the person's, or both. */
  readonly chains: readonly [DomainEventChain, ...DomainEventChain[]];
  readonly actor: Actor;
  /**
   * The data that the audit entry commits to in addition to the actor: hashes, fixed text and IDs. The database stores this data sealed,
   * except for types with `isKeptInLog`.
   */
  readonly payload: JsonObject;
  /** For types that are anchored: the data for the ledger statement. */
  readonly anchor?: Pick<AnchorSubject, "fingerprint" | "originDomain" | "receiptHash">;
  /**
   * The salt of the audit entry. If it is set, the statement and the audit entry are rebuilt from the record instead of stored. Set it only
   * if the record contains the salt and is never deleted. The event must have exactly one chain.
   */
  readonly recordSalt?: string;
  /**
   * The business that receives the public event. It is required if the type's public event in `domainEventRoutes` does not require an
   * opt-in.
   */
  readonly businessId?: BusinessId;
  /** The environment of the record. It is required with `businessId`, because live and sandbox events have separate sequences. */
  readonly environment?: Environment;
  /**
   * Set for a sandbox whose clock was moved: the time that the public event shows instead of `at`. Chains and the ledger use the real time.
   */
  readonly occurredAt?: Instant;
}

/** An action and the entity that it affected. */
export interface AuditedAction extends Pick<DomainEvent, "type" | "entityType" | "entityId"> {
  /** Fixed text, IDs and hashes; never personal data. */
  readonly payload?: DomainEvent["payload"];
}

/** Creates a domain event that is recorded in only one audit chain, is not anchored, and has no public event. */
export const createAuditedEvent = (
  { chain, actor }: { readonly chain: AuditChain; readonly actor: Actor },
  { payload = {}, ...action }: AuditedAction,
  at: Instant,
): DomainEvent => ({ ...action, at, chains: [chain], actor, payload });

/**
 * Adapts an event whose time comes from a sandbox clock: the sandbox time becomes `occurredAt`, and the event is recorded at the real time
 * `at`.
 */
export const withRecordedTime = (event: DomainEvent, at: Instant): DomainEvent => ({ ...event, at, occurredAt: event.at });

/** The audit chain of a principal, in the audit log of the principal's shard. The tag is random and not derived from personal data. */
export interface AuditChain {
  readonly tag: string;
  readonly auditLog: ShardId;
}

/** Creates a domain event about a certificate, recorded in its business's chain. */
export const createCertificateEvent = (
  { id, chain }: { readonly id: string; readonly chain: AuditChain },
  at: Instant,
  action: Omit<DomainEvent, "entityType" | "entityId" | "at" | "chains">,
): DomainEvent => ({ ...action, entityType: "certificate", entityId: id, at, chains: [chain] });

/** The parts of a domain event that an audit entry commits to. */
export type AuditContent = Pick<DomainEvent, "actor" | "payload">;

/**
 * An audit chain that records the event. If `content` is set, this chain contains it instead of the event's actor and payload. Use it for a
 * business's chain, which must never identify the person.
 */
export interface DomainEventChain extends AuditChain {
  readonly content?: AuditContent;
}

/**
 * Returns the content that an audit entry commits to. A member is in the property `by`, and every other actor is in `actor`, because
 * existing chains have this format.
 */
export const toAuditPayload = ({ actor, payload }: AuditContent): JsonObject =>
  actor.kind === "member" ? { by: actor.id, ...payload } : { actor: formatActor(actor), ...payload };

/** Returns the actor of an audit payload, or null if the payload contains none. */
export const getPayloadActor = ({ by, actor }: JsonObject): Actor | null => {
  if (typeof by === "string") return { kind: "member", id: by };
  return typeof actor === "string" ? parseActor(actor) : null;
};
