// Routes of the consent sheet, {app_url}/authorize. Each step is a plain form that redirects to the same URL, so a reload is safe.
// Steps are not stored: the page depends on who is signed in, their saved details and their decisions.
import { Hono, type Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { Person } from "../../../core/access/principal.ts";
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import { groupsFromKeys, filterKeysInGroup, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { getPersonaFields, personaNames, type PersonaName } from "../../../core/shares/persona.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { signOutBrowser, getSessionToken } from "../../http/guards/session-cookie.ts";
import { authorizeQuerySchema, toShareRequest, parseScope } from "../../http/share-request.ts";
import { statusByCode } from "../../http/statuses.ts";
import { describeSchemaError } from "../../http/wire.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { getContactFields } from "../../operations/consumers/get-contact-fields.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { listActiveSharesWithBusiness } from "../../operations/consumers/list-active-shares-with-business.ts";
import { authorizeShareRequest } from "../../operations/shares/authorize-share-request.ts";
import { findEarlierDecision } from "../../operations/shares/earlier-decision.ts";
import { grantShare, type Grantor } from "../../operations/shares/grant-share.ts";
import { reissueShareCode } from "../../operations/shares/reissue-share-code.ts";
import { parseSheetBrowser, serializeSheetBrowser, type SheetBrowser } from "../../operations/shares/sheet-browser.ts";
import { isFromBoundOrigin, canRedirect, createSheetRequest, type SheetRequest } from "../../operations/shares/sheet-request.ts";
import { verifySheetToken, createSheetToken } from "../../operations/shares/sheet-token.ts";
import type { Services } from "../../platform/platform.ts";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import { allowOpener, getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { findPendingSignInEmail, clearPendingSignInEmail, startEmailSignIn, completeEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { handlePageError } from "../shared/notice-pages.tsx";
import { formatFieldGroups, shorterDurationDays } from "../shared/share-options.ts";
import { createFormHandlerFactory, checkAccountLimit, rateLimited, type FormFields, type FormRequest } from "../shared/form-handlers.ts";
import { completePasskeySignIn } from "../shared/passkey-sign-in.tsx";
import {
  codeStepPage,
  decisionStepPage,
  detailsStepPage,
  grantedPage,
  emailStepPage,
  decisionExpiredPage,
  codeExpiredPage,
  alreadyDecidedPage,
  passkeyStepPage,
  sheetNoticePage,
  type DecisionChoices,
  type SheetView,
} from "./views.tsx";

const browserCookie = "svc_ask";
const browserCookieSeconds = 3_600;
const choicesCookie = "svc_ticks";
const maxChoicesLength = 1_200; // characters: a cookie holds 4,096 bytes, and escaping triples a character

/** The sheet, resolved for this request and browser. */
interface OpenedSheet {
  readonly sheetRequest: SheetRequest;
  readonly browser: SheetBrowser;
  /** Null if no consumer is signed in, and for a test client, which does not require sign-in. */
  readonly session: ConsumerSession | null;
  readonly person: Person | null;
  readonly view: SheetView;
  readonly decisionKey: string;
}

/** Explains to the person why the request is refused. Only `invalid_request` shows the detail, for the page's developer. */
const renderRefusedRequest = (c: Context<AppEnv>, code: RefusalCode, detail: string | undefined): Promise<Response> => {
  c.set("refused", code);
  const messages = sheetMessages[getPageLanguage(c)];
  const toPage = (): Page => {
    if (code === "client_not_found") return sheetNoticePage(messages.broken, messages.brokenClient);
    if (code === "origin_mismatch") return sheetNoticePage(messages.wrongPlace, messages.wrongPlaceAdvice);
    if (code === "invalid_request")
      return sheetNoticePage(messages.broken, `${messages.brokenPart} ${messages.forDevelopers}: ${detail ?? ""}`);
    return sheetNoticePage(messages.mayNot, messages.mayNotAdvice);
  };
  return renderPage(c, statusByCode[code] as 400, toPage);
};

const findConsumerSession = async (c: Context<AppEnv>): Promise<ConsumerSession | null> => {
  const session = await authenticateSession(c.var.services, getSessionToken(c));
  return session?.realm === "consumer" ? session : null;
};

/** Returns the query string without the parameters that the sheet's own redirects add. */
const getRequestSearch = (c: Context<AppEnv>): string => {
  const query = new URLSearchParams(new URL(c.req.url).search);
  for (const name of ["answer", "edit"]) query.delete(name);
  return `?${query}`;
};

const openSheet = async (c: Context<AppEnv>): Promise<OpenedSheet | Response> => {
  const { services } = c.var;
  const parsed = authorizeQuerySchema.safeParse(
    Object.fromEntries(Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values])),
  );
  if (!parsed.success) return renderRefusedRequest(c, "invalid_request", describeSchemaError(parsed.error));
  const scope = parseScope(parsed.data.scope);
  if (!scope.ok) return renderRefusedRequest(c, scope.code, scope.detail);
  const authorized = await authorizeShareRequest(services, toShareRequest(parsed.data, scope.value));
  if (!authorized.ok) return renderRefusedRequest(c, authorized.code, authorized.detail);
  const sheet = createSheetRequest(services, authorized.value, parsed.data.return_url);
  // Only the first load of the sheet has the page's referrer, so the cookie remembers it for the later steps.
  const known = await parseSheetBrowser(services, findCookie(c, browserCookie));
  const isNewArrival = isFromBoundOrigin(sheet, c.req.header("referer")) && !known.seenRequests.includes(sheet.key);
  const browser = isNewArrival ? { ...known, seenRequests: [...known.seenRequests, sheet.key] } : known;
  setCookie(c, browserCookie, await serializeSheetBrowser(services, browser), { ...cookieOptions(c), maxAge: browserCookieSeconds });
  const isTest = authorized.value.client.environment === "sandbox";
  const session = isTest ? null : await findConsumerSession(c);
  const language = getPageLanguage(c);
  const returnUrl = canRedirect(sheet, browser) ? sheet.returnUrl : null;
  const view = { request: authorized.value, search: getRequestSearch(c), returnUrl, language, messages: sheetMessages[language] };
  const decisionKey = `sheet ${sheet.key}${isTest ? ` ${browser.id}` : ""}`;
  return { sheetRequest: sheet, browser, session, person: session === null ? null : personFromSession(session), view, decisionKey };
};

const redirectToSheet = (c: Context<AppEnv>, addedQuery = ""): Response => c.redirect(`/authorize${getRequestSearch(c)}${addedQuery}`, 303);

/** Address parts that many people do not have; they may stay blank even if the request marks them as needed. */
const blankableKeys: ReadonlySet<ContactKey> = new Set(["address_line2", "state"]);

const findMissingKeys = (keys: readonly ContactKey[], fields: ContactFields): readonly ContactKey[] =>
  keys.filter((key) => fields[key] === undefined && !blankableKeys.has(key));

const toFieldValues = (fields: ContactFields): Readonly<Partial<Record<ContactKey, string>>> =>
  Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value]));

