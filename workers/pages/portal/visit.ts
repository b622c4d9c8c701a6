// What stands before every page of the portal: who is signed in, what they and their business may do just now, and that a form is one
// of ours. A form carries a token made from the session and its address, which no other page can know.
import type { Context } from "hono";
import { mayRead, mayWrite } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { isSameSecret } from "../../../core/hash.ts";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { ok } from "../../../core/result.ts";
import type { Api } from "../../http/context.ts";
import { limited } from "../../http/guards.ts";
import { sessionToken } from "../../http/session-guards.ts";
import { statuses } from "../../http/statuses.ts";
import type { LimitName } from "../../limits.ts";
import { unpaidSince } from "../../operations/billing/checkout.ts";
import { listSeats } from "../../operations/access/seats.ts";
import { sessionOf, userOf } from "../../operations/access/sign-in.ts";
import type { Services } from "../../services.ts";
import { readForm } from "../shared/form-body.ts";
import { portalWords } from "../shared/i18n/portal.ts";
import { pageAnswer, type Page } from "../shared/layout.tsx";
import { busyPage, foreignFormPage } from "../shared/notices.tsx";
import { isOwnForm } from "../shared/own-form.ts";
import { settingOf } from "../shared/parts.tsx";
import { addressIn, closedPage, forbiddenPage, modeOf, nothingPage, type PortalView } from "./parts.tsx";

/** A request of a member of a business. */
export interface Visit {
  readonly c: Context<Api>;
  readonly services: Services;
  readonly member: MemberSession;
  readonly view: PortalView;
}

/** A form of theirs. */
export interface Posted extends Visit {
  readonly form: ReadonlyMap<string, string>;
}

export const language = "en"; // the portal's words are in one language so far

const formToken = ({ vault }: Services, { tokenHash }: MemberSession, path: string): Promise<string> =>
  vault.linkToken(`portal form\n${tokenHash}\n${path}`);

/** Counts against a limit; the page that says to wait when there were too many. */
export const crowded = async (c: Context<Api>, name: LimitName, of: string): Promise<Response | null> => {
  const refused = limited(c, name, await c.var.services.takeExactly(name, of));
  return refused === null ? null : busyPage(c, refused.headers.get("retry-after") ?? "60");
};

const visitOf = async (c: Context<Api>): Promise<Visit | Response | null> => {
  const { services } = c.var;
  const member = await sessionOf(services, sessionToken(c));
  if (member?.realm !== "business") return null;
  c.set("caller", { kind: "session", id: member.userId, businessId: member.business.id });
  const refused = await crowded(c, "SESSION", member.userId);
  if (refused !== null) return refused;
  const [{ email }, seats] = await Promise.all([userOf(services, member), member.mayHaveMore ? listSeats(services, member) : []]);
  const view: PortalView = {
    setting: settingOf(language),
    words: portalWords[language],
    member,
    email,
    seats,
    path: c.req.path,
    environment: modeOf(c.req.path),
    at: (path) => addressIn(modeOf(c.req.path), path),
    done: c.req.query("done") ?? null,
    now: services.clock(),
    formToken: (path) => formToken(services, member, path),
  };
  return { c, services, member, view };
};

export const answer = ({ c }: Pick<Visit, "c">, page: Page, code?: RefusalCode): Promise<Response> => {
  if (code !== undefined) c.set("refused", code);
  return pageAnswer(c, code === undefined ? 200 : statuses[code], () => page, language);
};

/** The same for what is not there and for what is another business's. */
export const nothing = (visit: Visit): Promise<Response> => answer(visit, nothingPage(visit.view), "not_found");

/** To a page that can be loaded again. `done` names what happened there. */
export const to = ({ c, view }: Visit, path: string, done?: string): Response => {
  const address = view.at(path);
  return c.redirect(done === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}done=${done}`, 303);
};

/** Whose records a page reads: the business's live ones, or those of its sandbox. */
export const readerOf = ({ member, view }: Visit) => ({ business: member.business, environment: view.environment });

const closed = async (visit: Visit, code: RefusalCode): Promise<Response> =>
  answer(visit, closedPage(visit.view, await unpaidSince(visit.services, visit.member)), code);

/** A page of somebody who is signed in; whoever is not signs in first and comes back here. */
export const reading =
  (show: (visit: Visit) => Promise<Response> | Response, evenClosed = false) =>
  async (c: Context<Api>): Promise<Response> => {
    const visit = await visitOf(c);
    if (visit === null)
      return c.redirect(c.req.path === "/portal" ? "/portal/sign-in" : `/portal/sign-in?next=${encodeURIComponent(c.req.path)}`, 303);
    if (visit instanceof Response) return visit;
    const readable = mayRead(visit.member.business.status);
    return readable.ok || evenClosed ? show(visit) : closed(visit, readable.code);
  };

interface Needs {
  /** Only an owner may. */
  readonly owner?: true;
  /** It changes nothing of the business, and is a form because what it shows is entered in the audit chain, or because it calls somebody. */
  readonly reads?: true;
  /** It leads away from the business, and so from one of which nothing is shown. */
  readonly evenClosed?: true;
}

export const acting =
  (needs: Needs, act: (visit: Posted) => Promise<Response> | Response) =>
  async (c: Context<Api>): Promise<Response> => {
    const form = await readForm(c.req.raw);
    if (form === null || !isOwnForm(c, c.var.services.config.appUrl)) return foreignFormPage(c);
    const visit = await visitOf(c);
    if (visit === null) return c.redirect("/portal/sign-in", 303);
    if (visit instanceof Response) return visit;
    if (!isSameSecret(form.get("form") ?? "", await visit.view.formToken(c.req.path))) return foreignFormPage(c);
    const { status } = visit.member.business;
    const readable = mayRead(status);
    if (!readable.ok && needs.evenClosed !== true) return closed(visit, readable.code);
    const allowed = needs.reads ? ok(null) : mayWrite(status);
    if (!allowed.ok) return answer(visit, forbiddenPage(visit.view, visit.view.words.pastDue), allowed.code);
    if (needs.owner && visit.member.role !== "owner")
      return answer(visit, forbiddenPage(visit.view, visit.view.words.ownersOnly), "owner_required");
    return act({ ...visit, form });
  };

/** What a form was refused for: of an input, by its name on the wire, or of the whole. */
export interface Fault {
  readonly code: RefusalCode;
  readonly field: string | null;
  readonly text: string;
}

export const faultOf = ({ code, detail }: { readonly code: RefusalCode; readonly detail?: string | undefined }): Fault => {
  const text = detail ?? refusals[code];
  const named = /^([a-z_]+): (.+)$/s.exec(text);
  if (named === null) return { code, field: null, text };
  const [, field = "", rule = ""] = named;
  return { code, field, text: `${rule.charAt(0).toUpperCase()}${rule.slice(1)}` };
};
