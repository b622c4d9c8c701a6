// The signed-in user, as shown in API responses.
import type { Session } from "../../../core/access/session.ts";
import { consumerEmailContext, memberEmailContext } from "../../../storage/people-contexts.ts";
import type { Stores } from "../dependencies.ts";

/** Decrypts the email address of the session's user. `role` and `businessId` are null for consumers. */
export const getSignedInUser = async ({ vault }: Stores, session: Session) => {
  const { userId: id, realm, emailSealed } = session;
  const [role, businessId] = realm === "consumer" ? [null, null] : [session.role, session.business.id];
  const context = businessId === null ? consumerEmailContext(id) : memberEmailContext(id, businessId);
  return { id, email: await vault.open(context, emailSealed), realm, role, businessId };
};

export type SignedInUser = Awaited<ReturnType<typeof getSignedInUser>>;
