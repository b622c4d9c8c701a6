// The consent sheet: {app_url}/authorize. Each step is a plain form, answered by a redirect to the same address, so loading a page again
// repeats nothing. What a page shows follows from who is signed in, what they keep and what they decided; no step is stored.
import { Hono, type Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { Person } from "../../../core/access/principal.ts";
import { personOf, type ConsumerSession } from "../../../core/access/session.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import { groupsOf, inGroup, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { personaFields, personaNames, type PersonaName } from "../../../core/shares/persona.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { relyingParty } from "../../http/guards.ts";
import { leaveSession, sessionToken } from "../../http/session-guards.ts";
import { authorizeQuery, requestOf, scopeOfText } from "../../http/share-request.ts";
import { statuses } from "../../http/statuses.ts";
import { schemaFault } from "../../http/wire.ts";
import { askToSignIn } from "../../operations/access/passkey-sign-in.ts";
import { sessionOf, userOf } from "../../operations/access/sign-in.ts";
import { changeContactFields, readFields } from "../../operations/consumers/fields.ts";
import { activeWith } from "../../operations/consumers/profile.ts";
import { authorizeRequest } from "../../operations/shares/authorize.ts";
import { codeAgain, earlierDecision, grantShare, type Granting } from "../../operations/shares/grant.ts";
import {
  browserOf,
  browserText,
  cameFromOrigin,
  judgeSheetToken,
  mayRedirect,
  sheetRequestOf,
  sheetToken,
  type SheetBrowser,
  type SheetRequest,
} from "../../operations/shares/sheet.ts";
import type { Services } from "../../services.ts";
import { maxMailbox } from "../shared/forms.tsx";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import { keepsOpener, languageOf, pageAnswer, type Page } from "../shared/layout.tsx";
import { askedAddress, forgetAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { onPageFault } from "../shared/notices.tsx";
import { posting, tooOften, uncrowded, type PageForm, type Sent } from "../shared/own-form.ts";
import { takePasskey } from "../shared/passkey-sign-in.tsx";
import {
  codeStep,
  decideStep,
  detailsStep,
  doneStep,
  emailStep,
  expiredStep,
  groupsIn,
  lateStep,
  overStep,
  passkeyStep,
  sheetNotice,
  shorterDays,
  type Chosen,
  type SheetView,
} from "./views.tsx";

const browserCookie = "svc_ask";
const browserSeconds = 3_600;
const ticksCookie = "svc_ticks";
const maxTicks = 1_200; // characters; a cookie takes 4,096, and an escaped one is three

/** The sheet as it stands for this request and browser. */
interface Sheet {
  readonly sheet: SheetRequest;
  readonly browser: SheetBrowser;
  /** Null where nobody with an account is signed in, and for a test client, which needs nobody. */
  readonly session: ConsumerSession | null;
  readonly person: Person | null;
  readonly view: SheetView;
  readonly decisionKey: string;
}

/** Why a request cannot be decided on, told to a person; the reason only to whoever builds the page that asks. */
const refusedPage = (c: Context<Api>, code: RefusalCode, detail: string | undefined): Promise<Response> => {
  c.set("refused", code);
  const words = sheetWords[languageOf(c)];
  const said = (): Page => {
    if (code === "client_not_found") return sheetNotice(words.broken, words.brokenClient);
    if (code === "origin_mismatch") return sheetNotice(words.wrongPlace, words.wrongPlaceAdvice);
    if (code === "invalid_request") return sheetNotice(words.broken, `${words.brokenPart} ${words.forDevelopers}: ${detail ?? ""}`);
    return sheetNotice(words.mayNot, words.mayNotAdvice);
  };
  return pageAnswer(c, statuses[code] as 400, said);
};

const consumerOf = async (c: Context<Api>): Promise<ConsumerSession | null> => {
  const session = await sessionOf(c.var.services, sessionToken(c));
  return session?.realm === "consumer" ? session : null;
};

/** The address without what a step added to it. */
const searchOf = (c: Context<Api>): string => {
  const query = new URLSearchParams(new URL(c.req.url).search);
  for (const added of ["answer", "edit"]) query.delete(added);
  return `?${query}`;
};

const open = async (c: Context<Api>): Promise<Sheet | Response> => {
  const { services } = c.var;
  const parsed = authorizeQuery.safeParse(
    Object.fromEntries(Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values])),
  );
  if (!parsed.success) return refusedPage(c, "invalid_request", schemaFault(parsed.error));
  const asked = scopeOfText(parsed.data.scope);
  if (!asked.ok) return refusedPage(c, asked.code, asked.detail);
  const authorized = await authorizeRequest(services, requestOf(parsed.data, asked.value));
  if (!authorized.ok) return refusedPage(c, authorized.code, authorized.detail);
  const sheet = sheetRequestOf(services, authorized.value, parsed.data.return_url);
  const known = await browserOf(services, cookieOf(c, browserCookie));
  const comes = cameFromOrigin(sheet, c.req.header("referer")) && !known.seen.includes(sheet.key);
  const browser = comes ? { ...known, seen: [...known.seen, sheet.key] } : known;
  setCookie(c, browserCookie, await browserText(services, browser), { ...cookieOptions(c), maxAge: browserSeconds });
  const isTest = authorized.value.client.environment === "sandbox";
  const session = isTest ? null : await consumerOf(c);
  const language = languageOf(c);
  const back = mayRedirect(sheet, browser) ? sheet.returnUrl : null;
  const view = { request: authorized.value, search: searchOf(c), back, language, words: sheetWords[language] };
  const decisionKey = `sheet ${sheet.key}${isTest ? ` ${browser.id}` : ""}`;
  return { sheet, browser, session, person: session === null ? null : personOf(session), view, decisionKey };
};

