// Handlers for the portal's pages and forms. They check the business's status and, for forms, the member's role.
import { authorizeRead, authorizeWrite, type Environment } from "../../../core/access/entitlement.ts";
import type { LimitName } from "../../limits.ts";
import { listMemberships } from "../../operations/access/list-memberships.ts";
import { checkAccountLimit } from "../shared/form-handlers.ts";
import { createSignedInHandlers } from "../shared/signed-in-handlers.ts";
import { messages } from "./components.tsx";
import { forbiddenPage, inactiveAccountPage, notFoundPage } from "./page.tsx";
import { environmentFromPath, invitationsPath, pathInEnvironment, pathWithQuery } from "./paths.ts";
import type { PortalFormRequest, PortalRequest } from "./portal-request.ts";

export type PageHandler<Request extends PortalRequest> = (request: Request) => Promise<Response> | Response;

const signedIn = createSignedInHandlers({
  realm: "business",
  formTokenPrefix: "portal form",
  getDeadlinesEnvironment: (c) => environmentFromPath(c.req.path),
  load: async (c, member) => {
    const environment: Environment = environmentFromPath(c.req.path);
    return {
      member,
      memberships: member.hasOtherMemberships ? await listMemberships(c.var.services, member) : [],
      environment,
      pathInMode: (path: string) => pathInEnvironment(environment, path),
    };
  },
  renderSignedOut: (c, other) =>
    c.redirect(
      other?.realm === "invited"
        ? invitationsPath
        : pathWithQuery("/portal/sign-in", { next: c.req.path === "/portal" ? null : c.req.path }),
      303,
    ),
  signedOutPath: "/portal/sign-in",
  homePath: "/portal",
});

/** Passes the ID in the path to the handler. Returns the not-found page if the text is not a valid ID. */
export const withId =
  <Id, Request extends PortalRequest>(
    parseId: (text: string) => Id | null,
    handle: (request: Request, id: Id) => Promise<Response> | Response,
    name = "id",
  ): PageHandler<Request> =>
  (request) => {
    const id = parseId(request.c.req.param(name) ?? "");
    return id === null ? notFoundPage(request) : handle(request, id);
  };

/**
 * Handles a page of the portal. Without a session, redirects to the sign-in page, which leads back to this page. If the account's status
 * does not allow reading, shows the reason, unless `allowsInactiveAccount` is set.
 */
export const authenticatedPage = (show: PageHandler<PortalRequest>, allowsInactiveAccount = false) =>
  signedIn.page((request) => {
    const readable = authorizeRead(request.member.business.status);
    return readable.ok || allowsInactiveAccount ? show(request) : inactiveAccountPage(request, readable.code);
  });

interface ActionOptions {
  readonly ownerOnly?: true;
  /** True if members can submit the form while a payment is past due, because it changes none of the business's settings or records. */
  readonly isReadOnly?: true;
  /** True for forms that must work even if the business's status does not allow reading, such as switching to another business. */
  readonly allowsInactiveAccount?: true;
  readonly memberLimit?: LimitName;
  readonly businessLimit?: LimitName;
}

/** Handles a portal form. Checks the account, the role and the limits before `act`. */
export const authenticatedAction = (options: ActionOptions, act: PageHandler<PortalFormRequest>) =>
  signedIn.action(async (request) => {
    const { c, member } = request;
    const readable = authorizeRead(member.business.status);
    if (!readable.ok && options.allowsInactiveAccount !== true) return inactiveAccountPage(request, readable.code);
    const writable = authorizeWrite(member.business.status);
    if (!writable.ok && options.isReadOnly !== true) return forbiddenPage(request, writable.code, messages.pastDue);
    if (options.ownerOnly && member.role !== "owner") return forbiddenPage(request, "owner_required", messages.ownersOnly);
    const limitResponse =
      (options.memberLimit && (await checkAccountLimit(c, options.memberLimit, member.userId))) ??
      (options.businessLimit && (await checkAccountLimit(c, options.businessLimit, member.business.id)));
    return limitResponse ?? act(request);
  });
