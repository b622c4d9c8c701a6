// Looks up the account of an email address, for requesting and verifying sign-in codes.
import { getPlainIndex } from "../../../core/access/address-index.ts";
import { emailCodeLimits, type EmailCodeLimits } from "../../../core/access/email-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { normalizeEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import { shardOfId, type ShardId } from "../../../core/ids.ts";
import { choosePlacement, type ShardFill } from "../../../core/shards/placement.ts";
import type { Instant } from "../../../core/time.ts";
import type { CodeRequester } from "../../../storage/email-codes.ts";
import { unknownAddressContext } from "../../../storage/people-contexts.ts";
import { StorageFault, findStorageFault } from "../../../storage/faults.ts";
import { findSignInAddress, preferredRecipient, findLastUsedMemberId, type SignInAddress } from "../../../storage/people.ts";
import { listShardFills } from "../../../storage/shard-registry.ts";
import { getErrorKind } from "../../log.ts";
import type { ReadDependencies, Runtime } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";

export const invalidEmailMessage = "email: must be a valid email address.";

/**
 * Returns the part before the @, normalized (NFC). Two addresses at the same domain with equal results are the same mailbox
 * (`isSameEmailAddress`).
 */
const getLocalPart = (address: string): string => {
  const trimmed = trimTypedAddress(address);
  return trimmed.slice(0, trimmed.lastIndexOf("@")).normalize("NFC");
};

/**
 * Chooses the shard for an unknown address. If a code for the address may still be valid, returns the shard of the newest code, so that the
 * code is found even if new accounts now go to another shard. Otherwise, returns the shard for new accounts.
 */
const chooseShard = (
  { config }: Runtime,
  found: readonly (SignInAddress & { readonly shard: ShardId })[],
  fills: readonly ShardFill[],
  now: Instant,
): ShardId => {
  const since = now - signInCodeLimits.lifeMs;
  const [newest] = found
    .flatMap(({ shard, codeRequestedAt: at }) => (at !== null && at > since ? [{ shard, at }] : []))
    .toSorted((a, b) => b.at - a.at);
  return newest?.shard ?? choosePlacement(fills, config.maxShardBytes);
};

/** Returns the result of a call to a shard. If the shard does not respond, logs the outage and returns null. */
const unlessOutage = async <T>({ log }: Runtime, call: Promise<T>): Promise<T | null> => {
  try {
    return await call;
  } catch (error) {
    if (findStorageFault(error)?.kind !== "outage") throw error;
    log.error({ at: "sign-in", error: getErrorKind(error) });
    return null;
  }
};

/**
 * Searches all shards for an email address's account. For an unknown address, returns the shard where its account would be created. Leaves
 * out a shard that does not respond within two seconds, so that it does not keep everyone from signing in. Returns null if the text is not
 * an email address. Throws if no shard responds.
 */
export const lookUpAddress = async (services: ReadDependencies, realm: Realm, email: string) => {
  const address = normalizeEmailAddress(email);
  if (address === null) return null;
  const emailIndex = await services.vault.blindIndex("email", address);
  const now = services.clock();
  const shards = services.shards.all();
  // Read the registry even if the address is known, so that timing does not reveal which addresses are known.
  const [searched, registered] = await Promise.all([
    Promise.all(
      shards.map(async ([shard, db]) => {
        const inShard = await unlessOutage(services, findSignInAddress(db, realm, emailIndex, now));
        return inShard === null ? [] : [{ shard, ...inShard }];
      }),
    ),
    unlessOutage(services, listShardFills(services.shards)),
  ]);
  const found = searched.flat();
  if (found.length === 0) throw new StorageFault("outage");
  const isPartial = found.length < shards.length || registered === null;
  const fills = found.map(({ shard }): ShardFill => registered?.find((fill) => fill.shard === shard) ?? { shard, state: "open", bytes: 0 });
  const recipients = found.flatMap((address) => address.recipients);
  const addressee = preferredRecipient(recipients);
  const shard = addressee === null ? chooseShard(services, found, fills, now) : shardOfId(addressee.id);
  return {
    realm,
    emailIndex,
    addressee,
    /** The ID of the address's most recently used membership in any shard. Null if there is none, and for consumers. */
    lastUsedMembershipId: realm === "business" ? findLastUsedMemberId(recipients) : null,
    /**
     * True if a shard or the registry of shards did not respond. In that case, the address may have another account, so no account may be
     * created.
     */
    isPartial,
    /** True if the address has, or may have, memberships or invitations in more than one shard. */
    hasOtherShards: isPartial || found.filter((address) => address.recipients.some(({ kind }) => kind !== "sign_up")).length > 1,
    /**
     * For a new consumer, the part before the @ as typed, but trimmed and normalized (NFC); otherwise empty. A code is bound to this part,
     * because another spelling of the address can be a different mailbox.
     */
    localPart: addressee === null && realm === "consumer" ? getLocalPart(email) : "",
    shard,
    db: services.shards.get(shard),
  };
};

export type AddressLookup = NonNullable<Awaited<ReturnType<typeof lookUpAddress>>>;

/** Decrypts the account's stored address. For an unknown address, decrypts a placeholder, which takes the same time, and returns null. */
export const openAddresseeEmail = async (services: AccessDependencies, { addressee }: AddressLookup): Promise<string | null> => {
  const { vault } = services;
  if (addressee !== null) return vault.open(addressee.emailContext, addressee.emailSealed);
  await vault.open(unknownAddressContext, await services.sealedPlaceholderAddress());
  return null;
};

/** Returns the limits on sign-in codes, including this deployment's limit per address. */
export const getSignInCodeLimits = ({ config }: Runtime): EmailCodeLimits => {
  const { count: max, seconds } = config.limits.AUTH_CODES_PER_ADDRESS;
  return { ...signInCodeLimits, mailsToAddress: { ...signInCodeLimits.mailsToAddress, withinMs: seconds * 1_000, max } };
};

export const signInCodeLimits = emailCodeLimits.login;

/**
 * Returns the address and the browser for which sign-in codes are stored and attempts are counted. `browser` is null for a browser that has
 * not requested a code.
 */
export const toCodeRequester = ({ realm, emailIndex }: AddressLookup, browser: string | null): CodeRequester => ({
  purpose: "login",
  topic: realm,
  addressIndex: emailIndex,
  certId: null,
  contextHash: sha256Hex(browser ?? ""),
});

/**
 * Returns the text that a sign-in code is bound to. `knownEmail` is the stored address that receives the code. A member's code is also
 * bound to the part before the @ of that address. Two mailboxes can have the same index. Without this part, a code that was sent to one
 * mailbox could sign the person in to a membership of the other.
 */
export const toSignInCodeBinding = ({ realm, emailIndex, localPart, addressee }: AddressLookup, knownEmail: string | null): string => {
  const boundPart = realm === "business" && addressee?.kind === "person" && knownEmail !== null ? getLocalPart(knownEmail) : localPart;
  return `login\n${realm}\n${getPlainIndex(emailIndex)}\n${boundPart}`;
};
