// Routes of {app_url}/oauth/authorize, where a user decides whether an agent may connect. Each step is a plain form that redirects to the
// same URL. Only the decision redirects to the client's registered URI. An invalid request gets an error page and never a redirect, so a
// link alone cannot send a user to another site.
import { cutText } from "../../../core/cut-text.ts";
import { Hono, type Context } from "hono";
import { parseAuthorizationRequest, type OAuthError } from "../../../core/agents/authorization-request.ts";
import { maxActiveTokens } from "../../../core/agents/agent-token.ts";
import { isRegisteredRedirectUri, parseRedirectUri, addQueryParameters } from "../../../core/agents/redirect-uri.ts";
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { Realm, Session } from "../../../core/access/session.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearPendingSignIn } from "../../http/pending-sign-in.ts";
import { getOAuthUrls } from "../../http/oauth-urls.ts";
import { signOutBrowser } from "../../http/guards/session-cookie.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { authorizeConnection } from "../../operations/agents/authorize-connection.ts";
import { openConnectionRequest, sealConnectionRequest, type ConnectionRequest } from "../../operations/agents/connection-request.ts";
import { isClientConnected } from "../../operations/agents/is-client-connected.ts";
import { findConnectionByLink } from "../../operations/agents/find-connection-by-link.ts";
import { revokeTokenByLink } from "../../operations/agents/revoke-token-by-link.ts";
import { resolveOAuthClient } from "../../operations/agents/resolve-oauth-client.ts";
import { saveClientDocument } from "../../operations/agents/save-client-document.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";
import { maxTypedEmailLength } from "../shared/form-fields.tsx";
import { connectMessages, type ConnectMessages } from "../i18n/connect.ts";
import { allowOpener, getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import { findCodeStep, findPendingSignInEmail, startEmailSignIn, completeEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { renderCrossSiteBlocked, noticePage, handlePageError } from "../shared/notice-pages.tsx";
import {
  parseRateLimitedForm,
  createFormHandlerFactory,
  checkAccountLimit,
  limitPageByAddress,
  type FormRequest,
  findAnyPageSession,
  findPageSession,
} from "../shared/form-handlers.ts";
import {
  ReturnLink,
  alreadyEndedPage,
  codeStepPage,
  decisionStepPage,
  emailStepPage,
  endConnectionPage,
  endedPage,
  invitedPage,
  getFormTargetOrigin,
  returningPage,
  type ConnectView,
} from "./views.tsx";

const pendingConnectCookie = "svc_connect";

const getConnectMessages = (c: Context<AppEnv>): ConnectMessages => connectMessages[getPageLanguage(c)];

const renderConnectPage = (c: Context<AppEnv>, status: 200 | 400 | 402 | 404 | 409, page: Page): Promise<Response> =>
  renderPage(c, status, () => page, getPageLanguage(c));

const renderConnectNotice = (
  c: Context<AppEnv>,
  status: 400 | 402 | 404 | 409,
  heading: keyof ConnectMessages,
  advice: keyof ConnectMessages,
): Promise<Response> => {
  c.set("refused", status === 404 ? "not_found" : "invalid_request");
  const messages = getConnectMessages(c);
  const page = noticePage(messages[heading] as string, messages[advice] as string);
  // Of these errors, only the one with status 402 occurs for a valid request, so only its page keeps the query in the language links.
  return renderConnectPage(c, status, { ...page, ...(status === 402 && { preservesQuery: true }) });
};

interface OpenedRequest {
  readonly view: ConnectView;
  readonly session: Session | null;
  /** The kind of account that the user chose to sign in to. */
  readonly realm: Realm;
}

/** Shows the error with a link back to the client. Callers must have checked that the redirect URI is registered. */
const renderOAuthError = (
  c: Context<AppEnv>,
  { redirectUri, state }: ConnectionRequest,
  { error, detail }: { readonly error: OAuthError; readonly detail: string },
): Promise<Response> => {
  c.set("refused", "invalid_request");
  const messages = getConnectMessages(c);
  const target = addQueryParameters(redirectUri, { error, state, iss: getOAuthUrls(c).issuer });
  const details = (
    <>
      <p class="small">
        {sheetMessages[getPageLanguage(c)].forDevelopers} <code>{error}</code>: {detail}
      </p>
      <ReturnLink messages={messages} host={parseRedirectUri(redirectUri)?.host ?? ""} target={target} />
    </>
  );
  return renderConnectPage(c, 400, { ...noticePage(messages.broken, messages.brokenAdvice, details), preservesQuery: true });
};

const getRequestSearch = (c: Context<AppEnv>): string => {
  const query = new URLSearchParams(new URL(c.req.url).search);
  query.delete("outcome");
  return `?${query}`;
};

const openConnectRequest = async (c: Context<AppEnv>): Promise<OpenedRequest | Response> => {
  const { services } = c.var;
  const { resource } = getOAuthUrls(c);
  const parsed = parseAuthorizationRequest(c.req.queries(), resource);
  const client = parsed === null ? null : await resolveOAuthClient(services, parsed.clientId);
  if (parsed === null || client === null) return renderConnectNotice(c, 400, "broken", "unknownAdvice");
  const [first, ...others] = client.redirectUris;
  const canBeOmitted = first !== undefined && others.length === 0 && parseRedirectUri(first)?.kind !== "loopback";
  const redirectUri = parsed.redirectUri ?? (canBeOmitted ? first : null);
  if (redirectUri === null || !isRegisteredRedirectUri(client.redirectUris, redirectUri))
    return renderConnectNotice(c, 400, "broken", "unknownAdvice");
  const { id, name, host } = client;
  const request = { client: { id, name, host }, redirectUri, state: parsed.state, challenge: parsed.codeChallenge };
  if (parsed.fault !== null) return renderOAuthError(c, request, parsed.fault);
  const session = await findPageSession(c);
  if (session instanceof Response) return session;
  const deniedUrl = addQueryParameters(redirectUri, { error: "access_denied", state: parsed.state, iss: getOAuthUrls(c).issuer });
  const view = { request, deniedUrl, search: getRequestSearch(c), language: getPageLanguage(c), messages: getConnectMessages(c) };
  return { view, session, realm: c.req.query("as") === "business" ? "business" : "consumer" };
};

const redirectToConnect = (c: Context<AppEnv>, addedQuery: Readonly<Record<string, string>> = {}): Response => {
  const query = new URLSearchParams(getRequestSearch(c));
  for (const [name, value] of Object.entries(addedQuery)) query.set(name, value);
  return c.redirect(`/oauth/authorize?${query}`, 303);
};

const isBusinessInactive = (session: Session): boolean => session.realm === "business" && !authorizeWrite(session.business.status).ok;

const renderConnect = async (c: Context<AppEnv>): Promise<Response> => {
  const opened = await openConnectRequest(c);
  if (opened instanceof Response) return opened;
  const { services } = c.var;
  const { view, session } = opened;
  if (session === null) {
    const invited = await findAnyPageSession(c);
    if (invited instanceof Response) return invited;
    if (invited !== null) return renderConnectPage(c, 200, invitedPage(view));
    const step = await findCodeStep(c, opened.realm, pendingConnectCookie);
    return renderConnectPage(c, 200, step === null ? emailStepPage(view) : codeStepPage(view, step));
  }
  if (isBusinessInactive(session)) return renderConnectNotice(c, 402, "inactive", "inactiveAdvice");
  const [{ email }, sealedRequest, isConnected, tokens] = await Promise.all([
    getSignedInUser(services, session),
    sealConnectionRequest(services, session, view.request),
    isClientConnected(services, session, view.request),
    listAgentTokens(services, session),
  ]);
  // For a business, the list includes the tokens of all members.
  const ownTokens = tokens.filter(({ principalId }) => principalId === session.userId);
  const tokensAtLimit = ownTokens.length < maxActiveTokens ? [] : ownTokens;
  return renderConnectPage(
    c,
    200,
    decisionStepPage(view, {
      session,
      email,
      sealedRequest,
      isConnected,
      tokensAtLimit,
      now: services.clock(),
    }),
  );
};

type ConnectFormRequest = FormRequest<OpenedRequest>;

const connectAction = createFormHandlerFactory(openConnectRequest);

const handleSendCode = async (c: Context<AppEnv>, { form, view }: ConnectFormRequest): Promise<Response> => {
  const email = trimTypedAddress(form.get("email") ?? "");
  const realm = form.get("as") === "business" ? "business" : "consumer";
  if (!isEmailAddress(email))
    return renderConnectPage(c, 400, emailStepPage(view, view.messages.badAddress, cutText(email, maxTypedEmailLength)));
  await startEmailSignIn(c, { email, realm, language: view.language, next: null }, pendingConnectCookie);
  return redirectToConnect(c, { as: realm });
};

/** Sends another code to the same address if the limits for sign-in codes allow it. */
const handleNewCode = async (c: Context<AppEnv>, { view, realm }: ConnectFormRequest): Promise<Response> => {
  const email = await findPendingSignInEmail(c, pendingConnectCookie);
  if (email === null) return redirectToConnect(c);
  await startEmailSignIn(c, { email, realm, language: view.language, next: null }, pendingConnectCookie);
  return redirectToConnect(c, { outcome: "sent" });
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, view, realm }: ConnectFormRequest): Promise<Response> => {
  const signIn = await completeEmailSignIn(c, form, realm, pendingConnectCookie);
  if (signIn.outcome !== "malformed") return redirectToConnect(c, signIn.outcome === "wrong" ? { outcome: "failed" } : {});
  return renderConnectPage(c, 400, codeStepPage(view, { email: signIn.email, error: sheetMessages[view.language].badCode }));
};

const handleChangeEmail = (c: Context<AppEnv>): Response => {
  clearPendingSignIn(c, pendingConnectCookie);
  return redirectToConnect(c);
};

const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  await signOutBrowser(c);
  return redirectToConnect(c);
};

