// Returns the signed-in user for API responses.
import type { AnySession, Realm } from "../../../core/access/session.ts";
import { consumerEmailContext, memberEmailContext } from "../../../storage/people-contexts.ts";
import { sessionAddressContext } from "../../../storage/sessions.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Stores } from "../dependencies.ts";

const getEmailContext = (session: AnySession): EncryptionContext => {
  if (session.realm === "consumer") return consumerEmailContext(session.userId);
  return session.realm === "invited" ? sessionAddressContext(session.sessionId) : memberEmailContext(session.userId, session.business.id);
};

/**
 * Returns the session's user with the decrypted email address. `role` and `businessId` are null for consumers, and for people who were
 * invited but have not joined yet.
 */
export const getSignedInUser = async ({ vault }: Stores, session: AnySession) => {
  const [role, businessId] = session.realm === "business" ? [session.role, session.business.id] : [null, null];
  const realm: Realm = session.realm === "consumer" ? "consumer" : "business";
  return { id: session.userId, email: await vault.open(getEmailContext(session), session.emailSealed), realm, role, businessId };
};

export type SignedInUser = Awaited<ReturnType<typeof getSignedInUser>>;
