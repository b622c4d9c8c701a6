// Every rate limit and every limit on stored records and bytes (SPEC Limits), with its reason. An operator can change each limit with a
// setting: `LIMIT_<NAME>="<count>/<seconds>"` for a rate limit, and a whole number for a limit on records or bytes.
import { cutText } from "../core/cut-text.ts";
import type { RateLimit } from "../core/access/rate-limit.ts";
import type { StorageLimit, StorageLimits, StorageOwnerKind } from "../core/access/storage-limits.ts";

interface RouteLimit extends RateLimit {
  /** Whether DEV_RATE_SCALE multiplies the limit. */
  readonly scaled: boolean;
}

export const defaultLimits = {
  /** A person submits a form a few times. An office with one IP address submits it a few dozen times. */
  CONSENT_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** A large campaign sends ten submissions per second. Someone who sends more is probably misusing the client ID. */
  CONSENT_PER_CLIENT: { count: 600, seconds: 60, scaled: true },
  /** Counts requests for certificates, receipts and withdrawal pages. Pages and JSON are counted together. */
  VERIFY_PER_IP: { count: 120, seconds: 60, scaled: true },
  /**
   * Counts requests for the logs and for public pages and documents without records, such as the home page, the documentation, the keys and
   * the health check. A monitor, or a verifier that reads a log, needs dozens of requests.
   */
  PUBLIC_READ_PER_IP: { count: 300, seconds: 60, scaled: true },
  /** Counts failed lookups of API keys, agent tokens and the operator token. Successful lookups never count. */
  UNKNOWN_KEYS_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Counts failed lookups of sessions. The limit is higher than for keys, because the sessions of a whole office can expire overnight. */
  UNKNOWN_SESSIONS_PER_IP: { count: 300, seconds: 60, scaled: true },
  /**
   * Enough for an office with one IP address where everyone signs in at the start of the day. More requests suggest that someone is sending
   * codes to other people.
   */
  AUTH_REQUEST_PER_IP: { count: 30, seconds: 3_600, scaled: true },
  /** Each code allows only a few attempts, so this limit only protects the database from a flood by one caller. */
  AUTH_VERIFY_PER_IP: { count: 120, seconds: 60, scaled: true },
  /** Protects people from a flood of emails. */
  AUTH_CODES_PER_ADDRESS: { count: 5, seconds: 900, scaled: false },
  /** Each sign-up sends an email. One person does not need ten accounts in an hour. */
  SIGNUP_PER_IP: { count: 10, seconds: 3_600, scaled: true },
  /** This limit is per day, because each invitation sends an email to an address that the business chooses. */
  INVITATIONS_PER_BUSINESS: { count: 30, seconds: 86_400, scaled: false },
  /**
   * The first invitation email per day from a business to an address counts here and not toward INVITATION_EMAILS_PER_ADDRESS. Otherwise,
   * one account could use up that limit and block the invitations of another business.
   */
  INVITATION_EMAILS_PER_BUSINESS_AND_ADDRESS: { count: 1, seconds: 86_400, scaled: false },
  /**
   * Counts further invitation emails to one address from all businesses. It does not limit the total, because the first email of each
   * business does not count.
   */
  INVITATION_EMAILS_PER_ADDRESS: { count: 10, seconds: 86_400, scaled: false },
  /** A check can query two resolvers and send two requests to a third-party host. */
  DOMAIN_CHECKS_PER_BUSINESS: { count: 60, seconds: 3_600, scaled: false },
  /** Enough for a person who clicks while a page polls in the background. */
  SESSION: { count: 120, seconds: 60, scaled: false },
  /**
   * Counts changes by signed-in people, per business or consumer. It bounds the number of rows and audit entries from changes that have no
   * other limit. A large team that confirms deadlines by hand makes a few hundred changes an hour. Owners and other members are counted
   * separately.
   */
  CHANGES_PER_ACCOUNT: { count: 1_000, seconds: 3_600, scaled: true },
  /** The rate per API key that SPEC Limits promises. */
  API_KEY: { count: 120, seconds: 60, scaled: false },
  /** An assistant that works through a list sends requests in bursts, so the limit is the same as for an API key. */
  AGENT_TOKEN: { count: 120, seconds: 60, scaled: false },
  /** A person opens one page and decides. If the person signs in first, those requests count toward the sign-in limits instead. */
  OAUTH_AUTHORIZE_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Hosted assistants serve all their users from a few IP addresses. */
  OAUTH_TOKEN_PER_IP: { count: 600, seconds: 60, scaled: true },
  OAUTH_REGISTER_PER_IP: { count: 600, seconds: 60, scaled: true },
  /** Counts fetches of client metadata per host, in each isolate. Keeps attackers from using this service to flood a host. */
  OAUTH_DOCUMENTS_PER_HOST: { count: 10, seconds: 60, scaled: false },
  /** Each call connects one program, and people do not connect twenty programs in an hour. */
  CONNECT_PER_PRINCIPAL: { count: 20, seconds: 3_600, scaled: false },
  /**
   * Counts the refused requests that are stored for a business. Requests with and without a credential are counted separately, and each
   * count allows about 10,000 in seven days.
   */
  REFUSALS_KEPT: { count: 1_428, seconds: 86_400, scaled: false },
  /**
   * Counts refused requests with a client ID but no credential. To save one, the service must first find the business that owns the client
   * ID.
   */
  REFUSALS_PER_IP: { count: 30, seconds: 60, scaled: true },
  /**
   * Counts captures of a business's policies. New certificates from the same page, and usually from the same origin, share a capture for 15
   * minutes. Pages whose policies were found recently are counted separately, because anyone can submit made-up pages. Beyond the limit,
   * the service issues certificates without policies.
   */
  POLICY_CAPTURES_PER_BUSINESS: { count: 300, seconds: 86_400, scaled: true },
  /** Counts a user's webhook tests, replays and recoveries together (SPEC Limits). */
  WEBHOOK_CALLS: { count: 60, seconds: 600, scaled: false },
  /**
   * Counts a business's webhook attempts to a host that has never returned a 2xx response to the business. All of the business's endpoints
   * on the host share the limit. It allows enough attempts to set up a receiver, but too few to disturb a host that belongs to someone
   * else.
   */
  UNPROVEN_HOST_PER_BUSINESS: { count: 10, seconds: 60, scaled: false },
  /** Counts the attempts to such a host from all businesses together, so that many accounts cannot flood it. */
  UNPROVEN_HOST: { count: 60, seconds: 60, scaled: false },
  /**
   * Counts emails of one kind to the owners of a business. Further notices wait for the next email. Owners must learn of the first
   * withdrawal soon, but withdrawals can arrive by the hundred, and some are forged.
   */
  OWNER_NOTICES: { count: 1, seconds: 3_600, scaled: false },
  /** A paying customer opens one or two checkout pages. Each one calls the payment provider. */
  CHECKOUT: { count: 30, seconds: 3_600, scaled: false },
  /** Counts only calls that fetch a page, which may also call a model. Developers map a page once or twice. */
  INTEGRATE: { count: 10, seconds: 3_600, scaled: false },
  /** The payment provider sends bursts from a few IP addresses and retries refused events. */
  PROVIDER_SYNC_PER_IP: { count: 600, seconds: 60, scaled: true },
  /** A person withdraws a few certificates. Each request can send an email. */
  OPT_OUT_REQUEST_PER_IP: { count: 10, seconds: 3_600, scaled: true },
  /**
   * Counts confirmation emails per business and email address. Only withdrawals that do not verify the address count, such as those with
   * the manage link from POST /v1/consent.
   */
  UNVERIFIED_CONFIRMATIONS: { count: 3, seconds: 86_400, scaled: false },
  /** Each code also allows only a few attempts. */
  OPT_OUT_CONFIRM_PER_IP: { count: 30, seconds: 3_600, scaled: true },
  /** Sharing takes a few requests: the person opens the sheet, perhaps reloads it, reviews the fields and decides. */
  AUTHORIZE_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** A code is redeemed once, by the page script or by the business's server. */
  REDEEM_PER_IP: { count: 60, seconds: 60, scaled: true },
  SANDBOX_CONSENT_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Anyone who finds a test client ID in a page's source can create test shares. The limit is enough for a load test. */
  SANDBOX_GRANTS_PER_CLIENT: { count: 600, seconds: 60, scaled: true },
  /** Counts moves of the sandbox clock and resets of the sandbox. Each call can process 1,000 shares or more. */
  SANDBOX_CLOCK: { count: 20, seconds: 60, scaled: false },
  /**
   * A code has 256 random bits, and a failed attempt does not use it up. This limit only stops an IP address that keeps sending the same
   * code.
   */
  REDEEM_FAILURES_PER_CODE: { count: 20, seconds: 60, scaled: false },
  /** The link in an email contains 256 random bits. This limit only protects the database from a flood by one caller. */
  REVOKE_LINK_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** A person shares with a few businesses a day. */
  GRANTS: { count: 30, seconds: 60, scaled: false },
  /** Each change notifies every business whose share contains the field. */
  FIELD_CHANGES: { count: 60, seconds: 3_600, scaled: false },
  /**
   * Counts shares that are updated because the person changed a field. A person with ten shares who changes a field every six minutes
   * causes 100 updates an hour. Beyond the limit, updates wait and are combined, so one person cannot flood businesses with events.
   */
  SHARE_UPDATES: { count: 1_000, seconds: 3_600, scaled: false },
  /** An export reads and decrypts everything stored about a person. */
  EXPORTS: { count: 5, seconds: 3_600, scaled: false },
  /** Each removal is manual work. */
  REMOVALS: { count: 30, seconds: 86_400, scaled: false },
  /** Each match reveals something about a person. */
  MATCH_PER_KEY: { count: 60, seconds: 60, scaled: false },
} as const satisfies Record<string, RouteLimit>;

