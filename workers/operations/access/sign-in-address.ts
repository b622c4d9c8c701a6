import { emailCodeLimits, type EmailCodeLimits } from "../../../core/access/email-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import { firstShard, shardOfId } from "../../../core/ids.ts";
import type { CodeRequester } from "../../../storage/email-codes.ts";
import { unknownAddressContext } from "../../../storage/people-contexts.ts";
import { listSignInRecipients, preferredRecipient, findLastUsedMemberId } from "../../../storage/people.ts";
import type { ReadDependencies, Runtime } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";

export const invalidEmailMessage = "email: must be one e-mail address.";

const getLocalPart = (address: string): string => address.trim().slice(0, address.trim().lastIndexOf("@"));

/** The address in the form it is found by, and the home of whoever has it; the first home for nobody. Null for what is no address. */
export const lookUpAddress = async (services: ReadDependencies, realm: Realm, email: string) => {
  const address = normalizeEmailAddress(email);
  if (address === null) return null;
  const emailIndex = await services.vault.blindIndex("email", address);
  const now = services.clock();
  const found = await Promise.all(services.shards.all().map(([, db]) => listSignInRecipients(db, realm, emailIndex, now)));
  const addressee = preferredRecipient(found.flat());
  const home = addressee === null ? firstShard : shardOfId(addressee.id);
  return {
    realm,
    emailIndex,
    addressee,
    /** Of the seats of the address, in whatever home, the one that was used last; null for none. */
    seat: realm === "business" ? findLastUsedMemberId(found.flat()) : null,
    /** Whether a member's address has something in a home besides the one that is signed in to. */
    elsewhere: found.filter((ofHome) => ofHome.some((one) => one !== null && one.kind !== "sign_up")).length > 1,
    /**
     * How a new consumer spells what stands before the @. Who is known is mailed at the address given first; a newcomer's becomes the
     * address, so it must be the very one that was mailed: two spellings can be two mailboxes. Nobody new signs in to a business: a
     * sign-up and an invitation have their own.
     */
    spelling: addressee === null && realm === "consumer" ? getLocalPart(email) : "",
    home,
    db: services.shards.get(home),
  };
};

export type AddressLookup = NonNullable<Awaited<ReturnType<typeof lookUpAddress>>>;

/** Opens the address of whoever is to be mailed; for nobody, opens something else, so that both take the same time. */
export const openAddresseeEmail = async (services: AccessDependencies, { addressee }: AddressLookup): Promise<string | null> => {
  const { vault } = services;
  if (addressee !== null) return vault.open(addressee.emailContext, addressee.emailSealed);
  await vault.open(unknownAddressContext, await services.sealedPlaceholderAddress());
  return null;
};

/** The limits on codes, as this deployment sets them. */
export const getSignInCodeLimits = ({ config }: Runtime): EmailCodeLimits => {
  const { count: max, seconds } = config.limits.AUTH_CODES_PER_ADDRESS;
  return { ...signInCodeLimits, mailsToAddress: { ...signInCodeLimits.mailsToAddress, withinMs: seconds * 1_000, max } };
};

export const signInCodeLimits = emailCodeLimits.login;

export const toCodeRequester = ({ realm, emailIndex }: AddressLookup): CodeRequester => ({
  purpose: "login",
  topic: realm,
  addressIndex: emailIndex,
  certId: null,
  contextHash: null,
});

/**
 * `known`: the address that is mailed. A code of a member is bound to its spelling: by the time it is given back, another seat may be the
 * one that was used last, and of another mailbox.
 */
export const toSignInCodeBinding = ({ realm, emailIndex, spelling, addressee }: AddressLookup, known: string | null): string => {
  const mailed = realm === "business" && addressee?.kind === "person" && known !== null ? getLocalPart(known) : spelling;
  return `login\n${realm}\n${emailIndex}\n${mailed}`;
};
