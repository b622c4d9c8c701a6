// The team pages: inviting and removing members, changing their roles, and leaving the business.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseMemberId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import type { Member } from "../../../storage/members.ts";
import { inviteMember } from "../../operations/portal/invite-member.ts";
import { listMembers } from "../../operations/portal/list-members.ts";
import { removeMember } from "../../operations/portal/remove-member.ts";
import { updateMemberRole } from "../../operations/portal/update-member-role.ts";
import { EmptyCard, FormattedMessage, formatMessage, Timestamp, VerbatimText } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import {
  ActionButton,
  Card,
  Field,
  FormCard,
  FormErrorMessage,
  Link,
  messages,
  RadioFields,
  RoleGate,
  StatusLabel,
  usePortalRequest,
} from "./components.tsx";
import { confirmationPage, renderConfirmation } from "./confirmation.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const teamMessages = messages.team;
const teamPath = "/portal/team";
const parent = { path: teamPath, text: messages.tabs.team };

const MemberStatus: FC<{ member: Member }> = ({ member: { invitedUntil, deliveryFailedAt } }) =>
  invitedUntil === null ? (
    <StatusLabel tone="good" text={teamMessages.active} />
  ) : deliveryFailedAt !== null ? (
    <StatusLabel tone="bad" text={teamMessages.undelivered} />
  ) : (
    <StatusLabel tone="caution" text={teamMessages.invited} />
  );

const MemberActions: FC<{ member: Member; isSelf: boolean }> = ({ member: { id, email, role, invitedUntil }, isSelf }) => {
  const removeLabel = invitedUntil === null ? teamMessages.remove : teamMessages.cancelNow;
  return (
    <RoleGate requiredRole="owner" isSilent>
      <div class="row">
        <ActionButton
          action={`${teamPath}/${id}/role`}
          label={role === "owner" ? teamMessages.makeMember : teamMessages.makeOwner}
          target={email}
          hiddenValues={{ role: role === "owner" ? "member" : "owner" }}
        />
        {!isSelf && <Link class="btn sm" to={`${teamPath}/${id}/remove`} text={removeLabel} label={`${removeLabel}: ${email}`} />}
      </div>
    </RoleGate>
  );
};

/**
 * Returns the business's only owner, or undefined if several owners have joined. The only owner may neither leave nor become an ordinary
 * member.
 */
const findOnlyOwner = (members: readonly Member[]): Member | undefined => {
  const owners = members.filter(({ role, invitedUntil }) => role === "owner" && invitedUntil === null);
  return owners.length === 1 ? owners[0] : undefined;
};

const MembersCard: FC<{ members: readonly Member[]; onlyOwnerId: string | undefined }> = ({ members, onlyOwnerId }) => {
  const { userId } = usePortalRequest().member;
  return (
    <Card id="members" title={teamMessages.members} {...(members.length === 1 && { note: teamMessages.alone })} isFlush>
      <Table
        label={messages.tabs.team}
        rows={members}
        columns={[
          [
            teamMessages.email,
            (row) => (
              <>
                <VerbatimText text={row.email} /> {row.id === userId && teamMessages.you}
                {row.invitedUntil !== null && (
                  <small class="quiet">
                    {row.deliveryFailedAt === null ? (
                      <FormattedMessage text={teamMessages.expires} parts={{ time: <Timestamp at={row.invitedUntil} /> }} />
                    ) : (
                      teamMessages.undeliveredHint
                    )}
                  </small>
                )}
              </>
            ),
          ],
          [messages.state, (row) => <MemberStatus member={row} />, "corner"],
          [teamMessages.role, (row) => messages.shell.roles[row.role]],
          [
            messages.action,
            (row) =>
              row.id === onlyOwnerId ? (
                <small class="quiet">{teamMessages.onlyOwner}</small>
              ) : (
                <MemberActions member={row} isSelf={row.id === userId} />
              ),
            "plain",
          ],
        ]}
      />
    </Card>
  );
};

const InviteForm: FC = () => (
  <FormCard
    id="invite"
    title={teamMessages.invite}
    action={teamPath}
    requiredRole="owner"
    submitLabel={teamMessages.send}
    footnote={teamMessages.inviteHint}
    isPrimary
  >
    <FormErrorMessage fields={["email"]} />
    <Field name="email" label={teamMessages.email} type="email" required maxlength={320} />
    <RadioFields name="role" legend={teamMessages.role} value="member" options={teamMessages.roles} hasVisibleLegend />
  </FormCard>
);