/** The person's choices, to show the same decision again. */
const parseChoices = (form: FormFields): DecisionChoices =>
  new Map([...form].filter(([name]) => name === "days" || name === "persona" || name.startsWith("group.")));

/** Checks that the form belongs to the decision that this browser and person were shown, and whether it has expired. */
const checkFormToken = (services: Services, { sheetRequest, browser, person }: OpenedSheet, form: FormFields) =>
  verifySheetToken(services, sheetRequest, browser, person?.id ?? null, form.get("token") ?? "");

/** The person's saved contact details; for a test client, those of the persona. */
const loadFields = async (services: Services, person: Person | null, persona: PersonaName = "default"): Promise<ContactFields> => {
  if (person === null) return getPersonaFields(persona);
  const saved = await getContactFields(services, person);
  return saved.ok ? saved.value : {};
};

/** Handles a session that ended during the decision: keeps the choices in a cookie while the person signs in again. */
const redirectToSignIn = (c: Context<AppEnv>, form: FormFields): Response => {
  const choices = String(new URLSearchParams([["token", form.get("token") ?? ""], ...parseChoices(form)]));
  if (choices.length <= maxChoicesLength) setCookie(c, choicesCookie, choices, { ...cookieOptions(c), maxAge: browserCookieSeconds });
  return redirectToSheet(c);
};

/** Reads and deletes the saved choices. They are ignored unless the token belongs to this person, browser and request. */
const takeSavedChoices = async (c: Context<AppEnv>, opened: OpenedSheet): Promise<DecisionChoices> => {
  const saved = findCookie(c, choicesCookie);
  if (saved === undefined) return new Map();
  deleteCookie(c, choicesCookie, cookieOptions(c));
  const form = new Map(new URLSearchParams(saved));
  return (await checkFormToken(c.var.services, opened, form)) === "foreign" ? new Map() : parseChoices(form);
};

