// What stands before every page of the portal: who is signed in, what they and their business may do just now, and that a form is one
// of ours. A form carries a token made from the session and its address, which no other page can know.
import type { Context } from "hono";
import { mayRead, mayWrite, type Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { isSameSecret } from "../../../core/hash.ts";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import type { Refusal } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { sessionCaller, sessionToken } from "../../http/session-guards.ts";
import type { LimitName } from "../../limits.ts";
import { listSeats, type Seat } from "../../operations/access/seats.ts";
import { sessionOf, userOf } from "../../operations/access/sign-in.ts";
import type { Services } from "../../services.ts";
import { foreignFormPage } from "../shared/notices.tsx";
import { ownForm, tooOften, type PageForm } from "../shared/own-form.ts";
import { words } from "./parts.tsx";
import { closed, forbidden, nothing } from "./page.tsx";
import { addressIn, addressOf, modeOf } from "./paths.ts";

/** A request of a member of a business, and what the pages know of whoever reads them. */
export interface Visit {
  readonly c: Context<Api>;
  readonly services: Services;
  readonly member: MemberSession;
  /** The proven address. */
  readonly email: string;
  /** What that address acts for and is invited to, the business of these pages among it; not asked for where there is no more. */
  readonly seats: readonly Seat[];
  /** Which records the pages are of; the address says it. */
  readonly environment: Environment;
  readonly now: Instant;
  /** The address of a page of the portal in the same mode. */
  readonly at: (path: string) => string;
  readonly formToken: (path: string) => Promise<string>;
  /** What was sent. */
  readonly form?: PageForm;
}

/** A form of theirs. */
export interface Posted extends Visit {
  readonly form: PageForm;
}

type Handler<Of extends Visit> = (visit: Of) => Promise<Response> | Response;

const visitOf = async (c: Context<Api>): Promise<Visit | Response | null> => {
  const { services } = c.var;
  const member = await sessionOf(services, sessionToken(c));
  if (member?.realm !== "business") return null;
  c.set("caller", sessionCaller(member));
  const refused = await tooOften(c, "SESSION", member.userId);
  if (refused !== null) return refused;
  const [{ email }, seats] = await Promise.all([userOf(services, member), member.mayHaveMore ? listSeats(services, member) : []]);
  const environment = modeOf(c.req.path);
  return {
    c,
    services,
    member,
    email,
    seats,
    environment,
    now: services.clock(),
    at: (path) => addressIn(environment, path),
    formToken: (path) => services.vault.linkToken(`portal form\n${member.tokenHash}\n${path}`),
  };
};

/** To a page that can be loaded again. `done` names what happened there. */
export const to = ({ c, at }: Visit, path: string, done?: string): Response => {
  const address = at(path);
  return c.redirect(done === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}done=${done}`, 303);
};

/** Whose records a page reads: the business's live ones, or those of its sandbox. */
export const readerOf = ({ member, environment }: Visit) => ({ business: member.business, environment });

/** Of what the address names; an id that is none is what is not there. */
export const withId =
  <Id, Of extends Visit>(
    idOf: (text: string) => Id | null,
    handle: (visit: Of, id: Id) => Promise<Response> | Response,
    name = "id",
  ): Handler<Of> =>
  (visit) => {
    const id = idOf(visit.c.req.param(name) ?? "");
    return id === null ? nothing(visit) : handle(visit, id);
  };

/** A page of somebody who is signed in; whoever is not signs in first and comes back here. */
export const reading =
  (show: Handler<Visit>, evenClosed = false) =>
  async (c: Context<Api>): Promise<Response> => {
    const visit = await visitOf(c);
    if (visit === null) return c.redirect(addressOf("/portal/sign-in", { next: c.req.path === "/portal" ? null : c.req.path }), 303);
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
  /** Counted by the member, or by the business. */
  readonly memberLimit?: LimitName;
  readonly businessLimit?: LimitName;
}

export const acting =
  (needs: Needs, act: Handler<Posted>) =>
  async (c: Context<Api>): Promise<Response> => {
    const form = await ownForm(c);
    if (form instanceof Response) return form;
    const visit = await visitOf(c);
    if (visit === null) return c.redirect("/portal/sign-in", 303);
    if (visit instanceof Response) return visit;
    if (!isSameSecret(form.get("form") ?? "", await visit.formToken(c.req.path))) return foreignFormPage(c);
    const { member } = visit;
    const readable = mayRead(member.business.status);
    if (!readable.ok && needs.evenClosed !== true) return closed(visit, readable.code);
    const writable = mayWrite(member.business.status);
    if (!writable.ok && needs.reads !== true) return forbidden(visit, writable.code, words.pastDue);
    if (needs.owner && member.role !== "owner") return forbidden(visit, "owner_required", words.ownersOnly);
    const full =
      (needs.memberLimit && (await tooOften(c, needs.memberLimit, member.userId))) ??
      (needs.businessLimit && (await tooOften(c, needs.businessLimit, member.business.id)));
    return full ?? act({ ...visit, form });
  };

/** What a form was refused for: of an input, by its name on the wire, or of the whole. */
export interface Fault {
  readonly code: RefusalCode;
  readonly field: string | null;
  readonly text: string;
}

export const faultOf = ({ code, detail }: Refusal): Fault => {
  const text = detail ?? refusals[code];
  const [, field, rule] = /^([a-z_]+): (.+)$/s.exec(text) ?? [];
  if (field === undefined || rule === undefined) return { code, field: null, text };
  return { code, field, text: `${rule.charAt(0).toUpperCase()}${rule.slice(1)}` };
};
