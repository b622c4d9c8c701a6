// What stands before every page of the app: who is signed in, in which language they read, and that a form is one of ours. A form of
// somebody who is signed in carries a token made from their session and its address, which no other page can know.
import { deleteCookie, setCookie } from "hono/cookie";
import type { Context } from "hono";
import type { Person } from "../../../core/access/principal.ts";
import { personOf, type ConsumerSession } from "../../../core/access/session.ts";
import { isSameSecret } from "../../../core/hash.ts";
import { secondMs } from "../../../core/time.ts";
import type { Json } from "../../../core/canonical-json.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { sessionCaller, sessionToken } from "../../http/session-guards.ts";
import { statuses } from "../../http/statuses.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { LimitName } from "../../limits.ts";
import { sessionOf, userOf } from "../../operations/access/sign-in.ts";
import { openNote, sealNote } from "../../operations/access/sealed-notes.ts";
import type { Services } from "../../services.ts";
import { appWords } from "../shared/i18n/app.ts";
import { keepLanguage, languageOf, pageAnswer, type Page } from "../shared/layout.tsx";
import { foreignFormPage } from "../shared/notices.tsx";
import { ownForm, tooOften, type PageForm } from "../shared/own-form.ts";
import { appNotice, type AppView, type Flash } from "./parts.tsx";
import { signInPage } from "./sign-in.tsx";

/** A request of somebody who is signed in. */
export interface Visit {
  readonly c: Context<Api>;
  readonly services: Services;
  readonly session: ConsumerSession;
  readonly person: Person;
  readonly view: AppView;
}

/** A form of theirs. */
export interface Posted extends Visit {
  readonly form: PageForm;
}

const flashCookie = "svc_flash";
const flashMs = 60 * secondMs;

/** Said once, on the next page. */
export const flash = async ({ c, services, person }: Visit, said: Flash): Promise<void> => {
  const sealed = await sealNote(services, { name: "flash", owner: person.id }, said as unknown as { [key: string]: Json }, flashMs);
  setCookie(c, flashCookie, sealed, { ...cookieOptions(c), maxAge: flashMs / secondMs });
};

const takeFlash = async (c: Context<Api>, owner: string): Promise<Flash | null> => {
  const sealed = cookieOf(c, flashCookie);
  if (sealed === undefined) return null;
  deleteCookie(c, flashCookie, cookieOptions(c));
  return (await openNote<Flash>(c.var.services, { name: "flash", owner }, sealed))?.content ?? null;
};

/** Counts an act of the person's; the page that says to wait when there were too many. */
export const counted = ({ c, person }: Visit, name: LimitName): Promise<Response | null> => tooOften(c, name, person.id);

const formToken = ({ vault }: Services, session: ConsumerSession, path: string): Promise<string> =>
  vault.linkToken(`form\n${session.tokenHash}\n${path}`);

const visitOf = async (c: Context<Api>, isReading: boolean): Promise<Visit | Response | null> => {
  const { services } = c.var;
  const session = await sessionOf(services, sessionToken(c));
  if (session?.realm !== "consumer") return null;
  c.set("caller", sessionCaller(session));
  const refused = await tooOften(c, "SESSION", session.userId);
  if (refused !== null) return refused;
  const language = languageOf(c);
  const view: AppView = {
    language,
    words: appWords[language],
    email: (await userOf(services, session)).email,
    flash: isReading ? await takeFlash(c, session.userId) : null,
    now: services.clock(),
    formToken: (path) => formToken(services, session, path),
  };
  return { c, services, session, person: personOf(session), view };
};

/** A page of somebody who is signed in; of nobody else, the way in, which leads back here. */
export const reading =
  (show: (visit: Visit) => Promise<Response>) =>
  async (c: Context<Api>): Promise<Response> => {
    keepLanguage(c);
    const visit = await visitOf(c, true);
    if (visit === null) return signInPage(c, c.req.path);
    return visit instanceof Response ? visit : show(visit);
  };

/** Where a form is sent, for a link of the page it was answered with: to another language of the page that has the form. */
export const formOf =
  (path: string) =>
  (c: Context<Api>): Response => {
    keepLanguage(c);
    return c.redirect(path, 303);
  };

/** A form of somebody who is signed in. Who has been signed out meanwhile signs in and finds the page as it stands. */
export const acting =
  (act: (visit: Posted) => Promise<Response>) =>
  async (c: Context<Api>): Promise<Response> => {
    const form = await ownForm(c);
    if (form instanceof Response) return form;
    const visit = await visitOf(c, false);
    if (visit === null) return c.redirect("/app", 303);
    if (visit instanceof Response) return visit;
    const token = form.get("form") ?? "";
    if (!isSameSecret(token, await visit.view.formToken(c.req.path))) return foreignFormPage(c);
    return act({ ...visit, form });
  };

export const answer = (visit: Visit, status: 200 | 400 | 402 | 404 | 409 | 503, page: Page, code?: RefusalCode): Promise<Response> => {
  if (code !== undefined) visit.c.set("refused", code);
  return pageAnswer(visit.c, status, () => page, visit.view.language);
};

/** With the status of the refusal. */
export const refused = (visit: Visit, code: RefusalCode, page: Page): Promise<Response> => answer(visit, statuses[code] as 404, page, code);

/** There is nothing under this address, or nothing of theirs. */
export const nothingHere = (visit: Visit, title: string, advice: string): Promise<Response> =>
  refused(visit, "not_found", appNotice(visit.view, title, advice));