const again = (c: Context<Api>, more = ""): Response => c.redirect(`/authorize${searchOf(c)}${more}`, 303);

/** Parts of an address that many people do not have. */
const mayBeBlank: ReadonlySet<ContactKey> = new Set(["address_line2", "state"]);

const missingKeys = (keys: readonly ContactKey[], fields: ContactFields): readonly ContactKey[] =>
  keys.filter((key) => fields[key] === undefined && !mayBeBlank.has(key));

const valuesOf = (fields: ContactFields): Readonly<Partial<Record<ContactKey, string>>> =>
  Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value]));

/** What the person chose, for the same decision shown anew. */
const chosenOf = (form: PageForm): Chosen =>
  new Map([...form].filter(([name]) => name === "days" || name === "persona" || name.startsWith("group.")));

/** Whether the form belongs to what this browser and person were shown, and how old that is. */
const judged = (services: Services, { sheet, browser, person }: Sheet, form: PageForm) =>
  judgeSheetToken(services, sheet, browser, person?.id ?? null, form.get("token") ?? "");

/** What the person keeps; of a test person, what their persona has. */
const fieldsOf = async (services: Services, person: Person | null, persona: PersonaName = "default"): Promise<ContactFields> => {
  if (person === null) return personaFields(persona);
  const kept = await readFields(services, person);
  return kept.ok ? kept.value : {};
};

/** Signed out in the middle: the person signs in again, and what they had chosen waits for that in their browser. */
const signInAgain = (c: Context<Api>, form: PageForm): Response => {
  const ticks = String(new URLSearchParams([["token", form.get("token") ?? ""], ...chosenOf(form)]));
  if (ticks.length <= maxTicks) setCookie(c, ticksCookie, ticks, { ...cookieOptions(c), maxAge: browserSeconds });
  return again(c);
};

/** What was chosen before that, once; nothing of another person, browser or request, as the token says. */
const chosenBefore = async (c: Context<Api>, opened: Sheet): Promise<Chosen> => {
  const ticks = cookieOf(c, ticksCookie);
  if (ticks === undefined) return new Map();
  deleteCookie(c, ticksCookie, cookieOptions(c));
  const form = new Map(new URLSearchParams(ticks));
  return (await judged(c.var.services, opened, form)) === "foreign" ? new Map() : chosenOf(form);
};