/** Revokes one of the user's tokens, so that the user is below the token limit. */
const handleEndToken = async (c: Context<AppEnv>, { session, form }: ConnectFormRequest): Promise<Response> => {
  if (session === null) return redirectToConnect(c);
  if (isBusinessInactive(session)) return renderConnectNotice(c, 402, "inactive", "inactiveAdvice");
  // Refusals are ignored, because a token that was already revoked doesn't count toward the limit.
  await revokeAgentToken(c.var.services, session, form.get("token_id") ?? "");
  return redirectToConnect(c);
};

/**
 * Sends the browser to the client with the result. If `form-action` allows it, responds with a redirect. Otherwise, responds with a page
 * whose `Refresh` header leads to the client.
 */
const redirectToClient = async (
  c: Context<AppEnv>,
  { redirectUri, state }: ConnectionRequest,
  result: { code: string } | { error: OAuthError },
) => {
  const target = addQueryParameters(redirectUri, { ...result, state, iss: getOAuthUrls(c).issuer });
  if (getFormTargetOrigin(redirectUri) !== undefined) return c.redirect(target, 303);
  c.header("Refresh", `0; url=${target}`);
  const host = parseRedirectUri(redirectUri)?.host ?? "";
  return renderConnectPage(c, 200, returningPage(getConnectMessages(c), host, target, "code" in result));
};

