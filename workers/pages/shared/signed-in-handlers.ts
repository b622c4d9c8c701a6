// Handles the pages and forms of the portal and the app for people who are signed in. `SignedInOptions` describes what depends on the kind
// of session.
import type { Context } from "hono";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { AnySession } from "../../../core/access/session.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { callerFromSession, enforceSessionLimits } from "../../http/guards/session.ts";
import { statusByCode } from "../../http/statuses.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import type { Services } from "../../platform/platform.ts";
import { findAnyPageSession, parseSameOriginForm, type FormRequest } from "./form-handlers.ts";
import type { Language } from "../../../core/language.ts";
import { renderPage, type Page } from "./layout.tsx";
import { renderAccountRateLimited, renderOutdatedForm } from "./notice-pages.tsx";

/** The data that every signed-in page and form gets. */
export interface SignedInRequest {
  readonly c: Context<AppEnv>;
  readonly services: Services;
  /** The verified email address. */
  readonly email: string;
  readonly now: Instant;
  /** The token of a form that is posted to `path`. It is derived from the session and the path, so other sites cannot know it. */
  readonly formToken: (path: string) => Promise<string>;
  readonly isFormToken: (path: string, token: string) => Promise<boolean>;
}

type SessionRealm = AnySession["realm"];
type SessionOf<R extends SessionRealm> = Extract<AnySession, { readonly realm: R }>;

interface SignedInOptions<R extends SessionRealm, Extra extends object> {
  readonly realm: R;
  /** A prefix of the text that form tokens are derived from. With it, the tokens of one realm are invalid in the other realms. */
  readonly formTokenPrefix: string;
  /** Set if the session lookup must also count the open deadlines of an environment, for pages that show the number. */
  readonly getDeadlinesEnvironment?: (c: Context<AppEnv>) => Environment;
  readonly load: (c: Context<AppEnv>, session: SessionOf<R>, method: "page" | "action") => Promise<Extra>;
  /** Responds to a page request without a session of this realm. `other` is the browser's session of another realm, if it has one. */
  readonly renderSignedOut: (c: Context<AppEnv>, other: AnySession | null) => Promise<Response> | Response;
  /** The path that a form without a session redirects to. */
  readonly signedOutPath: string;
  /** The start page of a signed-in person. */
  readonly homePath: string;
}

export const createSignedInHandlers = <R extends SessionRealm, Extra extends object>(options: SignedInOptions<R, Extra>) => {
  type Loaded = SignedInRequest & Extra;

  const toFormPurpose = ({ tokenHash }: Pick<AnySession, "tokenHash">, path: string): string =>
    `${options.formTokenPrefix}\n${tokenHash}\n${path}`;

  const loadRequest = async (c: Context<AppEnv>, method: "page" | "action"): Promise<Loaded | Response> => {
    const { services } = c.var;
    const session = await findAnyPageSession(c, options.getDeadlinesEnvironment?.(c));
    if (session instanceof Response) return session;
    if (session?.realm !== options.realm)
      return method === "page" ? options.renderSignedOut(c, session) : c.redirect(options.signedOutPath, 303);
    c.set("caller", callerFromSession(session));
    const refused = await enforceSessionLimits(c, session, method === "action");
    if (refused !== null) return renderAccountRateLimited(c, refused);
    const [{ email }, extra] = await Promise.all([getSignedInUser(services, session), options.load(c, session as SessionOf<R>, method)]);
    const formToken = (path: string) => services.vault.linkToken(toFormPurpose(session, path));
    const isFormToken = (path: string, token: string) => services.vault.isLinkToken(toFormPurpose(session, path), token);
    return { c, services, email, now: services.clock(), formToken, isFormToken, ...extra };
  };

  return {
    page:
      (show: (request: Loaded) => Promise<Response> | Response) =>
      async (c: Context<AppEnv>): Promise<Response> => {
        const request = await loadRequest(c, "page");
        return request instanceof Response ? request : show(request);
      },
    /** Handles a form. In addition to the checks for pages, refuses forms from other sites and forms without the right token. */
    action:
      (act: (request: FormRequest<Loaded>) => Promise<Response> | Response) =>
      async (c: Context<AppEnv>): Promise<Response> => {
        const form = await parseSameOriginForm(c);
        if (form instanceof Response) return form;
        const request = await loadRequest(c, "action");
        if (request instanceof Response) return request;
        if (!(await request.isFormToken(c.req.path, form.get("form") ?? ""))) return renderOutdatedForm(c, options.homePath);
        return act({ ...request, form });
      },
  };
};

/**
 * Renders a page in the given language. If there is a refusal code, also sets the HTTP status for that code and records the code for the
 * log.
 */
export const renderPageOrRefusal = (c: Context<AppEnv>, page: Page, language: Language, code?: RefusalCode): Promise<Response> => {
  if (code !== undefined) c.set("refused", code);
  return renderPage(c, code === undefined ? 200 : statusByCode[code], () => page, language);
};