/** For a signed-in person or a test client, shows the earlier decision, the missing details, or the decision form with `submitted`. */
const renderDecision = async (c: Context<AppEnv>, opened: OpenedSheet, submitted?: DecisionChoices, error?: string): Promise<Response> => {
  const { services } = c.var;
  const { sheetRequest, browser, session, person, view, decisionKey } = opened;
  const { client, requestedScope } = sheetRequest.request;
  const earlier = await findEarlierDecision(services, person, client.clientId, decisionKey);
  const token = await createSheetToken(services, sheetRequest, browser, person?.id ?? null);
  const email = session === null ? null : (await getSignedInUser(services, session)).email;
  if (earlier?.kind === "open") return renderPage(c, 200, () => grantedPage(view, earlier.share, earlier.code, email));
  if (earlier?.kind === "late") return renderPage(c, 200, () => codeExpiredPage(view, token));
  if (earlier?.kind === "over") return renderPage(c, 409, () => alreadyDecidedPage(view));
  const fields = await loadFields(services, person);
  const missing = findMissingKeys(requestedScope.needed, fields);
  if (email !== null && (missing.length > 0 || c.req.query("edit") === "1")) {
    const keys = c.req.query("edit") === "1" ? requestedScope.scope : missing;
    const values = { ...(keys.includes("email") && { email }), ...toFieldValues(fields) };
    return renderPage(c, 200, () => detailsStepPage(view, email, { keys, values }));
  }
  const activeShares = person === null ? [] : await listActiveSharesWithBusiness(services, person, client.business.id);
  const choices = submitted ?? (await takeSavedChoices(c, opened));
  const step = { token, email, fields, now: services.clock(), activeShares, choices };
  return renderPage(c, error === undefined ? 200 : 400, () => decisionStepPage(view, step, error));
};

const renderSheet = async (c: Context<AppEnv>): Promise<Response> => {
  const opened = await openSheet(c);
  if (opened instanceof Response) return opened;
  const { sheetRequest, session, view } = opened;
  if (session !== null || sheetRequest.request.client.environment === "sandbox") return renderDecision(c, opened);
  const answer = c.req.query("answer");
  if (answer === "passkey") return renderPage(c, 200, () => emailStepPage(view, appMessages[view.language].passkeyRefused));
  const email = await findPendingSignInEmail(c);
  if (email === null) return renderPage(c, 200, () => emailStepPage(view));
  return renderPage(c, 200, () => codeStepPage(view, email, answer === "failed" ? view.messages.wrongCode : undefined));
};

type SheetFormRequest = FormRequest<OpenedSheet>;

const sheetAction = createFormHandlerFactory(openSheet);

const handleSendCode = async (c: Context<AppEnv>, { form, view }: SheetFormRequest): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  if (!isEmailAddress(email))
    return renderPage(c, 400, () => emailStepPage(view, view.messages.badEmail, email.slice(0, maxTypedEmailLength)));
  await startEmailSignIn(c, { email, realm: "consumer", language: view.language });
  return redirectToSheet(c);
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, view }: SheetFormRequest): Promise<Response> => {
  const signIn = await completeEmailSignIn(c, form, "consumer");
  if (signIn.outcome !== "malformed") return redirectToSheet(c, signIn.outcome === "wrong" ? "&answer=failed" : "");
  return renderPage(c, 400, () => codeStepPage(view, signIn.email, view.messages.badCode));
};

const renderPasskeyStep = async (c: Context<AppEnv>, { view }: SheetFormRequest): Promise<Response> => {
  const options = await requestPasskeySignIn(c.var.services, getRelyingParty(c));
  return renderPage(c, 200, () => passkeyStepPage(view, options));
};

const handlePasskeyResponse = async (c: Context<AppEnv>, { form }: SheetFormRequest): Promise<Response> =>
  redirectToSheet(c, (await completePasskeySignIn(c, form)) ? "" : "&answer=passkey");

const handleChangeEmail = (c: Context<AppEnv>): Response => {
  clearPendingSignInEmail(c);
  return redirectToSheet(c);
};

const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  await signOutBrowser(c);
  return redirectToSheet(c);
};

const handleSaveDetails = async (c: Context<AppEnv>, { session, form, view, sheetRequest }: SheetFormRequest): Promise<Response> => {
  const { services } = c.var;
  const { messages, language } = view;
  if (session === null) return redirectToSheet(c);
  const typed = [...form].filter(
    (entry): entry is [ContactKey, string] => isContactKey(entry[0]) && sheetRequest.request.requestedScope.scope.includes(entry[0]),
  );
  const { email } = await getSignedInUser(services, session);
  const renderError = (error: string): Promise<Response> =>
    renderPage(c, 400, () => detailsStepPage(view, email, { keys: typed.map(([key]) => key), values: Object.fromEntries(typed) }, error));
  const blank = typed.filter(
    ([key, value]) => sheetRequest.request.requestedScope.needed.includes(key) && value.trim() === "" && !blankableKeys.has(key),
  );
  if (blank.length > 0)
    return renderError(messages.missing.replace("{groups}", formatFieldGroups(language, groupsFromKeys(blank.map(([key]) => key)))));
  const limited = await checkAccountLimit(c, "FIELD_CHANGES", session.userId);
  if (limited !== null) return limited;
  const changed = await updateContactFields(
    services,
    personFromSession(session),
    new Map(typed.map(([key, value]) => [key, value || null])),
  );
  return changed.ok ? redirectToSheet(c) : renderError(messages.badValue);
};

