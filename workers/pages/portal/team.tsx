// The members of the business: inviting and removing them, their roles, and leaving the business.
import type { Hono } from "hono";
import { parseMemberId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import type { Member } from "../../../storage/members.ts";
import { inviteMember } from "../../operations/portal/invite-member.ts";
import { listMembers } from "../../operations/portal/list-members.ts";
import { removeMember } from "../../operations/portal/remove-member.ts";
import { updateMemberRole } from "../../operations/portal/update-member-role.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import {
  RoleGate,
  ConfirmButton,
  SelectField,
  Field,
  PostForm,
  ActionButton,
  Section,
  Table,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toFormError, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const teamMessages = messages.team;

const renderTeam = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const members = await listMembers(request.services, request.member);
  const owners = members.filter(({ role, invitedUntil }) => role === "owner" && invitedUntil === null);
  const isLastOwner = ({ id }: Member): boolean => owners.length === 1 && owners[0]?.id === id;
  const isSelf = ({ id }: Member): boolean => id === request.member.userId;
  return renderMemberPage(request, {
    tab: "team",
    error,
    content: (
      <>
        {members.length === 1 && <p>{teamMessages.alone}</p>}
        <p>{teamMessages.what}</p>
        <Table
          label={messages.tabs.team}
          rows={members}
          columns={[
            [
              teamMessages.email,
              (row) => (
                <>
                  <VerbatimText text={row.email} /> {isSelf(row) && teamMessages.you}
                </>
              ),
            ],
            [teamMessages.role, (row) => messages.roles[row.role]],
            [
              messages.state,
              (row) =>
                row.invitedUntil === null ? (
                  teamMessages.active
                ) : (
                  <>
                    {teamMessages.invited} <Timestamp at={row.invitedUntil} />
                  </>
                ),
            ],
            [
              messages.action,
              (row) =>
                isLastOwner(row) ? (
                  teamMessages.lastOwner
                ) : (
                  <RoleGate to="owner">
                    <div class="actions">
                      <ActionButton
                        action={`/portal/team/${row.id}/role`}
                        label={row.role === "owner" ? teamMessages.makeMember : teamMessages.makeOwner}
                        of={row.email}
                        hiddenValues={{ role: row.role === "owner" ? "member" : "owner" }}
                      />
                      {!isSelf(row) && (
                        <ConfirmButton
                          action={`/portal/team/${row.id}/remove`}
                          label={row.invitedUntil === null ? teamMessages.remove : teamMessages.takeBack}
                          of={row.email}
                          consequence={row.invitedUntil === null ? teamMessages.removal : teamMessages.takingBack}
                        />
                      )}
                    </div>
                  </RoleGate>
                ),
            ],
          ]}
        />
        <Section id="invite" title={teamMessages.invite}>
          <PostForm requiredRole="owner" action="/portal/team">
            <FormErrorMessage fields={["email"]} />
            <Field name="email" label={teamMessages.email} hint={teamMessages.inviteHint} type="email" required maxlength={320} />
            <SelectField name="role" label={teamMessages.role} options={{ member: teamMessages.memberMay, owner: teamMessages.ownerMay }} />
            <SubmitButton>{teamMessages.send}</SubmitButton>
          </PostForm>
        </Section>
        <Section id="leave" title={teamMessages.leave}>
          {members.some((member) => isSelf(member) && isLastOwner(member)) ? (
            <p>{teamMessages.lastOwner}</p>
          ) : (
            <ConfirmButton
              requiredRole="member"
              action="/portal/team/leave"
              label={teamMessages.leave}
              of={request.email}
              consequence={teamMessages.leaving}
            />
          )}
        </Section>
      </>
    ),
  });
};

const parseRole = ({ form }: PortalFormRequest) => (form.get("role") === "owner" ? "owner" : "member");

const handleInviteMember = async (request: PortalFormRequest): Promise<Response> => {
  const invitation = { email: request.form.get("email") ?? "", role: parseRole(request), idempotencyKey: null } as const;
  const invited = await inviteMember(request.services, request.member, invitation);
  return invited.ok ? redirectTo(request, "/portal/team", "invited") : renderTeam(request, toFormError(invited));
};

const handleChangeRole = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const changed = await updateMemberRole(request.services, request.member, id, parseRole(request));
  if (changed.ok) return redirectTo(request, "/portal/team", "saved");
  return changed.code === "not_found" ? notFoundPage(request) : renderTeam(request, toFormError(changed));
};

const handleRemoveMember = async (request: PortalFormRequest, id: string): Promise<Response> => {
  const removed = await removeMember(request.services, request.member, id);
  if (removed.ok) return redirectTo(request, "/portal/team", "removed");
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
  pages.post("/team/leave", authenticatedAction({}, handleLeaveBusiness));
  pages.post("/team/:id/role", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleChangeRole)));
  pages.post("/team/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleRemoveMember)));
};
