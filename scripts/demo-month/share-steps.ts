// Creates the shares of the demo month: people with accounts share contact details with the demo business, change them and stop sharing.
import type { ConsumerSession } from "../../core/access/session.ts";
import { personFromSession } from "../../core/access/session.ts";
import { actorFromApiKey, type Person } from "../../core/access/principal.ts";
import { toBase64Url } from "../../core/bytes.ts";
import type { ShareId } from "../../core/ids.ts";
import { contactKeys, type ContactKey } from "../../core/shares/fields.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { dayMs, minuteMs, type Instant } from "../../core/time.ts";
import { listDueShares, sweepShares } from "../../storage/share-sweep.ts";
import { authenticateSession } from "../../workers/operations/access/authenticate-session.ts";
import { updateContactFields } from "../../workers/operations/consumers/update-contact-fields.ts";
import { acknowledgeShare } from "../../workers/operations/shares/acknowledge-share.ts";
import { grantShare } from "../../workers/operations/shares/grant-share.ts";
import { redeemShareCode } from "../../workers/operations/shares/redeem-share-code.ts";
import { revokeShareByPerson } from "../../workers/operations/shares/revoke-share-by-person.ts";
import { sendShareNotices } from "../../workers/operations/shares/send-share-notices.ts";
import { getOutageStart } from "./calendar.ts";
import { siteOrigin } from "./leads.ts";
import { getValue, type Month, type Step } from "./month.ts";

type Details = Readonly<Partial<Record<ContactKey, string>>>;

interface PlannedShare {
  readonly email: string;
  readonly details: Details;
  readonly daysAgo: number;
  readonly durationDays: number;
  /** Later changes to the contact details, with their age in days. */
  readonly changes?: readonly { readonly daysAgo: number; readonly details: Details }[];
  readonly stop?: { readonly daysAgo: number; readonly acknowledgedDaysAgo?: number };
}

const home = { address_line1: "12 Sample Avenue", city: "Sacramento", state: "CA", zip: "95814", country: "US" };

/** Converts a time, given in minutes after the start of the endpoint's outage, to its age in days. */
const outageDaysAgo = (now: Instant, minutes: number): number => (now - getOutageStart(now) - minutes * minuteMs) / dayMs;

/** `firstEmail` is the email address of the consumer account that `npm start` prints. */
const planShares = (firstEmail: string, now: Instant): readonly PlannedShare[] => [
  {
    email: firstEmail,
    details: { first_name: "Pat", last_name: "Example", phone: "+1 202 555 0123", ...home },
    daysAgo: 12.264,
    durationDays: 365,
  },
  {
    email: "maya.torres@mail.example",
    details: { first_name: "Maya", last_name: "Torres", phone: "+1 619 555 0141" },
    daysAgo: 28.173,
    durationDays: 365,
    changes: [
      { daysAgo: 17.281, details: { phone: "+1 619 555 0152" } },
      { daysAgo: outageDaysAgo(now, 4), details: { last_name: "Torres-Hale" } },
      { daysAgo: 1.447, details: { phone: "+1 619 555 0158" } },
    ],
  },
  {
    email: "leo.brandt@inbox.example",
    details: { first_name: "Leo", last_name: "Brandt", phone: "+1 303 555 0117" },
    daysAgo: 25.391,
    durationDays: 180,
    stop: { daysAgo: 10.228, acknowledgedDaysAgo: 8.412 },
  },
  {
    email: "priya.nair@post.example",
    details: { first_name: "Priya", last_name: "Nair", phone: "+1 512 555 0162" },
    daysAgo: 26.087,
    durationDays: 30,
    changes: [
      { daysAgo: 13.164, details: { phone: "+1 512 555 0139" } },
      { daysAgo: outageDaysAgo(now, 22), details: { phone: "+1 512 555 0147" } },
    ],
  },
  {
    email: "owen.clarke@mail.example",
    details: { first_name: "Owen", last_name: "Clarke", phone: "+1 602 555 0188" },
    daysAgo: 15.345,
    durationDays: 365,
    changes: [
      { daysAgo: 6.193, details: { phone: "+1 602 555 0199" } },
      { daysAgo: 0.342, details: { phone: "+1 602 555 0173" } },
    ],
  },
  { email: "hannah.weiss@inbox.example", details: { first_name: "Hannah", last_name: "Weiss" }, daysAgo: 20.426, durationDays: 14 },
  {
    email: "sam.okafor@post.example",
    details: { first_name: "Sam", last_name: "Okafor", phone: "+1 813 555 0126" },
    daysAgo: 9.132,
    durationDays: 365,
    stop: { daysAgo: 1.318 },
  },
  {
    email: "nora.lindqvist@mail.example",
    details: { first_name: "Nora", last_name: "Lindqvist", phone: "+1 916 555 0155" },
    daysAgo: 2.241,
    durationDays: 90,
    changes: [{ daysAgo: outageDaysAgo(now, 52), details: { phone: "+1 916 555 0128" } }],
  },
  {
    email: "grace.kim@mail.example",
    details: { first_name: "Grace", last_name: "Kim", phone: "+1 720 555 0134" },
    daysAgo: 0.128,
    durationDays: 365,
  },
];