export type LimitName = keyof typeof defaultLimits;
export type Limits = Readonly<Record<LimitName, RouteLimit>>;

const limitPattern = /^([1-9]\d{0,6})\/([1-9]\d{0,4})$/;
const limitRule = "<count>/<seconds> with count 1 to 9999999 and seconds 1 to 99999";

/** Describes a number that is out of range, with its name, value and allowed range. Never call this with a secret value. */
export const describeOutOfRange = (name: string, value: string, rule: string): string =>
  `${name}="${cutText(value, 40)}" (must be ${rule})`;

/** Returns the effective limits. `faults` describes every setting that is not `<count>/<seconds>` within the allowed range. */
export const parseLimits = (
  setting: (name: string) => string | undefined,
  scale: number,
): { readonly limits: Limits; readonly faults: readonly string[] } => {
  const faults: string[] = [];
  const entries = Object.entries(defaultLimits).map(([name, defaultLimit]: [string, RouteLimit]) => {
    const text = setting(`LIMIT_${name}`);
    const match = text === undefined ? null : limitPattern.exec(text);
    if (text !== undefined && match === null) faults.push(describeOutOfRange(`LIMIT_${name}`, text, limitRule));
    const limit = match === null ? defaultLimit : { ...defaultLimit, count: Number(match[1]), seconds: Number(match[2]) };
    return [name, limit.scaled ? { ...limit, count: Math.max(1, Math.round(limit.count * scale)) } : limit];
  });
  return { limits: Object.fromEntries(entries) as Limits, faults };
};

