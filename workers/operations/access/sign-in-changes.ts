// Prepares the changes that create an account at the first sign-in after a sign-up. They run in the batch that uses the sign-in code, and
// take effect only if no other request used it first.
import { claimLifetimeMs, generateDomainToken } from "../../../core/accounts/domain-claim.ts";
import { toHex } from "../../../core/bytes.ts";
import { createAuditedEvent, type DomainEvent } from "../../../core/domain-events.ts";
import { generateId, type ClientId, type ShardId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { OpenInvitation } from "../../../storage/members.ts";
import type { Condition } from "../../../storage/query.ts";
import { insertAccount, hasBusiness, findOpenSignup } from "../../../storage/signups.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface UsedCode {
  readonly codeId: string;
  readonly sessionHash: string;
  readonly now: Instant;
}

/** The database statements and domain events of a sign-in. The first statement, if any, inserts the consumer or the business. */
export interface SignInChanges {
  readonly statements: readonly Statement[];
  readonly domainEvents: readonly DomainEvent[];
  /** The domain events are recorded only if this condition is true. */
  readonly onlyIf?: Condition;
}

export const noSignInChanges: SignInChanges = { statements: [], domainEvents: [] };
const chainTagBytes = 16;

/** Creates the event that records an invitation's outcome in the inviting business's audit chain. */
export const createInvitationDomainEvent = (
  { id, role, chain }: OpenInvitation,
  type: "member.joined" | "member.declined",
  at: Instant,
): DomainEvent =>
  createAuditedEvent({ chain, actor: { kind: "member", id } }, { type, entityType: "member", entityId: id, payload: { role } }, at);

/**
 * Prepares the changes that create the account for a sign-up: its owner, a live client, a test client and, if the sign-up contains a
 * domain, a domain claim. Returns no changes if the sign-up has expired.
 */
export const prepareSignupCompletion = async (
  { vault, random, config }: ReadDependencies,
  db: Database,
  id: string,
  shardId: ShardId,
  usedCode: UsedCode,
): Promise<SignInChanges> => {
  const signup = await findOpenSignup(db, vault, id, usedCode.now);
  if (signup === null) return noSignInChanges;
  const chain = { tag: toHex(random(chainTagBytes)), auditLog: shardId };
  const ownerId = generateId("mem_", shardId, random);
  const account = {
    status: config.requiresSignupApproval ? ("pending" as const) : ("active" as const),
    chain,
    ownerId,
    clients: [
      { id: generateId("pc_live_", shardId, random) as ClientId, environment: "live" as const, name: "Live" },
      { id: generateId("pc_test_", shardId, random) as ClientId, environment: "sandbox" as const, name: "Test" },
    ],
    domainClaim: { id: generateId("dom_", shardId, random), token: generateDomainToken(random), expiresAt: usedCode.now + claimLifetimeMs },
  };
  const { status } = account;
  const action = { type: "business.signed_up", entityType: "business", entityId: signup.id, payload: { status } } as const;
  const domainEvent = createAuditedEvent({ chain, actor: { kind: "member", id: ownerId } }, action, usedCode.now);
  return {
    statements: await insertAccount(db, vault, signup, account, usedCode),
    domainEvents: [domainEvent],
    onlyIf: hasBusiness(signup.id),
  };
};
