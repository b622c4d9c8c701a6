// Every limit on how often something may be asked (CONTRACT 15), in one place with its reason. Each can be changed by a
// setting of the same name, `LIMIT_<NAME>="<count>/<seconds>"`.

import type { DailyLimits, RateLimit } from "../core/access/rate-limit.ts";

interface RouteLimit extends RateLimit {
  /** Limits by address and by client grow with DEV_RATE_SCALE; the API-key limit never does. */
  readonly scaled: boolean;
}

export const defaultLimits = {
  /** A person submits a form a few times; an office behind one address, some dozens. */
  CONSENT_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Ten submissions a second is a large campaign; more is a flood with a stolen client id. */
  CONSENT_PER_CLIENT: { count: 600, seconds: 60, scaled: true },
  /** Public pages and their JSON together. */
  VERIFY_PER_IP: { count: 120, seconds: 60, scaled: true },
  /** Health, keys, description and logs: a monitor and a verifier that walks a log need tens. */
  PUBLIC_READ_PER_IP: { count: 300, seconds: 60, scaled: true },
  /** Look-ups of API keys and agent tokens this isolate has not found right before; a right one is remembered and not counted again. */
  UNKNOWN_KEYS_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** An office behind one address signs in in the morning; more asks for codes to other people's addresses. */
  AUTH_REQUEST_PER_IP: { count: 30, seconds: 3_600, scaled: true },
  /** Each code bears five tries whoever makes them; this only keeps the database from one caller's flood. */
  AUTH_VERIFY_PER_IP: { count: 120, seconds: 60, scaled: true },
  /** Nobody's mailbox gets more than five codes in a quarter of an hour. */
  AUTH_CODES_PER_ADDRESS: { count: 5, seconds: 900, scaled: false },
  /** Nobody opens ten accounts in an hour; each sends a mail. */
  SIGNUP_PER_IP: { count: 10, seconds: 3_600, scaled: true },
  /** Mails to addresses that a business chose, in a day. */
  INVITATIONS_PER_BUSINESS: { count: 30, seconds: 86_400, scaled: false },
  /** Each asks two resolvers and calls a stranger's host twice. */
  DOMAIN_CHECKS_PER_BUSINESS: { count: 60, seconds: 3_600, scaled: false },
  /** A person who clicks, and a page that asks beside it. */
  SESSION: { count: 120, seconds: 60, scaled: false },
  /** SPEC, Limits. */
  API_KEY: { count: 120, seconds: 60, scaled: false },
  /** As many as an API key: an assistant that works through a list asks in bursts. */
  AGENT_TOKEN: { count: 120, seconds: 60, scaled: false },
  /** A person looks at one page and decides; signing in on the way is counted with other sign-ins. */
  OAUTH_AUTHORIZE_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Hosted assistants ask for everybody from a few addresses. */
  OAUTH_TOKEN_PER_IP: { count: 600, seconds: 60, scaled: true },
  OAUTH_REGISTER_PER_IP: { count: 600, seconds: 60, scaled: true },
  /** Of one host, in an isolate: whoever sends people to the page must not make it a flood of requests to somebody's server. */
  OAUTH_DOCUMENTS_PER_HOST: { count: 10, seconds: 60, scaled: false },
  /** Each allows one program; nobody connects twenty in an hour. */
  CONNECT_PER_PRINCIPAL: { count: 20, seconds: 3_600, scaled: false },
  /** Refused requests that a business can look up: seven days of these are ten thousand. */
  REFUSALS_KEPT: { count: 1_428, seconds: 86_400, scaled: false },
  /** SPEC, Limits: tests and replays of webhooks together, for each user. */
  WEBHOOK_CALLS: { count: 60, seconds: 600, scaled: false },
  /** Somebody who pays opens one page, and one more when they change their mind; each is a call to the payment provider. */
  CHECKOUT: { count: 30, seconds: 3_600, scaled: false },
  /** CONTRACT 15: each maps a page once or twice; each fetches a page and may ask a model. Only what fetches is counted. */
  INTEGRATE: { count: 10, seconds: 3_600, scaled: false },
  /** The payment provider sends bursts from few addresses, and sends again what was refused. */
  PROVIDER_SYNC_PER_IP: { count: 600, seconds: 60, scaled: true },
  /** A person withdraws from a few certificates; each request can send a mail. */
  OPT_OUT_REQUEST_PER_IP: { count: 10, seconds: 3_600, scaled: true },
  /** Wrong answers are also counted for each code, whoever gives them. */
  OPT_OUT_CONFIRM_PER_IP: { count: 30, seconds: 3_600, scaled: true },
  /** A person looks at a request, decides, and their page redeems: one of each, and a reload or two. */
  AUTHORIZE_PER_IP: { count: 60, seconds: 60, scaled: true },
  REDEEM_PER_IP: { count: 60, seconds: 60, scaled: true },
  SANDBOX_CONSENT_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** Anyone can share a test person's details who read a test client id in a page: as many as a trial under load makes. */
  SANDBOX_GRANTS_PER_CLIENT: { count: 600, seconds: 60, scaled: true },
  /** A developer moves the clock of the sandbox, and a test of theirs some times more. Each sweeps up to a thousand shares. */
  SANDBOX_CLOCK: { count: 20, seconds: 60, scaled: false },
  /** A code is 256 random bits and no try uses it up; this only bounds the noise of one address about one code. */
  REDEEM_FAILURES_PER_CODE: { count: 20, seconds: 60, scaled: false },
  /** By the link of a mail: 256 bits that nobody guesses; this only keeps the database from one caller's flood. */
  REVOKE_LINK_PER_IP: { count: 60, seconds: 60, scaled: true },
  /** A person shares with a few businesses a day. */
  GRANTS: { count: 30, seconds: 60, scaled: false },
  /** Each change tells every business that may know. */
  FIELD_CHANGES: { count: 30, seconds: 60, scaled: false },
  /** An export reads and opens everything that is kept about somebody. */
  EXPORTS: { count: 5, seconds: 3_600, scaled: false },
  /** Each removal is work for people; a repeat counts too, as everywhere. */
  REMOVALS: { count: 30, seconds: 86_400, scaled: false },
  /** Matching tells something about a person each time. */
  MATCH_PER_KEY: { count: 60, seconds: 60, scaled: false },
} as const satisfies Record<string, RouteLimit>;