interface StorageLimitDefault extends StorageLimit {
  /** The names of the two settings, without their prefix `LIMIT_`. */
  readonly recordsName: string;
  readonly bytesName: string;
  /** Whether DEV_RATE_SCALE multiplies the limit. */
  readonly scaled: boolean;
}

/** Every limit on what one owner can store. If several records share a text, it counts only for the first record. */
export const defaultStorageLimits = {
  /**
   * A client's submissions without an API key, which anyone who reads the page's source can send. The number of records is enough for a
   * large campaign. The bytes allow 4 KB per record, ten times the size of a typical form. A business that needs more can use an API key or
   * ask the operator to raise the client's limit.
   */
  client: { days: 1, recordsName: "CLIENT_DAY", records: 50_000, bytesName: "CLIENT_DAY_BYTES", bytes: 200_000_000, scaled: true },
  /** A business's submissions with API keys: ten times a client's limit. */
  business: { days: 1, recordsName: "BUSINESS_DAY", records: 500_000, bytesName: "BUSINESS_DAY_BYTES", bytes: 2_000_000_000, scaled: true },
  /** A person's shares, with any number of businesses. A person shares with a few businesses a day. */
  person: { days: 1, recordsName: "PERSON_DAY", records: 1_000, bytesName: "PERSON_DAY_BYTES", bytes: 20_000_000, scaled: false },
  /**
   * A sandbox's certificates and shares, which are kept for 30 days. Anyone who finds a test client ID in a page's source can create them.
   */
  sandbox: { days: 30, recordsName: "SANDBOX_RECORDS", records: 10_000, bytesName: "SANDBOX_BYTES", bytes: 100_000_000, scaled: false },
  /**
   * Captures that found a new policy text. `POLICY_CAPTURES_PER_BUSINESS` also limits their number, and the bytes are enough for almost 40
   * of the largest pages. Known and unknown pages are counted separately. Beyond the limit, only texts that are already stored are linked.
   */
  policies: { days: 1, recordsName: "POLICY_DAY", records: 300, bytesName: "POLICY_DAY_BYTES", bytes: 40_000_000, scaled: true },
} as const satisfies Record<StorageOwnerKind, StorageLimitDefault>;

