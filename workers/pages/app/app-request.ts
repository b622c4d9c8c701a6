// Handles requests from people who are signed in to the app: pages, forms, one-time messages and rendering.
import { deleteCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import type { Person } from "../../../core/access/principal.ts";
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import { secondMs, type Instant } from "../../../core/time.ts";
import type { Json } from "../../../core/canonical-json.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { LimitName } from "../../limits.ts";
import { openNote, sealNote } from "../../operations/access/sealed-notes.ts";
import { appMessages } from "../i18n/app.ts";
import { saveLanguage, getPageLanguage, type Page } from "../shared/layout.tsx";
import { checkAccountLimit, type FormFields } from "../shared/form-handlers.ts";
import { createSignedInHandlers, renderPageOrRefusal, type SignedInRequest } from "../shared/signed-in-handlers.ts";
import type { AppView, FlashMessage } from "./components.tsx";
import { appNoticePage } from "./page.tsx";
import { renderSignIn } from "./sign-in.tsx";

export interface AppRequest extends SignedInRequest, AppView {
  readonly session: ConsumerSession;
  readonly person: Person;
}

export interface AppFormRequest extends AppRequest {
  readonly form: FormFields;
}

const flashCookie = "svc_flash";
const flashMs = 60 * secondMs;

/** Stores a message, sealed for this person, that the next page shows once. */
export const setFlash = async ({ c, services, person }: AppRequest, flash: FlashMessage): Promise<void> => {
  const sealed = await sealNote(services, { name: "flash", owner: person.id }, flash as unknown as { [key: string]: Json }, flashMs);
  setCookie(c, flashCookie, sealed, { ...cookieOptions(c), maxAge: flashMs / secondMs });
};

/** Stores the message that the next page shows after a person has ended all consents with a business. */
export const setEndedFlash = (
  request: AppRequest,
  { count, isPending, date }: { readonly count: number; readonly isPending: boolean; readonly date: Instant },
): Promise<void> => {
  const key = isPending ? "endedPending" : count === 1 ? "endedOne" : "endedAll";
  return setFlash(request, { key, count, date });
};

const takeFlash = async (c: Context<AppEnv>, owner: string): Promise<FlashMessage | null> => {
  const sealed = findCookie(c, flashCookie);
  if (sealed === undefined) return null;
  deleteCookie(c, flashCookie, cookieOptions(c));
  return (await openNote<FlashMessage>(c.var.services, { name: "flash", owner }, sealed))?.content ?? null;
};

/** Counts an action against the person's limit. Returns the error page if the limit is reached, otherwise null. */
export const checkPersonLimit = ({ c, person }: AppRequest, name: LimitName): Promise<Response | null> =>
  checkAccountLimit(c, name, person.id);

const signedIn = createSignedInHandlers({
  realm: "consumer",
  formTokenPrefix: "form",
  load: async (c, session, method) => {
    const language = getPageLanguage(c);
    return {
      session,
      person: personFromSession(session),
      language,
      messages: appMessages[language],
      flash: method === "page" ? await takeFlash(c, session.userId) : null,
    };
  },
  renderSignedOut: (c) => renderSignIn(c, c.req.path),
  signedOutPath: "/app",
});

/** Handles a page of the app. Without a session, shows the sign-in form, which leads back to the page. */
export const authenticatedPage = (show: (request: AppRequest) => Promise<Response> | Response) => {
  const handlePage = signedIn.page(show);
  return (c: Context<AppEnv>): Promise<Response> => {
    saveLanguage(c);
    return handlePage(c);
  };
};

/** Handles a form of the app. Without a session, redirects to the app, which shows the sign-in form. */
export const authenticatedAction = (act: (request: AppFormRequest) => Promise<Response> | Response) => signedIn.action(act);

/**
 * Redirects a GET request for a form's action URL to the page with the form. Such requests occur if a POST responded with a page, because
 * the language links on that page lead to the action URL.
 */
export const redirectToForm =
  (path: string) =>
  (c: Context<AppEnv>): Response => {
    saveLanguage(c);
    return c.redirect(path, 303);
  };

export const renderAppPage = ({ c, language }: AppRequest, page: Page): Promise<Response> => renderPageOrRefusal(c, page, language);

export const renderRefusal = ({ c, language }: AppRequest, code: RefusalCode, page: Page): Promise<Response> =>
  renderPageOrRefusal(c, page, language, code);

/** Also shown for a different person's records, so that IDs cannot be probed. */
export const notFoundPage = (request: AppRequest, title: string, advice: string): Promise<Response> =>
  renderRefusal(request, "not_found", appNoticePage(request, title, advice));
