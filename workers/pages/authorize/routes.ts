// Routes of the consent sheet, {app_url}/authorize. Each step is a plain form that redirects to the same URL, so a reload is safe. The
// current step is not stored; it follows from the sign-in, the person's saved details and any earlier decision. No step is shown without
// evidence that the request came from the business.
import { cutText } from "../../../core/cut-text.ts";
import { Hono, type Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { Person } from "../../../core/access/principal.ts";
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import { formatPhoneInFields, type ContactFields } from "../../../core/shares/fields.ts";
import { getPersonaFields, personaNames, type PersonaName } from "../../../core/shares/persona.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearPendingSignIn } from "../../http/pending-sign-in.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { signOutBrowser } from "../../http/guards/session-cookie.ts";
import { authorizeQuerySchema, toShareRequest, parseScope } from "../../http/share-request.ts";
import { statusByCode } from "../../http/statuses.ts";
import { describeSchemaError } from "../../http/wire.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { getContactFields } from "../../operations/consumers/get-contact-fields.ts";
import { listActiveSharesWithBusiness } from "../../operations/consumers/list-active-shares-with-business.ts";
import { authorizeShareRequest } from "../../operations/shares/authorize-share-request.ts";
import { findEarlierDecision } from "../../operations/shares/earlier-decision.ts";
import { grantShare, type Grantor } from "../../operations/shares/grant-share.ts";
import { reissueShareCode } from "../../operations/shares/reissue-share-code.ts";
import { isSignedRequest } from "../../operations/shares/request-signature.ts";
import {
  findArrivalEvidence,
  parseSheetBrowser,
  serializeSheetBrowser,
  withArrivalEvidence,
  type ArrivalEvidence,
  type SheetBrowser,
} from "../../operations/shares/sheet-browser.ts";
import {
  isFromBoundOrigin,
  canRedirect,
  createSheetRequest,
  getRequestEvidence,
  type SheetRequest,
} from "../../operations/shares/sheet-request.ts";
import { verifySheetToken, createSheetToken } from "../../operations/shares/sheet-token.ts";
import type { Services } from "../../platform/platform.ts";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import { allowOpener, getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { findCodeStep, findPendingSignInEmail, startEmailSignIn, completeEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { handlePageError, renderStorageLimitReached, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { shorterDurationDays } from "../shared/share-options.ts";
import {
  createFormHandlerFactory,
  checkAccountLimit,
  parseRateLimitedForm,
  limitPageByAddress,
  type FormFields,
  type FormRequest,
  findPageSession,
} from "../shared/form-handlers.ts";
import { completePasskeySignIn } from "../shared/passkey-sign-in.tsx";
import {
  codeStepPage,
  declinedPage,
  grantedPage,
  emailStepPage,
  decisionExpiredPage,
  codeExpiredPage,
  alreadyDecidedPage,
  passkeyStepPage,
  sheetNoticePage,
  unconfirmedPage,
} from "./views.tsx";
import { blankableKeys, parseChoices, reviewForm, withoutTypedValues, type DecisionChoices, type ReviewedForm } from "./review-form.ts";
import { reviewStepPage } from "./review-step.tsx";
import type { SheetView } from "./sheet-page.tsx";

const browserCookie = "svc_ask";
const browserCookieSeconds = 3_600;
const choicesCookie = "svc_ticks";
const maxChoicesLength = 1_200; // in characters: a cookie holds 4,096 bytes, and escaping can triple the length

interface OpenedSheet {
  readonly sheetRequest: SheetRequest;
  readonly browser: SheetBrowser;
  /** Null if no consumer is signed in, and for a test client, which does not require sign-in. */
  readonly session: ConsumerSession | null;
  readonly person: Person | null;
  readonly view: SheetView;
  readonly decisionKey: string;
}

/**
 * Explains to the person why the request is refused. For `invalid_request`, also names the parameter, for the developer of the business's
 * page. The rest of the detail exists in English only.
 */
const renderRefusedRequest = (c: Context<AppEnv>, code: RefusalCode, detail: string | undefined): Promise<Response> => {
  if (code === "rate_limited") return renderStorageLimitReached(c);
  if (code === "storage_unavailable") return renderStorageUnavailable(c);
  c.set("refused", code);
  const messages = sheetMessages[getPageLanguage(c)];
  const toPage = (): Page => {
    if (code === "client_not_found") return sheetNoticePage(messages.broken, messages.brokenClient);
    if (code === "share_limit") return sheetNoticePage(messages.shareLimit, messages.shareLimitAdvice);
    if (code === "origin_mismatch") return sheetNoticePage(messages.wrongPlace, messages.wrongPlaceAdvice);
    if (code === "invalid_request") {
      const parameter = /^([a-z_]+): /.exec(detail ?? "")?.[1];
      return sheetNoticePage(
        messages.broken,
        messages.brokenPart,
        parameter === undefined ? undefined : { text: messages.forDevelopers, parameter },
      );
    }
    return sheetNoticePage(messages.mayNot, messages.mayNotAdvice);
  };
  return renderPage(c, statusByCode[code] as 400, toPage);
};

const findConsumerSession = async (c: Context<AppEnv>): Promise<ConsumerSession | null | Response> => {
  const session = await findPageSession(c);
  if (session instanceof Response) return session;
  return session?.realm === "consumer" ? session : null;
};

/** Returns the query string without the parameters that the sheet's own redirects and links add. */
const getRequestSearch = (c: Context<AppEnv>): string => {
  const query = new URLSearchParams(new URL(c.req.url).search);
  for (const name of ["outcome", "edit"]) query.delete(name);
  return `?${query}`;
};

/**
 * Finds evidence that this request came from the business. A cookie stores the evidence for later steps, because only the first load of the
 * sheet has the business's page as its referrer, and a signature expires.
 */
const findNewEvidence = async (c: Context<AppEnv>, sheet: SheetRequest, signature: string | undefined): Promise<ArrivalEvidence | null> => {
  if (await isSignedRequest(c.var.services, sheet, signature)) return "request_signature";
  return isFromBoundOrigin(sheet, c.req.header("referer")) ? "referer" : null;
};

const saveBrowser = async (c: Context<AppEnv>, browser: SheetBrowser): Promise<void> =>
  setCookie(c, browserCookie, await serializeSheetBrowser(c.var.services, browser), { ...cookieOptions(c), maxAge: browserCookieSeconds });

/** Loads the sheet for the request, even without evidence that the request came from the business. */
const resolveSheet = async (c: Context<AppEnv>): Promise<OpenedSheet | Response> => {
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
  const known = await parseSheetBrowser(services, findCookie(c, browserCookie));
  const found =
    findArrivalEvidence(known, sheet.key) === "request_signature" ? null : await findNewEvidence(c, sheet, parsed.data.request_signature);
  const browser = found === null ? known : withArrivalEvidence(known, sheet.key, found);
  await saveBrowser(c, browser);
  const isTest = authorized.value.client.environment === "sandbox";
  const session = isTest ? null : await findConsumerSession(c);
  if (session instanceof Response) return session;
  const language = getPageLanguage(c);
  const returnUrl = canRedirect(sheet, browser) ? sheet.returnUrl : null;
  const view = { request: authorized.value, search: getRequestSearch(c), returnUrl, language, messages: sheetMessages[language] };
  const decisionKey = `sheet ${sheet.key}${isTest ? ` ${browser.id}` : ""}`;
  return { sheetRequest: sheet, browser, session, person: session === null ? null : personFromSession(session), view, decisionKey };
};

const renderUnconfirmed = async (c: Context<AppEnv>, { sheetRequest, browser, view }: OpenedSheet): Promise<Response> => {
  const token = await createSheetToken(c.var.services, sheetRequest, browser, null);
  if (c.req.method === "GET") return renderPage(c, 200, () => unconfirmedPage(view, token));
  c.set("refused", "forbidden");
  return renderPage(c, 403, () => unconfirmedPage(view, token));
};

/** Returns the sheet. If there is no evidence that the request came from the business, returns a page that says so and asks for nothing. */
const openSheet = async (c: Context<AppEnv>): Promise<OpenedSheet | Response> => {
  const opened = await resolveSheet(c);
  if (opened instanceof Response) return opened;
  return getRequestEvidence(opened.sheetRequest, opened.browser) === null ? renderUnconfirmed(c, opened) : opened;
};

const redirectToSheet = (c: Context<AppEnv>, addedQuery = ""): Response => c.redirect(`/authorize${getRequestSearch(c)}${addedQuery}`, 303);

/** Checks that the form belongs to the decision that was shown to this browser and person, and that it has not expired. */
const checkFormToken = (services: Services, { sheetRequest, browser, person }: OpenedSheet, form: FormFields) =>
  verifySheetToken(services, sheetRequest, browser, person?.id ?? null, form.get("token") ?? "");

/** Loads the person's saved contact details or, for a test client, the details of the persona. */
const loadFields = async (services: Services, person: Person | null, persona: PersonaName = "default"): Promise<ContactFields> => {
  if (person === null) return getPersonaFields(persona);
  const saved = await getContactFields(services, person);
  return saved.ok ? saved.value : {};
};

/**
 * Returns the person to the sheet, which asks for another sign-in if the session has ended. A cookie keeps the choices, without typed
 * values.
 */
const redirectToSignIn = (c: Context<AppEnv>, form: FormFields): Response => {
  const choices = String(new URLSearchParams([["token", form.get("token") ?? ""], ...withoutTypedValues(parseChoices(form))]));
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

interface ReviewAttempt {
  readonly choices: DecisionChoices;
  readonly errors?: ReviewedForm["errors"];
  readonly isEmpty?: boolean;
}

/** Shows the earlier decision or, if there is none, the review with the submitted values. */
const renderDecision = async (c: Context<AppEnv>, opened: OpenedSheet, attempt?: ReviewAttempt): Promise<Response> => {
  const { services } = c.var;
  const { sheetRequest, browser, session, person, view, decisionKey } = opened;
  const { client } = sheetRequest.request;
  const earlier = await findEarlierDecision(services, person, client.clientId, decisionKey);
  const token = await createSheetToken(services, sheetRequest, browser, person?.id ?? null);
  const email = session === null ? null : (await getSignedInUser(services, session)).email;
  if (earlier?.kind === "open") return renderPage(c, 200, () => grantedPage(view, earlier.share, earlier.code, email));
  if (earlier?.kind === "late") return renderPage(c, 200, () => codeExpiredPage(view, token));
  if (earlier?.kind === "over") return renderPage(c, 409, () => alreadyDecidedPage(view));
  const now = services.clock();
  const saved = await loadFields(services, person);
  const fields = email === null || saved.email !== undefined ? saved : { ...saved, email: { value: email, updatedAt: now } };
  const activeShares = person === null ? [] : await listActiveSharesWithBusiness(services, person, client.business.id);
  const { errors = new Map(), isEmpty = false } = attempt ?? {};
  const choices = attempt?.choices ?? (await takeSavedChoices(c, opened));
  const isEditing = c.req.query("edit") === "1";
  const shownFields = formatPhoneInFields(fields, services.formatPhone);
  const step = { token, email, fields, shownFields, now, activeShares, choices, isEditing, errors, isEmpty };
  return renderPage(c, isEmpty || errors.size > 0 ? 400 : 200, () => reviewStepPage(view, step));
};

const renderSheet = async (c: Context<AppEnv>): Promise<Response> => {
  const opened = await openSheet(c);
  if (opened instanceof Response) return opened;
  const { sheetRequest, session, view } = opened;
  if (session !== null || sheetRequest.request.client.environment === "sandbox") return renderDecision(c, opened);
  const now = c.var.services.clock();
  if (c.req.query("outcome") === "passkey")
    return renderPage(c, 200, () => emailStepPage(view, now, appMessages[view.language].passkeyRefused));
  const step = await findCodeStep(c, "consumer");
  return renderPage(c, 200, () => (step === null ? emailStepPage(view, now) : codeStepPage(view, step)));
};

type SheetFormRequest = FormRequest<OpenedSheet>;

const sheetAction = createFormHandlerFactory(openSheet);

const handleSendCode = async (c: Context<AppEnv>, { form, view }: SheetFormRequest): Promise<Response> => {
  const email = trimTypedAddress(form.get("email") ?? "");
  if (!isEmailAddress(email))
    return renderPage(c, 400, () =>
      emailStepPage(view, c.var.services.clock(), view.messages.badEmail, cutText(email, maxTypedEmailLength)),
    );
  await startEmailSignIn(c, { email, realm: "consumer", language: view.language, next: null });
  return redirectToSheet(c);
};

/** Sends another code to the same address if the limits for sign-in codes allow it. */
const handleNewCode = async (c: Context<AppEnv>, { view }: SheetFormRequest): Promise<Response> => {
  const email = await findPendingSignInEmail(c);
  if (email === null) return redirectToSheet(c);
  await startEmailSignIn(c, { email, realm: "consumer", language: view.language, next: null });
  return redirectToSheet(c, "&outcome=sent");
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, view }: SheetFormRequest): Promise<Response> => {
  const signIn = await completeEmailSignIn(c, form, "consumer");
  if (signIn.outcome !== "malformed") return redirectToSheet(c, signIn.outcome === "wrong" ? "&outcome=failed" : "");
  return renderPage(c, 400, () => codeStepPage(view, { email: signIn.email, error: view.messages.badCode }));
};

const renderPasskeyStep = async (c: Context<AppEnv>, { view }: SheetFormRequest): Promise<Response> => {
  const options = await requestPasskeySignIn(c.var.services, getRelyingParty(c));
  return renderPage(c, 200, () => passkeyStepPage(view, options));
};

const handlePasskeyResponse = async (c: Context<AppEnv>, { form }: SheetFormRequest): Promise<Response> =>
  redirectToSheet(c, (await completePasskeySignIn(c, form, "consumer")) !== null ? "" : "&outcome=passkey");

const handleChangeEmail = (c: Context<AppEnv>): Response => {
  clearPendingSignIn(c);
  return redirectToSheet(c);
};

const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  await signOutBrowser(c);
  return redirectToSheet(c);
};

/**
 * Handles the form that the page script sends when the window that opened the sheet has replied. The form's token proves that this browser
 * loaded the sheet for this request. The origin of the reply must be the origin in the request.
 */
const handleOpenerConfirmed = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTHORIZE_PER_IP");
  if (form instanceof Response) return form;
  const opened = await resolveSheet(c);
  if (opened instanceof Response) return opened;
  const { sheetRequest, browser } = opened;
  const token = await verifySheetToken(c.var.services, sheetRequest, browser, null, form.get("token") ?? "");
  if (typeof token === "string" || form.get("opener_origin") !== sheetRequest.request.origin) return renderUnconfirmed(c, opened);
  if (getRequestEvidence(sheetRequest, browser) === null) await saveBrowser(c, withArrivalEvidence(browser, sheetRequest.key, "message"));
  return redirectToSheet(c);
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
  const { evidence } = tokenStatus;
  if (evidence === null) return renderUnconfirmed(c, formRequest);
  const persona: PersonaName = personaNames.find((name) => name === form.get("persona")) ?? "default";
  const choices = parseChoices(form);
  const email = session === null ? null : (await getSignedInUser(services, session)).email;
  const saved = await loadFields(services, person, persona);
  const { scope, changes, errors, isOutdated } = reviewForm(choices, requestedScope, saved, email, services.toE164);
  if (isOutdated) return renderDecision(c, formRequest, { choices });
  if (!isTest && errors.size > 0) return renderDecision(c, formRequest, { choices, errors });
  if (scope.length === 0) return renderDecision(c, formRequest, { choices, isEmpty: true });
  if (session !== null && changes.size > 0) {
    const fieldsLimited = await checkAccountLimit(c, "FIELD_CHANGES", session.userId);
    if (fieldsLimited !== null) return fieldsLimited;
  }
  const grantor: Grantor = person === null ? { persona } : { person };
  const shorter = shorterDurationDays.find((days) => String(days) === form.get("days"));
  const granted = await grantShare(services, grantor, {
    ...request,
    clientId: client.clientId,
    requestEvidence: evidence,
    scope,
    fieldChanges: changes,
    durationDays: shorter !== undefined && shorter < request.durationDays ? shorter : request.durationDays,
    allowedMissing: isTest ? scope : [...blankableKeys],
    decisionKey,
    language: view.language,
    requestId,
  });
  if (granted.ok || granted.code === "code_used" || granted.code === "code_expired" || granted.code === "share_inactive")
    return redirectToSheet(c);
  // `invalid_request` means that a value was deleted in the meantime. The review asks for it again.
  if (granted.code === "unauthorized" || granted.code === "invalid_request") return redirectToSignIn(c, form);
  return renderRefusedRequest(c, granted.code, granted.detail);
};

/**
 * Shows the review again with the person's choices after the review expired or the person pressed Enter in a field. The choices come only
 * from the posted form, because a URL must never be able to check a box.
 */
const renderReview = async (c: Context<AppEnv>, formRequest: SheetFormRequest): Promise<Response> => {
  const isTest = formRequest.sheetRequest.request.client.environment === "sandbox";
  if (formRequest.session === null && !isTest) return redirectToSignIn(c, formRequest.form);
  if ((await checkFormToken(c.var.services, formRequest, formRequest.form)) === "foreign") return redirectToSheet(c);
  return renderDecision(c, formRequest, { choices: parseChoices(formRequest.form) });
};

const renderDeclined = async (c: Context<AppEnv>): Promise<Response> => {
  const opened = await resolveSheet(c);
  return opened instanceof Response ? opened : renderPage(c, 200, () => declinedPage(opened.view));
};

export const registerSheetRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  pages.use(allowOpener);
  pages.get("/", limitPageByAddress("AUTHORIZE_PER_IP"), renderSheet);
  pages.get("/not-now", limitPageByAddress("AUTHORIZE_PER_IP"), renderDeclined);
  pages.get("/:step", (c) => redirectToSheet(c)); // if a POST returned the page, its language links lead here
  pages.post("/opened", handleOpenerConfirmed);
  pages.post("/email", sheetAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.post("/new-code", sheetAction("AUTH_REQUEST_PER_IP", handleNewCode));
  pages.post("/code", sheetAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/passkey", sheetAction("AUTH_VERIFY_PER_IP", renderPasskeyStep));
  pages.post("/passkey/verify", sheetAction("AUTH_VERIFY_PER_IP", handlePasskeyResponse));
  pages.post("/other-address", sheetAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.post("/sign-out", sheetAction("AUTH_VERIFY_PER_IP", handleSignOut));
  pages.post("/review", sheetAction("AUTHORIZE_PER_IP", renderReview));
  pages.post("/decide", sheetAction("AUTHORIZE_PER_IP", handleDecision));
  pages.onError(handlePageError);
  app.route("/authorize", pages);
};