/**
 * Each combination of purpose, recipients and origin can have its own counters. A client's submissions without an API key can create
 * counters for only this many new combinations per day. Each combination makes the business's searches slower, and a site adds only a few
 * when its form changes. Beyond the limit, certificates get no counters (storage/certificate-list.ts). The setting is
 * `LIMIT_CLIENT_DAY_GROUPS`. DEV_RATE_SCALE multiplies it.
 */
export const defaultNewGroups = 100;

const wholeNumberPattern = /^[1-9]\d{0,12}$/;
const wholeNumberRule = "a whole number from 1 to 9999999999999";

/** Returns the effective storage limits. `faults` describes every setting that is not a whole number within the allowed range. */
export const parseStorageLimits = (
  setting: (name: string) => string | undefined,
  scale: number,
): { readonly storageLimits: StorageLimits; readonly faults: readonly string[] } => {
  const faults: string[] = [];
  const parseCount = (name: string, defaultCount: number, isScaled: boolean): number => {
    const text = setting(`LIMIT_${name}`);
    if (text !== undefined && !wholeNumberPattern.test(text)) faults.push(describeOutOfRange(`LIMIT_${name}`, text, wholeNumberRule));
    return Math.max(1, Math.round(Number(text ?? defaultCount) * (isScaled ? scale : 1)));
  };
  const entries = Object.entries(defaultStorageLimits).map(([owner, limit]: [string, StorageLimitDefault]) => {
    const records = parseCount(limit.recordsName, limit.records, limit.scaled);
    const bytes = parseCount(limit.bytesName, limit.bytes, limit.scaled);
    return [owner, { days: limit.days, records, bytes }];
  });
  const newGroups = parseCount("CLIENT_DAY_GROUPS", defaultNewGroups, true);
  return { storageLimits: { ...Object.fromEntries(entries), newGroups } as StorageLimits, faults };
};
