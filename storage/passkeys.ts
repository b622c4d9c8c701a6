// Passkeys of consumers and members, with the public keys that verify their signatures. SPEC Authentication.
import { eq, lt, or, sql, type SQL } from "drizzle-orm";
import { defaultPasskeyName, maxPasskeys, type VerifiedCredential, type Passkey } from "../core/access/passkey.ts";
import { type Instant, toDayNumber } from "../core/time.ts";
import type { Database } from "./database.ts";
import { insertIf } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { isExistingPrincipal } from "./people.ts";
import { allOf, countIn, existsIn, notExistsIn } from "./query.ts";
import { passkeys } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const { id, userId, credentialId, userHandle, publicKey, counter, transports, backedUp, nameSealed, createdAt, usedDay } = passkeys;

const passkeyNameContext = columnContext("passkeys", "name");

/** Lists the passkeys of a consumer or member, oldest first. */
export const listPasskeysByUser = (db: Database, vault: Vault, user: string): Lookup<readonly Passkey[]> => {
  const ownPasskeys = db
    .select({ id, credentialId, userHandle, transports, backedUp, nameSealed, createdAt, lastUsedDay: usedDay })
    .from(passkeys)
    .where(eq(userId, user))
    .orderBy(createdAt, id);
  return createLookup(db, [ownPasskeys], ([rows]) =>
    Promise.all(
      rows.map(async ({ nameSealed: sealed, ...row }) => ({
        ...row,
        // Uses a default name if decryption fails, so that the person can still see and remove the passkey.
        name: await vault.open(passkeyNameContext(row.id, user), sealed).catch(() => defaultPasskeyName),
      })),
    ),
  );
};

export interface NewPasskey extends VerifiedCredential, Pick<Passkey, "id" | "userHandle" | "transports" | "name"> {
  readonly userId: string;
  readonly now: Instant;
}

/**
 * Returns an insert, and a condition (`isWritten`) that is true if the passkey was inserted. The insert does nothing if the person no
 * longer exists or already has ten passkeys, or if the credential ID is known.
 */
export const insertPasskey = async (db: Database, vault: Vault, { name, now, ...passkey }: NewPasskey) => {
  const hasRoom = sql`${countIn(passkeys, eq(userId, passkey.userId))} < ${maxPasskeys}`;
  const isNew = notExistsIn(passkeys, eq(credentialId, passkey.credentialId));
  const row = { ...passkey, nameSealed: await vault.seal(passkeyNameContext(passkey.id, passkey.userId), name), createdAt: now };
  return {
    insert: insertIf(db, passkeys, row, allOf(isExistingPrincipal(passkey.userId), hasRoom, isNew)),
    isWritten: existsIn(passkeys, eq(id, passkey.id)),
  };
};

/** Finds a passkey. Returns null if there is no passkey with this credential ID and user handle. */
export const findPasskey = async (db: Database, credential: string, handle: string) =>
  (await db
    .select({ id, userId, credentialId, publicKey, counter })
    .from(passkeys)
    .where(allOf(eq(credentialId, credential), eq(userHandle, handle)))
    .get()) ?? null;

/**
 * Records a use of the passkey. Does nothing if the passkey no longer exists. If the authenticator counts signatures, also does nothing if
 * the count did not increase.
 */
export const recordPasskeyUse = (
  db: Database,
  passkey: string,
  signature: { readonly counter: number; readonly backedUp: boolean; readonly now: Instant },
) => {
  const { counter: newCounter, backedUp: isBackedUp, now } = signature;
  const rises = or(lt(counter, newCounter), sql`${counter} = 0 and ${newCounter} = 0`) as SQL;
  return db
    .update(passkeys)
    .set({ counter: newCounter, backedUp: isBackedUp, usedDay: toDayNumber(now) })
    .where(allOf(eq(id, passkey), rises));
};

/** Deletes a passkey. Does nothing if the passkey belongs to someone else. */
export const deletePasskey = (db: Database, user: string, passkey: string) =>
  db.delete(passkeys).where(allOf(eq(id, passkey), eq(userId, user)));