export type LimitName = keyof typeof defaultLimits;
export type Limits = Readonly<Record<LimitName, RouteLimit>>;

const limitPattern = /^([1-9]\d{0,6})\/([1-9]\d{0,4})$/;

/** The limits in force; `faults` names every setting that is not `<count>/<seconds>`. */
export const parseLimits = (
  setting: (name: string) => string | undefined,
  scale: number,
): { readonly limits: Limits; readonly faults: readonly string[] } => {
  const faults: string[] = [];
  const entries = Object.entries(defaultLimits).map(([name, preset]: [string, RouteLimit]) => {
    const text = setting(`LIMIT_${name}`);
    const match = text === undefined ? null : limitPattern.exec(text);
    if (text !== undefined && match === null) faults.push(`LIMIT_${name}`);
    const chosen = match === null ? preset : { ...preset, count: Number(match[1]), seconds: Number(match[2]) };
    return [name, chosen.scaled ? { ...chosen, count: Math.max(1, Math.round(chosen.count * scale)) } : chosen];
  });
  return { limits: Object.fromEntries(entries) as Limits, faults };
};

/** What submissions without an API key may write for one client in a day (UTC): whoever reads a page's source can send them. */
const defaultDayLimits = {
  /** A large campaign; more comes with an API key, or the operator raises the client's own limit. */
  CLIENT_DAY: 50_000,
  /** Bytes: 4 KB for each of the 50,000, ten times what a usual form leaves. */
  CLIENT_DAY_BYTES: 200_000_000,
} as const;

const wholeNumberPattern = /^[1-9]\d{0,12}$/;

/** Settings are whole numbers here, since the time is the day. */
export const parseDayLimits = (
  setting: (name: string) => string | undefined,
  scale: number,
): { readonly dayLimits: DailyLimits; readonly faults: readonly string[] } => {
  const faults: string[] = [];
  const limitOf = (name: keyof typeof defaultDayLimits): number => {
    const text = setting(`LIMIT_${name}`);
    if (text !== undefined && !wholeNumberPattern.test(text)) faults.push(`LIMIT_${name}`);
    return Math.max(1, Math.round(Number(text ?? defaultDayLimits[name]) * scale));
  };
  return { dayLimits: { submissions: limitOf("CLIENT_DAY"), bytes: limitOf("CLIENT_DAY_BYTES") }, faults };
};
