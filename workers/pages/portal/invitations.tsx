// Serves /portal/invitations, for people who have verified their email address, do not belong to a business, and have been invited to one.
// They see the business and who invited them, and can accept or decline. People who belong to a business answer invitations in
// businesses.tsx.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { InvitedSession } from "../../../core/access/session.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import { parseMemberId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { setSessionCookie } from "../../http/guards/session-cookie.ts";
import { acceptInvitation } from "../../operations/access/accept-invitation.ts";
import { declineInvitation } from "../../operations/access/decline-invitation.ts";
import { listMembershipsOfAddress } from "../../operations/access/list-memberships.ts";
import type { Membership } from "../../../storage/members.ts";
import { EmptyCard, FormattedMessage, Notice, Timestamp, UntrustedText, VerbatimText, PropertyList } from "../shared/components.tsx";
import type { FormRequest } from "../shared/form-handlers.ts";
import { FlashBanner, TokenForm } from "../shared/signed-in-components.tsx";
import { createSignedInHandlers, type SignedInRequest } from "../shared/signed-in-handlers.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { messages } from "./components.tsx";
import { renderPortalPage } from "./page.tsx";
import { invitationsPath } from "./paths.ts";

const { invitations: invitationMessages, team: teamMessages } = messages;
const acceptPath = `${invitationsPath}/accept`;
const declinePath = `${invitationsPath}/decline`;

interface InvitedRequest extends SignedInRequest {
  readonly invited: InvitedSession;
}
type InvitedFormRequest = FormRequest<InvitedRequest>;

const signedIn = createSignedInHandlers({
  realm: "invited",
  formTokenPrefix: "invitation form",
  load: async (_, invited) => ({ invited }),
  renderSignedOut: (c, other) => c.redirect(other?.realm === "business" ? "/portal/businesses" : "/portal/sign-in", 303),
  signedOutPath: "/portal/sign-in",
  homePath: invitationsPath,
});

/** Returns the verified address and its index. Invitations are looked up by the index. */
const getVerifiedAddress = async ({ services, email }: InvitedRequest) => ({
  email,
  emailIndex: await services.vault.blindIndex("email", normalizeEmailAddress(email) ?? ""),
});

const InvitationCard: FC<{ invitation: Membership; isOnly: boolean; formToken: SignedInRequest["formToken"] }> = ({
  invitation: { id, business, role, invitedBy, invitedUntil },
  isOnly,
  formToken,
}) => {
  const question = <FormattedMessage text={invitationMessages.question} parts={{ business: <VerbatimText text={business.name} /> }} />;
  const { label, hint } = teamMessages.roles[role];
  return (
    <section class="card" aria-labelledby={id}>
      <div class="body stack">
        {isOnly ? <h1 id={id}>{question}</h1> : <h2 id={id}>{question}</h2>}
        <PropertyList
          lines={[
            [messages.businesses.business, <UntrustedText text={business.name} />],
            [invitationMessages.invitedBy, invitedBy !== null && <UntrustedText text={invitedBy} />],
            [
              messages.businesses.role,
              <>
                {label}
                <small>{hint}</small>
              </>,
            ],
            [invitationMessages.until, invitedUntil !== null && <Timestamp at={invitedUntil} />],
          ]}
        />
        <p class="quiet">{invitationMessages.advice}</p>
        <div class="choice">
          <TokenForm action={declinePath} formToken={formToken} hiddenValues={{ id }}>
            <button type="submit" class="btn" aria-describedby={id}>
              {messages.businesses.decline}
            </button>
          </TokenForm>
          <TokenForm action={acceptPath} formToken={formToken} hiddenValues={{ id }}>
            <button type="submit" class="btn primary" aria-describedby={id}>
              {messages.businesses.join}
            </button>
          </TokenForm>
        </div>
      </div>
    </section>
  );
};

const renderInvitations = async (request: InvitedRequest): Promise<Response> => {
  const { c, services, email, formToken } = request;
  const listed = await listMembershipsOfAddress(services, await getVerifiedAddress(request));
  const invitations = listed.filter(({ invitedUntil }) => invitedUntil !== null);
  const outcome = c.req.query("outcome") ?? "";
  return renderPortalPage(c, {
    title: invitationMessages.title,
    content: (
      <div class="confirm stack">
        {outcome === "declined" && <FlashBanner>{messages.done.declined}</FlashBanner>}
        {outcome === "gone" && <Notice tone="caution" icon="info" title={invitationMessages.gone} role="status" />}
        {invitations.length !== 1 && <h1>{invitationMessages.title}</h1>}
        {invitations.length === 0 && <EmptyCard icon="mail" title={invitationMessages.none} advice={invitationMessages.noneAdvice} />}
        {invitations.map((invitation) => (
          <InvitationCard invitation={invitation} isOnly={invitations.length === 1} formToken={formToken} />
        ))}
        <div class="row apart">
          <p class="small quiet">
            <FormattedMessage text={invitationMessages.signedInAs} parts={{ address: <VerbatimText text={email} /> }} />
          </p>
          <form method="post" action="/portal/sign-out">
            <SubmitButton class="btn sm">{messages.signOut}</SubmitButton>
          </form>
        </div>
        <p class="small quiet">
          {invitationMessages.own} <a href="/portal/sign-up">{messages.signUp.title}</a>
        </p>
      </div>
    ),
  });
};

const handleAccept = async (request: InvitedFormRequest): Promise<Response> => {
  const { c, services, invited, form } = request;
  const id = parseMemberId(form.get("id") ?? "");
  const address = await getVerifiedAddress(request);
  const userAgent = c.req.header("user-agent");
  const accepted = id === null ? null : await acceptInvitation(services, { ...invited, ...address }, { id, userAgent });
  if (!accepted?.ok) return c.redirect(`${invitationsPath}?outcome=gone`, 303);
  setSessionCookie(c, accepted.value.token, "business");
  return c.redirect("/portal?done=joined", 303);
};

const handleDecline = async (request: InvitedFormRequest): Promise<Response> => {
  const id = parseMemberId(request.form.get("id") ?? "");
  const declined = id === null ? null : await declineInvitation(request.services, await getVerifiedAddress(request), id);
  return request.c.redirect(`${invitationsPath}?outcome=${declined?.ok ? "declined" : "gone"}`, 303);
};

export const registerInvitationRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/invitations", signedIn.page(renderInvitations));
  pages.post("/invitations/accept", signedIn.action(handleAccept));
  pages.post("/invitations/decline", signedIn.action(handleDecline));
};
