// {app_url}/oauth/authorize: a person is asked whether an assistant may be connected. Each step is a plain form answered by a redirect to
// the same address; only the decision leads elsewhere, to an address that the program has registered. What is wrong with a request is told
// here and never by a redirect, so that nobody is sent anywhere by a link alone.
import { Hono, type Context } from "hono";
import { askedOf, type OAuthError } from "../../../core/agents/authorization.ts";
import { maxLiveTokens } from "../../../core/agents/token.ts";
import { isRegistered, redirectUriOf, withAnswer } from "../../../core/agents/redirect-uri.ts";
import { mayWrite } from "../../../core/access/entitlement.ts";
import type { Realm, Session } from "../../../core/access/session.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { oauthNames } from "../../http/oauth-names.ts";
import { leaveSession, sessionToken } from "../../http/session-guards.ts";
import { sessionOf, userOf } from "../../operations/access/sign-in.ts";
import { allowConnection, isConnected, openRequest, sealRequest, type ConnectionRequest } from "../../operations/agents/connect.ts";
import { isEndLink } from "../../operations/agents/connection-mail.ts";
import { endByLink } from "../../operations/agents/exchange.ts";
import { keepClient, oauthClientOf } from "../../operations/agents/oauth-clients.ts";
import { endToken, listTokens } from "../../operations/agents/tokens.ts";
import { maxMailbox } from "../shared/forms.tsx";
import { connectWords, type ConnectWords } from "../shared/i18n/connect.ts";
import { keepsOpener, languageOf, pageAnswer, type Page } from "../shared/layout.tsx";
import { askedAddress, forgetAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { foreignFormPage, noticePage, onPageFault } from "../shared/notices.tsx";
import { postedForm, posting, tooOften, uncrowded, type Sent } from "../shared/own-form.ts";
import { BackLink, codeStep, decideStep, emailStep, endStep, formTarget, returningStep, type ConnectView } from "./views.tsx";

const askedCookie = "svc_connect";

const wordsOf = (c: Context<Api>): ConnectWords => connectWords[languageOf(c)];

const answer = (c: Context<Api>, status: 200 | 400 | 402 | 404 | 409, said: Page): Promise<Response> =>
  pageAnswer(c, status, () => said, languageOf(c));

const notice = (
  c: Context<Api>,
  status: 400 | 402 | 404 | 409,
  heading: keyof ConnectWords,
  advice: keyof ConnectWords,
): Promise<Response> => {
  c.set("refused", status === 404 ? "not_found" : "invalid_request");
  const words = wordsOf(c);
  return answer(c, status, noticePage(words[heading] as string, words[advice] as string));
};

/** What is asked, and who answers. */
interface Opened {
  readonly view: ConnectView;
  readonly session: Session | null;
  /** Whose records the person chose before signing in. */
  readonly as: Realm;
}

/** With a link back only to an address that the program has registered; and no code of ours in it. */
const faulty = (
  c: Context<Api>,
  { redirectUri, state }: ConnectionRequest,
  fault: { readonly error: OAuthError; readonly detail: string },
): Promise<Response> => {
  c.set("refused", "invalid_request");
  const words = wordsOf(c);
  const target = withAnswer(redirectUri, { error: fault.error, state, iss: oauthNames(c).issuer });
  const more = (
    <>
      <p class="quiet">
        {words.forDevelopers} <code>{fault.error}</code>: {fault.detail}
      </p>
      <BackLink words={words} host={redirectUriOf(redirectUri)?.host ?? ""} target={target} />
    </>
  );
  return answer(c, 400, noticePage(words.broken, words.brokenAdvice, more));
};

const searchOf = (c: Context<Api>): string => {
  const query = new URLSearchParams(new URL(c.req.url).search);
  query.delete("answer");
  return `?${query}`;
};

const open = async (c: Context<Api>): Promise<Opened | Response> => {
  const { services } = c.var;
  const { resource } = oauthNames(c);
  const asked = askedOf(c.req.queries(), resource);
  const client = asked === null ? null : await oauthClientOf(services, asked.clientId);
  if (asked === null || client === null) return notice(c, 400, "broken", "unknownAdvice");
  const [only, ...others] = client.redirectUris;
  const isOnlyOne = only !== undefined && others.length === 0 && redirectUriOf(only)?.kind !== "loopback";
  const redirectUri = asked.redirectUri ?? (isOnlyOne ? only : null);
  if (redirectUri === null || !isRegistered(client.redirectUris, redirectUri)) return notice(c, 400, "broken", "unknownAdvice");
  const { id, name, host } = client;
  const request = { client: { id, name, host }, redirectUri, state: asked.state, challenge: asked.challenge };
  if (asked.fault !== null) return faulty(c, request, asked.fault);
  const session = await sessionOf(services, sessionToken(c));
  const view = { request, search: searchOf(c), language: languageOf(c), words: wordsOf(c) };
  return { view, session, as: c.req.query("as") === "business" ? "business" : "consumer" };
};

const again = (c: Context<Api>, more: Readonly<Record<string, string>> = {}): Response => {
  const query = new URLSearchParams(searchOf(c));
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  return c.redirect(`/oauth/authorize?${query}`, 303);
};

const isInactive = (session: Session): boolean => session.realm === "business" && !mayWrite(session.business.status).ok;

const show = async (c: Context<Api>): Promise<Response> => {
  const opened = await open(c);
  if (opened instanceof Response) return opened;
  const { services } = c.var;
  const { view, session } = opened;
  if (session === null) {
    const email = await askedAddress(c, askedCookie);
    if (email === null) return answer(c, 200, emailStep(view));
    return answer(c, 200, codeStep(view, email, c.req.query("answer") === "failed" ? wordsOf(c).wrongCode : undefined));
  }
  if (isInactive(session)) return notice(c, 402, "inactive", "inactiveAdvice");
  const [{ email: address }, sealed, again, tokens] = await Promise.all([
    userOf(services, session),
    sealRequest(services, session, view.request),
    isConnected(services, session, view.request),
    listTokens(services, session),
  ]);
  const own = tokens.filter(({ principalId }) => principalId === session.userId); // a business's list has those of everybody
  const full = own.length < maxLiveTokens ? [] : own;
  return answer(c, 200, decideStep(view, { session, address, sealed, again, full, now: services.clock() }));
};

type Posted = Sent<Opened>;

const acting = posting(open);

const askForCode = async (c: Context<Api>, { form, view }: Posted): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  const realm = form.get("as") === "business" ? "business" : "consumer";
  if (!isMailbox(email)) return answer(c, 400, emailStep(view, view.words.badAddress, email.slice(0, maxMailbox)));
  await mailCode(c, { email, realm, language: view.language }, askedCookie);
  return again(c, { as: realm });
};