/** Somebody who is signed in, or the test person: what they decided, what is missing, or the decision, with what they chose on it before. */
const decisionPage = async (c: Context<Api>, opened: Sheet, shown?: Chosen, fault?: string): Promise<Response> => {
  const { services } = c.var;
  const { sheet, browser, session, person, view, decisionKey } = opened;
  const { client, asked } = sheet.request;
  const earlier = await earlierDecision(services, person, client.clientId, decisionKey);
  const token = await sheetToken(services, sheet, browser, person?.id ?? null);
  const email = session === null ? null : (await userOf(services, session)).email;
  if (earlier?.kind === "open") return pageAnswer(c, 200, () => doneStep(view, earlier.share, earlier.code, email));
  if (earlier?.kind === "late") return pageAnswer(c, 200, () => lateStep(view, token));
  if (earlier?.kind === "over") return pageAnswer(c, 409, () => overStep(view));
  const fields = await fieldsOf(services, person);
  const missing = missingKeys(asked.needed, fields);
  if (email !== null && (missing.length > 0 || c.req.query("edit") === "1")) {
    const keys = c.req.query("edit") === "1" ? asked.scope : missing;
    const values = { ...(keys.includes("email") && { email }), ...valuesOf(fields) };
    return pageAnswer(c, 200, () => detailsStep(view, email, { keys, values }));
  }
  const already = person === null ? [] : await activeWith(services, person, client.business.id);
  const chosen = shown ?? (await chosenBefore(c, opened));
  const step = { token, email, fields, now: services.clock(), already, chosen };
  return pageAnswer(c, fault === undefined ? 200 : 400, () => decideStep(view, step, fault));
};

const show = async (c: Context<Api>): Promise<Response> => {
  const opened = await open(c);
  if (opened instanceof Response) return opened;
  const { sheet, session, view } = opened;
  if (session !== null || sheet.request.client.environment === "sandbox") return decisionPage(c, opened);
  const answered = c.req.query("answer");
  if (answered === "passkey") return pageAnswer(c, 200, () => emailStep(view, appWords[view.language].passkeyRefused));
  const email = await askedAddress(c);
  if (email === null) return pageAnswer(c, 200, () => emailStep(view));
  return pageAnswer(c, 200, () => codeStep(view, email, answered === "failed" ? view.words.wrongCode : undefined));
};

type Posted = Sent<Sheet>;

const acting = posting(open);

const askForCode = async (c: Context<Api>, { form, view }: Posted): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) return pageAnswer(c, 400, () => emailStep(view, view.words.badEmail, email.slice(0, maxMailbox)));
  await mailCode(c, { email, realm: "consumer", language: view.language });
  return again(c);
};

const giveCode = async (c: Context<Api>, { form, view }: Posted): Promise<Response> => {
  const taken = await takeCode(c, form, "consumer");
  if (taken.outcome !== "malformed") return again(c, taken.outcome === "wrong" ? "&answer=failed" : "");
  return pageAnswer(c, 400, () => codeStep(view, taken.email, view.words.badCode));
};

const askPasskey = async (c: Context<Api>, { view }: Posted): Promise<Response> => {
  const options = await askToSignIn(c.var.services, relyingParty(c));
  return pageAnswer(c, 200, () => passkeyStep(view, options));
};

const givePasskey = async (c: Context<Api>, { form }: Posted): Promise<Response> =>
  again(c, (await takePasskey(c, form)) ? "" : "&answer=passkey");

const otherAddress = (c: Context<Api>): Response => {
  forgetAsked(c);
  return again(c);
};

const leave = async (c: Context<Api>): Promise<Response> => {
  await leaveSession(c);
  return again(c);
};

const saveDetails = async (c: Context<Api>, { session, form, view, sheet }: Posted): Promise<Response> => {
  const { services } = c.var;
  const { words, language } = view;
  if (session === null) return again(c);
  const typed = [...form].filter(
    (entry): entry is [ContactKey, string] => isContactKey(entry[0]) && sheet.request.asked.scope.includes(entry[0]),
  );
  const { email } = await userOf(services, session);
  const step = (fault: string): Promise<Response> =>
    pageAnswer(c, 400, () => detailsStep(view, email, { keys: typed.map(([key]) => key), values: Object.fromEntries(typed) }, fault));
  const blank = typed.filter(([key, value]) => sheet.request.asked.needed.includes(key) && value.trim() === "" && !mayBeBlank.has(key));
  if (blank.length > 0) return step(words.missing.replace("{groups}", groupsIn(language, groupsOf(blank.map(([key]) => key)))));
  const busy = await tooOften(c, "FIELD_CHANGES", session.userId);
  if (busy !== null) return busy;
  const changed = await changeContactFields(services, personOf(session), new Map(typed.map(([key, value]) => [key, value || null])));
  return changed.ok ? again(c) : step(words.badValue);
};

