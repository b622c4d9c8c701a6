// The callers of the API: businesses with an API key, and consumers who act for themselves or through an assistant.
import type { AuditChain } from "../domain-events.ts";
import type { Actor } from "../actor.ts";
import type { BusinessId, ConsumerId, ShardId } from "../ids.ts";
import type { BusinessStatus, Environment } from "./entitlement.ts";

/** A business account, with its status and the audit chain that records its actions. */
export interface BusinessPrincipal {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: BusinessStatus;
  readonly country: string;
  readonly chain: AuditChain;
  /** The shards, other than the account's own shard, that can contain certificates of the account. */
  readonly otherShards: readonly ShardId[];
}

export interface Principal {
  readonly kind: "api_key";
  readonly keyId: string;
  readonly keyHash: string;
  /** A test key gives access only to sandbox records, and a live key only to live records. */
  readonly environment: Environment;
  readonly business: BusinessPrincipal;
}

/**
 * The consumer whose records a request is about, and the actor of the request: the consumer or an assistant that uses one of the consumer's
 * tokens.
 */
export interface Person {
  readonly id: ConsumerId;
  readonly chain: AuditChain;
  readonly actor: Actor;
}

/** The business and environment of a request that is made with an API key or by a signed-in member. */
export type BusinessScope = Pick<Principal, "business" | "environment">;

/** Returns the API key as the actor to record in audit entries. */
export const actorFromApiKey = ({ keyId }: Principal): Actor => ({ kind: "api_key", id: keyId });