const renderTeam = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { business } = request.member;
  const members = await listMembers(request.services, request.member);
  const onlyOwnerId = findOnlyOwner(members)?.id;
  const mustStay = request.member.userId === onlyOwnerId;
  return renderMemberPage(request, {
    tab: "team",
    intro: teamMessages.intro,
    error,
    content: (
      <>
        <MembersCard members={members} onlyOwnerId={onlyOwnerId} />
        <InviteForm />
        <Card
          id="leave"
          title={formatMessage(teamMessages.leave, { business: business.name })}
          end={
            !mustStay && (
              <RoleGate requiredRole="member">
                <Link class="btn" to={`${teamPath}/leave`} text={teamMessages.leaveNow} />
              </RoleGate>
            )
          }
        >
          <p>{mustStay ? teamMessages.mustStay : teamMessages.leaveNote}</p>
        </Card>
      </>
    ),
  });
};

const renderRemoveMember = async (request: PortalRequest, id: string): Promise<Response> => {
  const found = (await listMembers(request.services, request.member)).find((member) => member.id === id);
  if (found === undefined) return notFoundPage(request);
  const isInvited = found.invitedUntil !== null;
  const { removeFollows, cancelFollows } = teamMessages;
  return renderConfirmation(request, {
    tab: "team",
    parent,
    question: formatMessage(isInvited ? teamMessages.cancelQuestion : teamMessages.removeQuestion, { person: found.email }),
    consequences: isInvited
      ? [
          ["ban", cancelFollows.link],
          ["mail", cancelFollows.again],
        ]
      : [
          ["log-out", removeFollows.sessions],
          ["lock", removeFollows.access],
          ["scroll-text", removeFollows.log],
        ],
    action: `${teamPath}/${id}/remove`,
    confirmLabel: isInvited ? teamMessages.cancelNow : teamMessages.removeNow,
    cancelLabel: isInvited ? teamMessages.keepInvitation : teamMessages.keepMember,
  });
};

const renderLeaveBusiness = async (request: PortalRequest): Promise<Response> => {
  const { userId, business } = request.member;
  if (findOnlyOwner(await listMembers(request.services, request.member))?.id === userId)
    return renderMemberPage(request, {
      tab: "team",
      parent,
      title: formatMessage(teamMessages.leave, { business: business.name }),
      content: (
        <EmptyCard
          icon="users"
          title={teamMessages.mustStayTitle}
          advice={teamMessages.mustStay}
          action={<Link class="btn primary" to={teamPath} text={teamMessages.goToTeam} />}
        />
      ),
    });
  const { sessions, access, log } = teamMessages.leaveFollows;
  return renderConfirmation(request, {
    tab: "team",
    parent,
    question: formatMessage(teamMessages.leaveQuestion, { business: business.name }),
    consequences: [
      ["log-out", sessions],
      ["lock", access],
      ["scroll-text", log],
    ],
    action: `${teamPath}/leave`,
    confirmLabel: teamMessages.leaveNow,
    cancelLabel: teamMessages.stay,
  });
};

const parseRole = ({ form }: PortalFormRequest) => (form.get("role") === "owner" ? "owner" : "member");

const handleInviteMember = async (request: PortalFormRequest): Promise<Response> => {
  const invitation = { email: request.form.get("email") ?? "", role: parseRole(request), idempotencyKey: null } as const;
  const invited = await inviteMember(request.services, request.member, invitation);
  return invited.ok ? redirectTo(request, teamPath, "invited") : renderTeam(request, toFormError(invited));
};

const handleChangeRole = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const changed = await updateMemberRole(request.services, request.member, id, parseRole(request));
  if (changed.ok) return redirectTo(request, teamPath, "saved");
  return changed.code === "not_found" ? notFoundPage(request) : renderTeam(request, toFormError(changed));
};

const handleRemoveMember = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const removed = await removeMember(request.services, request.member, id);
  if (removed.ok) return redirectTo(request, teamPath, "removed");
  return removed.code === "not_found" ? notFoundPage(request) : renderTeam(request, toFormError(removed));
};

const handleLeaveBusiness = async (request: PortalFormRequest): Promise<Response> => {
  const left = await removeMember(request.services, request.member, request.member.userId);
  if (!left.ok && left.code !== "not_found") return renderTeam(request, toFormError(left));
  clearSession(request.c);
  return redirectTo(request, "/portal/sign-in");
};

export const registerTeamRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/team", authenticatedPage(renderTeam));
  pages.post("/team", authenticatedAction({ ownerOnly: true, businessLimit: "INVITATIONS_PER_BUSINESS" }, handleInviteMember));
  pages.get("/team/leave", confirmationPage("member", renderLeaveBusiness));
  pages.post("/team/leave", authenticatedAction({}, handleLeaveBusiness));
  pages.post("/team/:id/role", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleChangeRole)));
  pages.get("/team/:id/remove", confirmationPage("owner", withId(parseMemberId, renderRemoveMember)));
  pages.post("/team/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleRemoveMember)));
};
