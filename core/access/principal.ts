// Who is calling with an API key, and whose records that opens.
import type { AuditChain } from "../domain-events.ts";
import type { Actor } from "../actor.ts";
import type { BusinessId, ConsumerId } from "../ids.ts";
import type { BusinessStatus, Environment } from "./entitlement.ts";

/** The account of a business: whose records it opens, whether it may act, and where what it does is told. */
export interface BusinessPrincipal {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: BusinessStatus;
  readonly country: string;
  readonly chain: AuditChain;
}

export interface Principal {
  readonly kind: "api_key";
  readonly keyId: string;
  readonly keyHash: string;
  /** A test key sees sandbox records and nothing else; a live key sees live ones. */
  readonly environment: Environment;
  readonly business: BusinessPrincipal;
}

/** The person whose records a request is about, and who acts for them: they themselves, or an assistant with a token of theirs. */
export interface Person {
  readonly id: ConsumerId;
  readonly chain: AuditChain;
  readonly actor: Actor;
}
/** Whose certificates are read, and which: of an API key, or of a member who has chosen. */
export type BusinessScope = Pick<Principal, "business" | "environment">;

/** As audit entries name whoever holds the key. */
export const actorFromApiKey = ({ keyId }: Principal): Actor => ({ kind: "api_key", id: keyId });
