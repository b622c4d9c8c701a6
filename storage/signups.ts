// Sign-ups: account requests whose email address is not verified yet. When the address is verified, one batch creates the business, its
// first owner and its clients.
import { eq, gt, type SQL } from "drizzle-orm";
import { toStoredIndex, type AddressIndex } from "../core/access/address-index.ts";
import type { BusinessStatus, Environment } from "../core/access/entitlement.ts";
import type { AuditChain } from "../core/domain-events.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { alignMembershipIndexes, hasIndex } from "./address-indexes.ts";
import type { Database, Found } from "./database.ts";
import { insertIf } from "./inserts.ts";
import { isCodeUsable, isCodeUsedBySession } from "./email-codes.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { allOf, existsIn, notExistsIn } from "./query.ts";
import { businesses, clients, domains, members, signups } from "./schema.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

export interface SignupRequest {
  readonly name: string;
  readonly legalName: string | null;
  readonly country: string;
  /** The domain to claim for the business, or null if none was given. */
  readonly domain: string | null;
}

export const signupEmailContext = selfOwnedContext("signups", "email");
const signupRequestContext = selfOwnedContext("signups", "request");

type NewSignup = SignupRequest &
  Omit<typeof signups.$inferSelect, "emailSealed" | "emailIndex" | "requestSealed"> & {
    readonly email: string;
    readonly emailIndex: AddressIndex;
  };

/** Saves a sign-up, even if the email address already has an account. Does nothing if its email code cannot be used. */
export const insertSignup = async (db: Database, vault: Vault, { email, ...signup }: NewSignup, codeId: string) => {
  const { id, emailIndex, createdAt, expiresAt, name, legalName, country, domain } = signup;
  const [emailSealed, requestSealed] = await Promise.all([
    vault.seal(signupEmailContext(id), email),
    vault.seal(signupRequestContext(id), JSON.stringify({ name, legalName, country, domain } satisfies SignupRequest)),
  ]);
  const row = { id, emailIndex: toStoredIndex(emailIndex), emailSealed, requestSealed, createdAt, expiresAt };
  return [insertIf(db, signups, row, isCodeUsable(codeId))] as const;
};

/** Finds an open sign-up. Returns null if the sign-up does not exist or has expired. */
export const findOpenSignup = async (db: Database, vault: Vault, id: string, now: Instant) => {
  const { emailIndex, emailSealed, requestSealed, expiresAt } = signups;
  const row = await db
    .select({ id: signups.id, emailIndex, emailSealed, requestSealed })
    .from(signups)
    .where(allOf(eq(signups.id, id as BusinessId), gt(expiresAt, now)))
    .get();
  if (row === undefined) return null;
  const [email, request] = await Promise.all([
    vault.open(signupEmailContext(row.id), row.emailSealed),
    vault.open(signupRequestContext(row.id), row.requestSealed),
  ]);
  return { ...(JSON.parse(request) as SignupRequest), id: row.id, email, emailIndex: vault.readIndex(row.emailIndex) };
};

/** The values that the service generates or chooses for a new business. */
export interface NewAccount {
  readonly status: BusinessStatus;
  readonly chain: AuditChain;
  readonly ownerId: string;
  readonly clients: readonly { readonly id: ClientId; readonly environment: Environment; readonly name: string }[];
  readonly domainClaim: { readonly id: string; readonly token: string; readonly expiresAt: Instant };
}

/** Builds a condition for statements after those of `insertAccount`. It is true if the business was created. */
export const hasBusiness = (id: BusinessId): SQL => existsIn(businesses, eq(businesses.id, id));

/**
 * Returns the statements that create a business. They do nothing if the sign-up's email code was not used by the session, or if the email
 * address already has a membership. Therefore, only one of several concurrent calls creates a business.
 */
export const insertAccount = async (
  db: Database,
  vault: Vault,
  { id, email, emailIndex, name, legalName, country, domain }: Found<typeof findOpenSignup>,
  account: NewAccount,
  used: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant },
) => {
  const { now } = used;
  const { status, chain, ownerId, domainClaim } = account;
  const emailSealed = await vault.seal(memberEmailContext(ownerId, id), email);
  const isNew = allOf(isCodeUsedBySession(used.codeId, used.sessionHash), notExistsIn(members, hasIndex(members.emailIndex, emailIndex)));
  const isCreated = hasBusiness(id);
  const owner = { id: ownerId, businessId: id, emailSealed, emailIndex: toStoredIndex(emailIndex), role: "owner" as const, createdAt: now };
  return [
    insertIf(db, businesses, { id, name, legalName, status, plan: "free", country, auditChain: chain.tag, createdAt: now }, isNew),
    insertIf(db, members, owner, isCreated),
    ...account.clients.map((client) => insertIf(db, clients, { ...client, businessId: id, createdAt: now }, isCreated)),
    ...(domain === null
      ? []
      : [insertIf(db, domains, { ...domainClaim, businessId: id, domain, status: "pending" as const, createdAt: now }, isCreated)]),
    db.delete(signups).where(allOf(hasIndex(signups.emailIndex, emailIndex), isCreated)),
    ...alignMembershipIndexes(db, emailIndex),
  ] as const;
};
