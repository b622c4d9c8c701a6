// How somebody comes to act for a business: by the account they signed up for, or by an invitation. Both happen in the batch of the
// sign-in that proves their address, and only if its code was spent there.
import { claimLifeMs, newDomainToken } from "../../../core/accounts/domain-claim.ts";
import { hexOf } from "../../../core/bytes.ts";
import { factOf, type Fact } from "../../../core/facts.ts";
import { newId, type ClientId, type Home } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { acceptInvitation, isMember, openInvitation, type OpenInvitation } from "../../../storage/members.ts";
import type { Condition } from "../../../storage/query.ts";
import { insertAccount, isBusiness, openSignup } from "../../../storage/signups.ts";
import type { Runtime, Stores } from "../../services.ts";

export interface SpentCode {
  readonly codeId: string;
  readonly sessionHash: string;
  readonly now: Instant;
}

/** What a sign-in writes before its session: who comes to be by it, and what the chain is told. The first row is theirs. */
export interface Joining {
  readonly rows: readonly Statement[];
  readonly facts: readonly Fact[];
  /** What must hold for the facts to be told. */
  readonly onlyIf?: Condition;
}

const nobody: Joining = { rows: [], facts: [] };
const chainTagBytes = 16;

/** What became of an invitation, as the chain of who invited is told of it. */
export const answeredFact = ({ id, role, chain }: OpenInvitation, type: "member.joined" | "member.declined", at: Instant): Fact =>
  factOf({ chain, actor: { kind: "member", id } }, { type, entityType: "member", entityId: id, payload: { role } }, at);

export const joinByInvitation = async (db: Database, id: string, spent: SpentCode): Promise<Joining> => {
  const invitation = await openInvitation(db, id, spent.now);
  if (invitation === null) return nobody;
  return { rows: acceptInvitation(db, id, spent), facts: [answeredFact(invitation, "member.joined", spent.now)], onlyIf: isMember(id) };
};

export const joinBySignup = async (
  { vault, random, config }: Runtime & Stores,
  db: Database,
  id: string,
  home: Home,
  spent: SpentCode,
): Promise<Joining> => {
  const signup = await openSignup(db, vault, id, spent.now);
  if (signup === null) return nobody;
  const chain = { tag: hexOf(random(chainTagBytes)), shard: 0 };
  const ownerId = newId("mem_", home, random);
  const account = {
    status: config.approvesSignups ? ("pending" as const) : ("active" as const),
    chain,
    ownerId,
    clients: [
      { id: newId("pc_live_", home, random) as ClientId, environment: "live" as const, name: "Live" },
      { id: newId("pc_test_", home, random) as ClientId, environment: "sandbox" as const, name: "Sandbox" },
    ],
    claim: { id: newId("dom_", home, random), token: newDomainToken(random), expiresAt: spent.now + claimLifeMs },
  };
  const { status } = account;
  const act = { type: "business.signed_up", entityType: "business", entityId: signup.id, payload: { status } } as const;
  const fact = factOf({ chain, actor: { kind: "member", id: ownerId } }, act, spent.now);
  return { rows: await insertAccount(db, vault, signup, account, spent), facts: [fact], onlyIf: isBusiness(signup.id) };
};