const giveCode = async (c: Context<Api>, { form, view, as }: Posted): Promise<Response> => {
  const taken = await takeCode(c, form, as, askedCookie);
  if (taken.outcome !== "malformed") return again(c, taken.outcome === "wrong" ? { answer: "failed" } : {});
  return answer(c, 400, codeStep(view, taken.email, view.words.badCode));
};

const otherAddress = (c: Context<Api>): Response => {
  forgetAsked(c, askedCookie);
  return again(c);
};

const leave = async (c: Context<Api>): Promise<Response> => {
  await leaveSession(c);
  return again(c);
};

/** Makes room: one of the person's own tokens ends. */
const endOne = async (c: Context<Api>, { session, form }: Posted): Promise<Response> => {
  if (session === null) return again(c);
  if (isInactive(session)) return notice(c, 402, "inactive", "inactiveAdvice");
  await endToken(c.var.services, session, form.get("token_id") ?? ""); // one that had ended already leaves room as well
  return again(c);
};

/** The answer to the program, by way of the browser. */
const goBack = async (c: Context<Api>, { redirectUri, state }: ConnectionRequest, result: { code: string } | { error: OAuthError }) => {
  const target = withAnswer(redirectUri, { ...result, state, iss: oauthNames(c).issuer });
  if (formTarget(redirectUri) !== undefined) return c.redirect(target, 303);
  c.header("Refresh", `0; url=${target}`);
  const host = redirectUriOf(redirectUri)?.host ?? "";
  return answer(c, 200, returningStep(wordsOf(c), host, target, "code" in result));
};

const decide = async (c: Context<Api>): Promise<Response> => {
  const { services } = c.var;
  const form = await postedForm(c, "OAUTH_AUTHORIZE_PER_IP");
  if (form instanceof Response) return form;
  const decision = form.get("decision") ?? "";
  if (!["deny", "allow", "replace"].includes(decision)) return foreignFormPage(c);
  const session = await sessionOf(services, sessionToken(c));
  // What the page showed counts, not what stands in the address now.
  const pending = session === null ? null : await openRequest(services, session, form.get("request") ?? "");
  if (session === null || pending === null) return notice(c, 400, "stale", "staleAdvice");
  if (decision === "deny") return goBack(c, pending, { error: "access_denied" });
  if (isInactive(session)) return notice(c, 402, "inactive", "inactiveAdvice");
  const busy = await tooOften(c, "CONNECT_PER_PRINCIPAL", session.userId);
  if (busy !== null) return busy;
  await keepClient(services, pending.client.id);
  const code = await allowConnection(services, session, pending, { replaces: decision === "replace", language: languageOf(c) });
  return code === null ? notice(c, 409, "answered", "answeredAdvice") : goBack(c, pending, { code });
};

const askToEnd = async (c: Context<Api>): Promise<Response> => {
  const [id, token] = [c.req.param("token_id") ?? "", c.req.query("t") ?? ""];
  if (!(await isEndLink(c.var.services, id, token))) return notice(c, 404, "badLink", "badLinkAdvice");
  return answer(c, 200, endStep(wordsOf(c), `/oauth/end/${id}${searchOf(c)}`));
};

/** Whoever has the mail may end it; the mail is the proof, as the form's origin is not. */
const end = async (c: Context<Api>): Promise<Response> => {
  const isEnded = await endByLink(c.var.services, c.req.param("token_id") ?? "", c.req.query("t") ?? "");
  if (!isEnded) return notice(c, 404, "badLink", "badLinkAdvice");
  const words = wordsOf(c);
  return answer(c, 200, noticePage(words.ended, words.endedAdvice));
};

export const mountConnect = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  pages.use("/authorize/*", keepsOpener);
  pages.use("/end/*", keepsOpener);
  pages.get("/authorize", uncrowded("OAUTH_AUTHORIZE_PER_IP"), show);
  pages.post("/authorize/email", acting("AUTH_REQUEST_PER_IP", askForCode));
  pages.post("/authorize/code", acting("AUTH_VERIFY_PER_IP", giveCode));
  pages.post("/authorize/other-address", acting("AUTH_VERIFY_PER_IP", otherAddress));
  pages.post("/authorize/sign-out", acting("AUTH_VERIFY_PER_IP", leave));
  pages.post("/authorize/end-one", acting("OAUTH_AUTHORIZE_PER_IP", endOne));
  pages.post("/authorize/decide", decide);
  pages.get("/end/:token_id", uncrowded("REVOKE_LINK_PER_IP"), askToEnd);
  pages.post("/end/:token_id", uncrowded("REVOKE_LINK_PER_IP"), end);
  pages.onError(onPageFault);
  app.route("/oauth", pages);
};