const handleDecision = async (c: Context<AppEnv>): Promise<Response> => {
  const { services } = c.var;
  const form = await parseRateLimitedForm(c, "OAUTH_AUTHORIZE_PER_IP");
  if (form instanceof Response) return form;
  const decision = form.get("decision") ?? "";
  if (!["deny", "allow", "replace"].includes(decision)) return renderCrossSiteBlocked(c);
  const session = await findPageSession(c);
  if (session instanceof Response) return session;
  // The decision applies to the request that was shown on the page. The current URL could contain a different one.
  const pending = session === null ? null : await openConnectionRequest(services, session, form.get("request") ?? "");
  if (session === null || pending === null) return renderConnectNotice(c, 400, "stale", "staleAdvice");
  if (decision === "deny") return redirectToClient(c, pending, { error: "access_denied" });
  if (isBusinessInactive(session)) return renderConnectNotice(c, 402, "inactive", "inactiveAdvice");
  const limited = await checkAccountLimit(c, "CONNECT_PER_PRINCIPAL", session.userId);
  if (limited !== null) return limited;
  // Saved in the background, because the first shard may not respond and the person should not wait for it.
  services.waitUntil(() => saveClientDocument(services, pending.client.id));
  const code = await authorizeConnection(services, session, pending, { replaces: decision === "replace", language: getPageLanguage(c) });
  return code === null ? renderConnectNotice(c, 409, "answered", "answeredAdvice") : redirectToClient(c, pending, { code });
};

const renderEndConnection = async (c: Context<AppEnv>): Promise<Response> => {
  const id = c.req.param("token_id") ?? "";
  const found = await findConnectionByLink(c.var.services, id, c.req.query("t") ?? "");
  if (found === null) return renderConnectNotice(c, 404, "badLink", "badLinkAdvice");
  const { connection } = found;
  const view = { connection, messages: getConnectMessages(c), language: getPageLanguage(c) };
  const isLive = connection?.isLive === true;
  return renderConnectPage(c, 200, isLive ? endConnectionPage(view, `/oauth/end/${id}${getRequestSearch(c)}`) : alreadyEndedPage(view));
};

/** The token of the emailed link authorizes the request, so the form's origin is not checked. */
const handleEndConnection = async (c: Context<AppEnv>): Promise<Response> => {
  const [id, token] = [c.req.param("token_id") ?? "", c.req.query("t") ?? ""];
  const found = await findConnectionByLink(c.var.services, id, token);
  if (found === null || !(await revokeTokenByLink(c.var.services, id, token)))
    return renderConnectNotice(c, 404, "badLink", "badLinkAdvice");
  const { connection } = found;
  const view = { connection, messages: getConnectMessages(c), language: getPageLanguage(c) };
  return renderConnectPage(c, 200, connection?.isLive === true ? endedPage(view) : alreadyEndedPage(view));
};

export const registerConnectRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  pages.use("/authorize/*", allowOpener);
  pages.use("/end/*", allowOpener);
  pages.get("/authorize", limitPageByAddress("OAUTH_AUTHORIZE_PER_IP"), renderConnect);
  pages.get("/authorize/:step", (c) => redirectToConnect(c)); // if a POST returned the page, its language links lead here
  pages.post("/authorize/email", connectAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.post("/authorize/new-code", connectAction("AUTH_REQUEST_PER_IP", handleNewCode));
  pages.post("/authorize/code", connectAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/authorize/other-address", connectAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.post("/authorize/sign-out", connectAction("AUTH_VERIFY_PER_IP", handleSignOut));
  pages.post("/authorize/end-one", connectAction("OAUTH_AUTHORIZE_PER_IP", handleEndToken));
  pages.post("/authorize/decide", handleDecision);
  pages.get("/end/:token_id", limitPageByAddress("REVOKE_LINK_PER_IP"), renderEndConnection);
  pages.post("/end/:token_id", limitPageByAddress("REVOKE_LINK_PER_IP"), handleEndConnection);
  pages.onError(handlePageError);
  app.route("/oauth", pages);
};
