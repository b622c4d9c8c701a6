// Lists a member's businesses. The member can switch between them, and accept or decline invitations.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseMemberId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { setSessionCookie } from "../../http/guards/session-cookie.ts";
import { declineInvitation } from "../../operations/access/decline-invitation.ts";
import { listMemberships } from "../../operations/access/list-memberships.ts";
import { switchBusiness } from "../../operations/access/switch-business.ts";
import type { Membership } from "../../../storage/members.ts";
import { FormattedMessage, VerbatimText, UntrustedText, Timestamp } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { ActionButton, Card, Link, messages, ShortTime, BusinessStatusLabel } from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { redirectTo, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const businessMessages = messages.businesses;
const businessesPath = "/portal/businesses";

/**
 * Parses the page to open after signing in or switching. Returns `/portal` unless the path is under /portal and requires a sign-in, so that
 * a link cannot lead to another site.
 */
export const parseNextPath = (text: string | undefined): string =>
  text !== undefined && /^\/portal(?:\/[\w/-]*)?$/.test(text) && !text.startsWith("/portal/sign-") ? text : "/portal";

/** Returns the path of the business list. From there, the member continues to `next`. */
export const businessChoicePath = (next: string): string => pathWithQuery(businessesPath, { next: next === "/portal" ? null : next });

const InvitationsCard: FC<{ invitations: readonly Membership[] }> = ({ invitations }) => (
  <Card id="invitations" title={businessMessages.invitations} note={businessMessages.invited} isFlush>
    <Table
      label={businessMessages.invitations}
      rows={invitations}
      columns={[
        [
          businessMessages.business,
          ({ business, invitedBy }) => (
            <>
              <UntrustedText text={business.name} />
              {invitedBy !== null && (
                <small class="quiet">
                  <FormattedMessage text={businessMessages.invitedBy} parts={{ address: <UntrustedText text={invitedBy} /> }} />
                </small>
              )}
            </>
          ),
        ],
        [businessMessages.role, ({ role }) => messages.shell.roles[role]],
        [businessMessages.until, ({ invitedUntil }) => invitedUntil !== null && <Timestamp at={invitedUntil} />],
        [
          messages.action,
          ({ id, business }) => (
            <div class="row">
              <ActionButton action={businessesPath} label={businessMessages.join} target={business.name} hiddenValues={{ seat: id }} />
              <ActionButton
                action={`${businessesPath}/decline`}
                label={businessMessages.decline}
                target={business.name}
                hiddenValues={{ seat: id }}
              />
            </div>
          ),
          "plain",
        ],
      ]}
    />
  </Card>
);

const renderBusinessList = async (request: PortalRequest): Promise<Response> => {
  const { c, services, member } = request;
  const listed = request.memberships.length > 0 ? request.memberships : await listMemberships(services, member);
  const next = parseNextPath(c.req.query("next"));
  const invitations = listed.filter(({ invitedUntil }) => invitedUntil !== null);
  return renderMemberPage(request, {
    tab: null,
    title: businessMessages.title,
    intro: businessMessages.intro,
    content: (
      <>
        {invitations.length > 0 && <InvitationsCard invitations={invitations} />}
        <div class="card">
          <Table
            label={businessMessages.title}
            rows={listed.filter(({ invitedUntil }) => invitedUntil === null)}
            columns={[
              [businessMessages.business, ({ business }) => <VerbatimText text={business.name} />],
              [businessMessages.role, ({ role }) => messages.shell.roles[role]],
              [messages.state, ({ business: { status } }) => <BusinessStatusLabel status={status} />, "corner"],
              [businessMessages.used, ({ lastUsedAt }) => (lastUsedAt === null ? messages.never : <ShortTime at={lastUsedAt} />), "minor"],
              [
                messages.action,
                ({ id, business }) =>
                  id === member.userId ? (
                    <Link class="btn sm" to={next} text={businessMessages.stay} />
                  ) : (
                    <ActionButton
                      action={businessesPath}
                      label={businessMessages.open}
                      target={business.name}
                      hiddenValues={{ seat: id, next }}
                    />
                  ),
                "plain",
              ],
            ]}
          />
        </div>
      </>
    ),
  });
};

const handleEnterBusiness = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form } = request;
  const id = parseMemberId(form.get("seat") ?? "");
  const entered = id === null ? null : await switchBusiness(services, member, { id, userAgent: c.req.header("user-agent") });
  if (!entered?.ok) return notFoundPage(request);
  setSessionCookie(c, entered.value.token, "business");
  return redirectTo(request, parseNextPath(form.get("next")), entered.value.hasJoined ? "joined" : undefined);
};

const handleDeclineInvitation = async (request: PortalFormRequest): Promise<Response> => {
  const id = parseMemberId(request.form.get("seat") ?? "");
  const { services, member, email } = request;
  const address = { email, emailIndex: services.vault.readIndex(member.emailIndex) };
  const declined = id === null ? null : await declineInvitation(services, address, id);
  return declined?.ok ? redirectTo(request, businessesPath, "declined") : notFoundPage(request);
};

export const registerBusinessRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/businesses", authenticatedPage(renderBusinessList, true));
  pages.post("/businesses", authenticatedAction({ isReadOnly: true, allowsInactiveAccount: true }, handleEnterBusiness));
  pages.post("/businesses/decline", authenticatedAction({ isReadOnly: true, allowsInactiveAccount: true }, handleDeclineInvitation));
};
