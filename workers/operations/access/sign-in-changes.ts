// How somebody comes to act for a business: by the account they signed up for, or by an invitation. Both happen in the batch of the
// sign-in that proves their address, and only if its code was spent there.
import { claimLifetimeMs, generateDomainToken } from "../../../core/accounts/domain-claim.ts";
import { toHex } from "../../../core/bytes.ts";
import { createAuditedEvent, type DomainEvent } from "../../../core/domain-events.ts";
import { generateId, type ClientId, type ShardId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { acceptInvitationByCode, isMember, findOpenInvitation, type OpenInvitation } from "../../../storage/members.ts";
import type { Condition } from "../../../storage/query.ts";
import { insertAccount, hasBusiness, findOpenSignup } from "../../../storage/signups.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface UsedCode {
  readonly codeId: string;
  readonly sessionHash: string;
  readonly now: Instant;
}

/** What a sign-in writes before its session: who comes to be by it, and what the chain is told. The first row is theirs. */
export interface SignInChanges {
  readonly rows: readonly Statement[];
  readonly domainEvents: readonly DomainEvent[];
  /** What must hold for the facts to be told. */
  readonly onlyIf?: Condition;
}

const noChanges: SignInChanges = { rows: [], domainEvents: [] };
const chainTagBytes = 16;

/** What became of an invitation, as the chain of who invited is told of it. */
export const createInvitationDomainEvent = (
  { id, role, chain }: OpenInvitation,
  type: "member.joined" | "member.declined",
  at: Instant,
): DomainEvent =>
  createAuditedEvent({ chain, actor: { kind: "member", id } }, { type, entityType: "member", entityId: id, payload: { role } }, at);

export const prepareInvitationAcceptance = async (db: Database, id: string, spent: UsedCode): Promise<SignInChanges> => {
  const invitation = await findOpenInvitation(db, id, spent.now);
  if (invitation === null) return noChanges;
  return {
    rows: acceptInvitationByCode(db, id, spent),
    domainEvents: [createInvitationDomainEvent(invitation, "member.joined", spent.now)],
    onlyIf: isMember(id),
  };
};

export const prepareSignupCompletion = async (
  { vault, random, config }: ReadDependencies,
  db: Database,
  id: string,
  home: ShardId,
  spent: UsedCode,
): Promise<SignInChanges> => {
  const signup = await findOpenSignup(db, vault, id, spent.now);
  if (signup === null) return noChanges;
  const chain = { tag: toHex(random(chainTagBytes)), auditLog: 0 };
  const ownerId = generateId("mem_", home, random);
  const account = {
    status: config.requiresSignupApproval ? ("pending" as const) : ("active" as const),
    chain,
    ownerId,
    clients: [
      { id: generateId("pc_live_", home, random) as ClientId, environment: "live" as const, name: "Live" },
      { id: generateId("pc_test_", home, random) as ClientId, environment: "sandbox" as const, name: "Sandbox" },
    ],
    domainClaim: { id: generateId("dom_", home, random), token: generateDomainToken(random), expiresAt: spent.now + claimLifetimeMs },
  };
  const { status } = account;
  const act = { type: "business.signed_up", entityType: "business", entityId: signup.id, payload: { status } } as const;
  const fact = createAuditedEvent({ chain, actor: { kind: "member", id: ownerId } }, act, spent.now);
  return { rows: await insertAccount(db, vault, signup, account, spent), domainEvents: [fact], onlyIf: hasBusiness(signup.id) };
};
