// What stands before every page of the app: who is signed in, in which language they read, and that a form is one of ours. A form of
// somebody who is signed in carries a token made from their session and its address, which no other page can know.
import { deleteCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import type { Person } from "../../../core/access/principal.ts";
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import { isEqualConstantTime } from "../../../core/hash.ts";
import { secondMs } from "../../../core/time.ts";
import type { Json } from "../../../core/canonical-json.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { getSessionToken } from "../../http/guards/session-cookie.ts";
import { callerFromSession } from "../../http/guards/session.ts";
import { statusByCode } from "../../http/statuses.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { LimitName } from "../../limits.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { openNote, sealNote } from "../../operations/access/sealed-notes.ts";
import type { Services } from "../../services.ts";
import { appMessages } from "../i18n/app.ts";
import { saveLanguage, getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { renderCrossSiteBlocked } from "../shared/notice-pages.tsx";
import { parseSameOriginForm, checkAccountLimit, type FormFields } from "../shared/form-handlers.ts";
import { appNoticePage, type AppView, type FlashMessage } from "./components.tsx";
import { renderSignIn } from "./sign-in.tsx";

/** A request of somebody who is signed in. */
export interface AppRequest {
  readonly c: Context<AppEnv>;
  readonly services: Services;
  readonly session: ConsumerSession;
  readonly person: Person;
  readonly view: AppView;
}

/** A form of theirs. */
export interface AppFormRequest extends AppRequest {
  readonly form: FormFields;
}

const flashCookie = "svc_flash";
const flashMs = 60 * secondMs;

/** Said once, on the next page. */
export const setFlash = async ({ c, services, person }: AppRequest, said: FlashMessage): Promise<void> => {
  const sealed = await sealNote(services, { name: "flash", owner: person.id }, said as unknown as { [key: string]: Json }, flashMs);
  setCookie(c, flashCookie, sealed, { ...cookieOptions(c), maxAge: flashMs / secondMs });
};

const takeFlash = async (c: Context<AppEnv>, owner: string): Promise<FlashMessage | null> => {
  const sealed = findCookie(c, flashCookie);
  if (sealed === undefined) return null;
  deleteCookie(c, flashCookie, cookieOptions(c));
  return (await openNote<FlashMessage>(c.var.services, { name: "flash", owner }, sealed))?.content ?? null;
};

/** Counts an act of the person's; the page that says to wait when there were too many. */
export const checkPersonLimit = ({ c, person }: AppRequest, name: LimitName): Promise<Response | null> =>
  checkAccountLimit(c, name, person.id);

const createFormToken = ({ vault }: Services, session: ConsumerSession, path: string): Promise<string> =>
  vault.linkToken(`form\n${session.tokenHash}\n${path}`);

const loadAppRequest = async (c: Context<AppEnv>, isReading: boolean): Promise<AppRequest | Response | null> => {
  const { services } = c.var;
  const session = await authenticateSession(services, getSessionToken(c));
  if (session?.realm !== "consumer") return null;
  c.set("caller", callerFromSession(session));
  const refused = await checkAccountLimit(c, "SESSION", session.userId);
  if (refused !== null) return refused;
  const language = getPageLanguage(c);
  const view: AppView = {
    language,
    messages: appMessages[language],
    email: (await getSignedInUser(services, session)).email,
    flash: isReading ? await takeFlash(c, session.userId) : null,
    now: services.clock(),
    formToken: (path) => createFormToken(services, session, path),
  };
  return { c, services, session, person: personFromSession(session), view };
};

/** A page of somebody who is signed in; of nobody else, the way in, which leads back here. */
export const authenticatedPage =
  (show: (visit: AppRequest) => Promise<Response>) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    saveLanguage(c);
    const visit = await loadAppRequest(c, true);
    if (visit === null) return renderSignIn(c, c.req.path);
    return visit instanceof Response ? visit : show(visit);
  };

/** Where a form is sent, for a link of the page it was answered with: to another language of the page that has the form. */
export const redirectToForm =
  (path: string) =>
  (c: Context<AppEnv>): Response => {
    saveLanguage(c);
    return c.redirect(path, 303);
  };

/** A form of somebody who is signed in. Who has been signed out meanwhile signs in and finds the page as it stands. */
export const authenticatedAction =
  (act: (visit: AppFormRequest) => Promise<Response>) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const form = await parseSameOriginForm(c);
    if (form instanceof Response) return form;
    const visit = await loadAppRequest(c, false);
    if (visit === null) return c.redirect("/app", 303);
    if (visit instanceof Response) return visit;
    const token = form.get("form") ?? "";
    if (!isEqualConstantTime(token, await visit.view.formToken(c.req.path))) return renderCrossSiteBlocked(c);
    return act({ ...visit, form });
  };

export const renderAppPage = (
  visit: AppRequest,
  status: 200 | 400 | 402 | 404 | 409 | 503,
  page: Page,
  code?: RefusalCode,
): Promise<Response> => {
  if (code !== undefined) visit.c.set("refused", code);
  return renderPage(visit.c, status, () => page, visit.view.language);
};

/** With the status of the refusal. */
export const renderRefusal = (visit: AppRequest, code: RefusalCode, page: Page): Promise<Response> =>
  renderAppPage(visit, statusByCode[code] as 404, page, code);

/** There is nothing under this address, or nothing of theirs. */
export const notFoundPage = (visit: AppRequest, title: string, advice: string): Promise<Response> =>
  renderRefusal(visit, "not_found", appNoticePage(visit.view, title, advice));