/** Returns the needed fields, plus the fields with a value in the selected optional groups. */
const parseSelectedScope = ({ sheetRequest, form }: SheetFormRequest, fields: ContactFields): readonly ContactKey[] => {
  const { scope, needed } = sheetRequest.request.requestedScope;
  const optional = scope.filter((key) => !needed.includes(key));
  const selected = groupsFromKeys(optional).flatMap((group) => (form.has(`group.${group}`) ? filterKeysInGroup(optional, group) : []));
  return scope.filter((key) => needed.includes(key) || (selected.includes(key) && fields[key] !== undefined));
};

const handleDecision = async (c: Context<AppEnv>, formRequest: SheetFormRequest): Promise<Response> => {
  const { services, requestId } = c.var;
  const { sheetRequest, session, person, form, view, decisionKey } = formRequest;
  const { client, requestedScope, ...request } = sheetRequest.request;
  const isTest = client.environment === "sandbox";
  if (session === null && !isTest) return redirectToSignIn(c, form);
  const tokenStatus = await checkFormToken(services, formRequest, form);
  if (tokenStatus === "foreign") return redirectToSheet(c);
  if (tokenStatus === "expired") return renderPage(c, 400, () => decisionExpiredPage(view, form.get("token") ?? "", parseChoices(form)));
  const limited = session === null ? null : await checkAccountLimit(c, "GRANTS", session.userId);
  if (limited !== null) return limited;
  if (form.has("again")) {
    await reissueShareCode(services, person, client.clientId, decisionKey);
    return redirectToSheet(c);
  }
  const persona: PersonaName = personaNames.find((name) => name === form.get("persona")) ?? "default";
  const fields = await loadFields(services, person, persona);
  const scope = parseSelectedScope(formRequest, fields);
  if (scope.length === 0) return renderDecision(c, formRequest, parseChoices(form), appMessages[view.language].tickOne);
  const grantor: Grantor = person === null ? { persona } : { person };
  const shorter = shorterDurationDays.find((days) => String(days) === form.get("days"));
  const granted = await grantShare(services, grantor, {
    ...request,
    clientId: client.clientId,
    scope,
    durationDays: shorter !== undefined && shorter < request.durationDays ? shorter : request.durationDays,
    allowedMissing: isTest ? scope : [...blankableKeys],
    decisionKey,
    language: view.language,
    requestId,
  });
  if (granted.ok || granted.code === "code_used" || granted.code === "code_expired" || granted.code === "share_inactive")
    return redirectToSheet(c);
  // invalid_request: a value was deleted in the meantime; the details step asks for it again.
  if (granted.code === "unauthorized" || granted.code === "invalid_request") return redirectToSignIn(c, form);
  return renderRefusedRequest(c, granted.code, granted.detail);
};

/**
 * Shows the decision again after it expired, with the person's choices. They come only from the expired page's form and token, because a
 * URL must never be able to check a box.
 */
const renderRestartedDecision = async (c: Context<AppEnv>, formRequest: SheetFormRequest): Promise<Response> => {
  const isTest = formRequest.sheetRequest.request.client.environment === "sandbox";
  if (formRequest.session === null && !isTest) return redirectToSignIn(c, formRequest.form);
  if ((await checkFormToken(c.var.services, formRequest, formRequest.form)) === "foreign") return redirectToSheet(c);
  return renderDecision(c, formRequest, parseChoices(formRequest.form));
};

const renderDeclined = (c: Context<AppEnv>): Promise<Response> => {
  const messages = sheetMessages[getPageLanguage(c)];
  return renderPage(c, 200, () => sheetNoticePage(messages.refusedHeading, messages.refused));
};

export const registerSheetRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  pages.use(allowOpener);
  pages.get("/", rateLimited("AUTHORIZE_PER_IP"), renderSheet);
  pages.get("/not-now", renderDeclined);
  pages.get("/:step", (c) => redirectToSheet(c)); // a language link on a page that was the response to a form
  pages.post("/email", sheetAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.post("/code", sheetAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/passkey", sheetAction("AUTH_VERIFY_PER_IP", renderPasskeyStep));
  pages.post("/passkey/answer", sheetAction("AUTH_VERIFY_PER_IP", handlePasskeyResponse));
  pages.post("/other-address", sheetAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.post("/sign-out", sheetAction("AUTH_VERIFY_PER_IP", handleSignOut));
  pages.post("/details", sheetAction("AUTHORIZE_PER_IP", handleSaveDetails));
  pages.post("/decide", sheetAction("AUTHORIZE_PER_IP", handleDecision));
  pages.post("/again", sheetAction("AUTHORIZE_PER_IP", renderRestartedDecision));
  pages.onError(handlePageError);
  app.route("/authorize", pages);
};