/** What the person ticked besides what is needed: whole groups, as far as they hold a value. */
const chosenScope = ({ sheet, form }: Posted, fields: ContactFields): readonly ContactKey[] => {
  const { scope, needed } = sheet.request.asked;
  const optional = scope.filter((key) => !needed.includes(key));
  const ticked = groupsOf(optional).flatMap((group) => (form.has(`group.${group}`) ? inGroup(optional, group) : []));
  return scope.filter((key) => needed.includes(key) || (ticked.includes(key) && fields[key] !== undefined));
};

const decide = async (c: Context<Api>, sent: Posted): Promise<Response> => {
  const { services, requestId } = c.var;
  const { sheet, session, person, form, view, decisionKey } = sent;
  const { client, asked, ...request } = sheet.request;
  const isTest = client.environment === "sandbox";
  if (session === null && !isTest) return signInAgain(c, form);
  const age = await judged(services, sent, form);
  if (age === "foreign") return again(c);
  if (age === "expired") return pageAnswer(c, 400, () => expiredStep(view, form.get("token") ?? "", chosenOf(form)));
  const busy = session === null ? null : await tooOften(c, "GRANTS", session.userId);
  if (busy !== null) return busy;
  if (form.has("again")) {
    await codeAgain(services, person, client.clientId, decisionKey);
    return again(c);
  }
  const persona: PersonaName = personaNames.find((name) => name === form.get("persona")) ?? "default";
  const fields = await fieldsOf(services, person, persona);
  const scope = chosenScope(sent, fields);
  if (scope.length === 0) return decisionPage(c, sent, chosenOf(form), appWords[view.language].tickOne);
  const by: Granting = person === null ? { persona } : { person };
  const shorter = shorterDays.find((days) => String(days) === form.get("days"));
  const granted = await grantShare(services, by, {
    ...request,
    clientId: client.clientId,
    scope,
    durationDays: shorter !== undefined && shorter < request.durationDays ? shorter : request.durationDays,
    missingOk: isTest ? scope : [...mayBeBlank],
    decisionKey,
    mayDecide: async () => ({ ok: true, value: true }),
    language: view.language,
    requestId,
  });
  if (granted.ok || granted.code === "code_used" || granted.code === "code_expired" || granted.code === "share_inactive") return again(c);
  if (granted.code === "unauthorized" || granted.code === "invalid_request") return signInAgain(c, form); // or a value is gone: the page says so
  return refusedPage(c, granted.code, granted.detail);
};

/**
 * The decision once more after its time was over, with the ticks the person had made: they come from the expired page's own form, under
 * its token. An address never ticks a box.
 */
const startAgain = async (c: Context<Api>, sent: Posted): Promise<Response> => {
  const isTest = sent.sheet.request.client.environment === "sandbox";
  if (sent.session === null && !isTest) return signInAgain(c, sent.form);
  if ((await judged(c.var.services, sent, sent.form)) === "foreign") return again(c);
  return decisionPage(c, sent, chosenOf(sent.form));
};

const notNow = (c: Context<Api>): Promise<Response> => {
  const words = sheetWords[languageOf(c)];
  return pageAnswer(c, 200, () => sheetNotice(words.refusedHeading, words.refused));
};

export const mountSheet = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  pages.use(keepsOpener);
  pages.get("/", uncrowded("AUTHORIZE_PER_IP"), show);
  pages.get("/not-now", notNow);
  pages.get("/:step", (c) => again(c)); // another language chosen on a page that a form was answered with
  pages.post("/email", acting("AUTH_REQUEST_PER_IP", askForCode));
  pages.post("/code", acting("AUTH_VERIFY_PER_IP", giveCode));
  pages.post("/passkey", acting("AUTH_VERIFY_PER_IP", askPasskey));
  pages.post("/passkey/answer", acting("AUTH_VERIFY_PER_IP", givePasskey));
  pages.post("/other-address", acting("AUTH_VERIFY_PER_IP", otherAddress));
  pages.post("/sign-out", acting("AUTH_VERIFY_PER_IP", leave));
  pages.post("/details", acting("AUTHORIZE_PER_IP", saveDetails));
  pages.post("/decide", acting("AUTHORIZE_PER_IP", decide));
  pages.post("/again", acting("AUTHORIZE_PER_IP", startAgain));
  pages.onError(onPageFault);
  app.route("/authorize", pages);
};