const acknowledgement = { note: null, acknowledgedBy: "Dana Whitfield", actions: ["removed from CRM"] };

const createRequestId = (): string => `req_${crypto.randomUUID()}`;

/** Grants a share, as the consent sheet does, and redeems its code, as the page script does. */
const shareDetails = async ({ services, clientId }: Month, person: Person, planned: PlannedShare): Promise<ShareId> => {
  const verifier = toBase64Url(services.random(32));
  const givenKeys = contactKeys.filter((key) => key === "email" || planned.details[key] !== undefined);
  const granted = getValue(
    await grantShare(
      services,
      { person },
      {
        clientId,
        origin: siteOrigin,
        requestEvidence: "referer",
        scope: givenKeys,
        purpose: "Solar quote follow-up",
        disclosureText: `Acme Solar LLC may call or email me about solar quotes for ${planned.durationDays} days. I can stop sharing at any time.`,
        durationDays: planned.durationDays,
        challenge: computeCodeChallenge(verifier),
        allowedMissing: [],
        decisionKey: null,
        language: "en",
        requestId: createRequestId(),
      },
    ),
  );
  const redemption = { code: granted.code, verifier, clientId, origin: siteOrigin, idempotencyKey: null, requestId: createRequestId() };
  getValue(await redeemShareCode(services, redemption));
  return granted.share.id;
};

const toChange = (details: Details): ReadonlyMap<ContactKey, string> => new Map(Object.entries(details) as [ContactKey, string][]);

/** Expires shares and warns about shares that will expire soon, as the service does every minute. */
const sweepStep = ({ services, businessId }: Month, at: Instant): Step => ({
  at,
  run: async () => {
    const db = services.shards.forId(businessId);
    await sweepShares(db, "live", await listDueShares(db, "live", at), at);
    if ((await sendShareNotices(services, db)) > 0) services.scheduleMail();
  },
});

/** Times when the service warns about a share or expires it. */
const listSweepTimes = (sharedAt: Instant, durationDays: number, now: Instant): readonly Instant[] =>
  [durationDays - 7, durationDays - 1, durationDays]
    .map((days) => sharedAt + days * dayMs + minuteMs)
    .filter((at) => at > sharedAt && at < now);

const listStepsOf = (month: Month, planned: PlannedShare): readonly Step[] => {
  const { services, authenticate, now, signIn } = month;
  const { email, changes = [], stop, durationDays } = planned;
  const before = (days: number): Instant => Math.floor(now - days * dayMs);
  const sharedAt = before(planned.daysAgo);
  let granted: { readonly person: Person; readonly shareId: ShareId } | null = null;
  const getGranted = () => {
    if (granted === null) throw new Error("demo month: a step needs a share that is not granted yet");
    return granted;
  };
  const share = async (): Promise<void> => {
    const token = await signIn(email, "consumer", `${planned.details.first_name} ${planned.details.last_name}`);
    const person = personFromSession((await authenticateSession(services, token)) as ConsumerSession);
    getValue(await updateContactFields(services, person, toChange({ email, ...planned.details })));
    granted = { person, shareId: await shareDetails(month, person, planned) };
  };
  const changeDetails = async (details: Details): Promise<void> => {
    getValue(await updateContactFields(services, getGranted().person, toChange(details)));
  };
  const stopSharing = async (): Promise<void> => {
    const { person, shareId } = getGranted();
    getValue(await revokeShareByPerson(services, shareId, { person }, { reason: null, requestId: createRequestId() }));
  };
  const acknowledge = async (): Promise<void> => {
    const { shareId } = getGranted();
    const business = await authenticate("live");
    const details = { ...acknowledgement, requestId: createRequestId() };
    getValue(await acknowledgeShare(services, business, actorFromApiKey(business), shareId, details));
  };
  return [
    { at: sharedAt, run: share },
    ...changes.map(({ daysAgo, details }) => ({ at: before(daysAgo), run: () => changeDetails(details) })),
    ...(stop === undefined ? [] : [{ at: before(stop.daysAgo), run: stopSharing }]),
    ...(stop?.acknowledgedDaysAgo === undefined ? [] : [{ at: before(stop.acknowledgedDaysAgo), run: acknowledge }]),
    ...(stop === undefined ? listSweepTimes(sharedAt, durationDays, now).map((at) => sweepStep(month, at)) : []),
  ];
};

export const listShareSteps = (month: Month, firstEmail: string): readonly Step[] =>
  planShares(firstEmail, month.now).flatMap((planned) => listStepsOf(month, planned));
