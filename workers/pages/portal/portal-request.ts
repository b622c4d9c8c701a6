// What stands before every page of the portal: who is signed in, what they and their business may do just now, and that a form is one
// of ours. A form carries a token made from the session and its address, which no other page can know.
import type { Context } from "hono";
import { authorizeRead, authorizeWrite, type Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { isEqualConstantTime } from "../../../core/hash.ts";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import type { Refusal } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { getSessionToken } from "../../http/guards/session-cookie.ts";
import { callerFromSession } from "../../http/guards/session.ts";
import type { LimitName } from "../../limits.ts";
import type { Membership } from "../../../storage/members.ts";
import { listMemberships } from "../../operations/access/list-memberships.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import type { Services } from "../../services.ts";
import { renderCrossSiteBlocked } from "../shared/notice-pages.tsx";
import { parseSameOriginForm, checkAccountLimit, type FormFields } from "../shared/form-handlers.ts";
import { messages } from "./components.tsx";
import { inactiveAccountPage, forbiddenPage, notFoundPage } from "./page.tsx";
import { pathInEnvironment, pathWithQuery, environmentFromPath } from "./paths.ts";

/** A request of a member of a business, and what the pages know of whoever reads them. */
export interface PortalRequest {
  readonly c: Context<AppEnv>;
  readonly services: Services;
  readonly member: MemberSession;
  /** The proven address. */
  readonly email: string;
  /** What that address acts for and is invited to, the business of these pages among it; not asked for where there is no more. */
  readonly memberships: readonly Membership[];
  /** Which records the pages are of; the address says it. */
  readonly environment: Environment;
  readonly now: Instant;
  /** The address of a page of the portal in the same mode. */
  readonly pathInMode: (path: string) => string;
  readonly formToken: (path: string) => Promise<string>;
  /** What was sent. */
  readonly form?: FormFields;
}

/** A form of theirs. */
export interface PortalFormRequest extends PortalRequest {
  readonly form: FormFields;
}

type PageHandler<Of extends PortalRequest> = (visit: Of) => Promise<Response> | Response;

const loadPortalRequest = async (c: Context<AppEnv>): Promise<PortalRequest | Response | null> => {
  const { services } = c.var;
  const member = await authenticateSession(services, getSessionToken(c));
  if (member?.realm !== "business") return null;
  c.set("caller", callerFromSession(member));
  const refused = await checkAccountLimit(c, "SESSION", member.userId);
  if (refused !== null) return refused;
  const [{ email }, seats] = await Promise.all([
    getSignedInUser(services, member),
    member.hasOtherMemberships ? listMemberships(services, member) : [],
  ]);
  const environment = environmentFromPath(c.req.path);
  return {
    c,
    services,
    member,
    email,
    memberships: seats,
    environment,
    now: services.clock(),
    pathInMode: (path) => pathInEnvironment(environment, path),
    formToken: (path) => services.vault.linkToken(`portal form\n${member.tokenHash}\n${path}`),
  };
};

/** To a page that can be loaded again. `done` names what happened there. */
export const redirectTo = ({ c, pathInMode }: PortalRequest, path: string, done?: string): Response => {
  const address = pathInMode(path);
  return c.redirect(done === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}done=${done}`, 303);
};

/** Whose records a page reads: the business's live ones, or those of its sandbox. */
export const toReader = ({ member, environment }: PortalRequest) => ({ business: member.business, environment });

/** Of what the address names; an id that is none is what is not there. */
export const withId =
  <Id, Of extends PortalRequest>(
    idOf: (text: string) => Id | null,
    handle: (visit: Of, id: Id) => Promise<Response> | Response,
    name = "id",
  ): PageHandler<Of> =>
  (visit) => {
    const id = idOf(visit.c.req.param(name) ?? "");
    return id === null ? notFoundPage(visit) : handle(visit, id);
  };

/** A page of somebody who is signed in; whoever is not signs in first and comes back here. */
export const authenticatedPage =
  (show: PageHandler<PortalRequest>, evenClosed = false) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const visit = await loadPortalRequest(c);
    if (visit === null) return c.redirect(pathWithQuery("/portal/sign-in", { next: c.req.path === "/portal" ? null : c.req.path }), 303);
    if (visit instanceof Response) return visit;
    const readable = authorizeRead(visit.member.business.status);
    return readable.ok || evenClosed ? show(visit) : inactiveAccountPage(visit, readable.code);
  };

interface ActionOptions {
  /** Only an owner may. */
  readonly ownerOnly?: true;
  /** It changes nothing of the business, and is a form because what it shows is entered in the audit chain, or because it calls somebody. */
  readonly isReadOnly?: true;
  /** It leads away from the business, and so from one of which nothing is shown. */
  readonly allowsInactiveAccount?: true;
  /** Counted by the member, or by the business. */
  readonly memberLimit?: LimitName;
  readonly businessLimit?: LimitName;
}

export const authenticatedAction =
  (needs: ActionOptions, act: PageHandler<PortalFormRequest>) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const form = await parseSameOriginForm(c);
    if (form instanceof Response) return form;
    const visit = await loadPortalRequest(c);
    if (visit === null) return c.redirect("/portal/sign-in", 303);
    if (visit instanceof Response) return visit;
    if (!isEqualConstantTime(form.get("form") ?? "", await visit.formToken(c.req.path))) return renderCrossSiteBlocked(c);
    const { member } = visit;
    const readable = authorizeRead(member.business.status);
    if (!readable.ok && needs.allowsInactiveAccount !== true) return inactiveAccountPage(visit, readable.code);
    const writable = authorizeWrite(member.business.status);
    if (!writable.ok && needs.isReadOnly !== true) return forbiddenPage(visit, writable.code, messages.pastDue);
    if (needs.ownerOnly && member.role !== "owner") return forbiddenPage(visit, "owner_required", messages.ownersOnly);
    const full =
      (needs.memberLimit && (await checkAccountLimit(c, needs.memberLimit, member.userId))) ??
      (needs.businessLimit && (await checkAccountLimit(c, needs.businessLimit, member.business.id)));
    return full ?? act({ ...visit, form });
  };

/** What a form was refused for: of an input, by its name on the wire, or of the whole. */
export interface FormError {
  readonly code: RefusalCode;
  readonly field: string | null;
  readonly text: string;
}

export const toFormError = ({ code, detail }: Refusal): FormError => {
  const text = detail ?? refusals[code];
  const [, field, rule] = /^([a-z_]+): (.+)$/s.exec(text) ?? [];
  if (field === undefined || rule === undefined) return { code, field: null, text };
  return { code, field, text: `${rule.charAt(0).toUpperCase()}${rule.slice(1)}` };
};
