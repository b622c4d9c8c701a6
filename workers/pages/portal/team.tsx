// Who acts for the business: invitations, roles, leaving.
import type { Hono } from "hono";
import { parseMemberId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import type { Member } from "../../../storage/members.ts";
import { inviteMember } from "../../operations/portal/invite-member.ts";
import { listMembers } from "../../operations/portal/list-members.ts";
import { removeMember } from "../../operations/portal/remove-member.ts";
import { updateMemberRole } from "../../operations/portal/update-member-role.ts";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import {
  RoleGate,
  ConfirmButton,
  SelectField,
  Field,
  PostForm,
  ActionButton,
  Section,
  SubmitButton,
  Table,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import {
  authenticatedAction,
  toFormError,
  authenticatedPage,
  redirectTo,
  withId,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const teamMessages = messages.team;

const renderTeam = async (visit: PortalRequest, fault?: FormError): Promise<Response> => {
  const people = await listMembers(visit.services, visit.member);
  const owners = people.filter(({ role, invitedUntil }) => role === "owner" && invitedUntil === null);
  const isLastOwner = ({ id }: Member): boolean => owners.length === 1 && owners[0]?.id === id;
  const isMe = ({ id }: Member): boolean => id === visit.member.userId;
  return renderMemberPage(visit, {
    tab: "team",
    error: fault,
    content: (
      <>
        {people.length === 1 && <p>{teamMessages.alone}</p>}
        <p>{teamMessages.what}</p>
        <Table
          label={messages.tabs.team}
          rows={people}
          columns={[
            [
              teamMessages.email,
              (row) => (
                <>
                  <VerbatimText text={row.email} /> {isMe(row) && teamMessages.you}
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
                      {!isMe(row) && (
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
            <SubmitButton label={teamMessages.send} />
          </PostForm>
        </Section>
        <Section id="leave" title={teamMessages.leave}>
          {people.some((one) => isMe(one) && isLastOwner(one)) ? (
            <p>{teamMessages.lastOwner}</p>
          ) : (
            <ConfirmButton
              requiredRole="member"
              action="/portal/team/leave"
              label={teamMessages.leave}
              of={visit.email}
              consequence={teamMessages.leaving}
            />
          )}
        </Section>
      </>
    ),
  });
};

const parseRole = ({ form }: PortalFormRequest) => (form.get("role") === "owner" ? "owner" : "member");

const handleInviteMember = async (visit: PortalFormRequest): Promise<Response> => {
  const request = { email: visit.form.get("email") ?? "", role: parseRole(visit), idempotencyKey: null } as const;
  const invited = await inviteMember(visit.services, visit.member, request);
  return invited.ok ? redirectTo(visit, "/portal/team", "invited") : renderTeam(visit, toFormError(invited));
};

const handleChangeRole = async (visit: PortalFormRequest, id: string): Promise<Response> => {
  const changed = await updateMemberRole(visit.services, visit.member, id, parseRole(visit));
  if (changed.ok) return redirectTo(visit, "/portal/team", "saved");
  return changed.code === "not_found" ? notFoundPage(visit) : renderTeam(visit, toFormError(changed));
};

const handleRemoveMember = async (visit: PortalFormRequest, id: string): Promise<Response> => {
  const removed = await removeMember(visit.services, visit.member, id);
  if (removed.ok) return redirectTo(visit, "/portal/team", "removed");
  return removed.code === "not_found" ? notFoundPage(visit) : renderTeam(visit, toFormError(removed));
};

const handleLeaveBusiness = async (visit: PortalFormRequest): Promise<Response> => {
  const left = await removeMember(visit.services, visit.member, visit.member.userId);
  if (!left.ok && left.code !== "not_found") return renderTeam(visit, toFormError(left));
  clearSession(visit.c);
  return redirectTo(visit, "/portal/sign-in");
};

export const registerTeamRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/team", authenticatedPage(renderTeam));
  pages.post("/team", authenticatedAction({ ownerOnly: true, businessLimit: "INVITATIONS_PER_BUSINESS" }, handleInviteMember));
  pages.post("/team/leave", authenticatedAction({}, handleLeaveBusiness));
  pages.post("/team/:id/role", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleChangeRole)));
  pages.post("/team/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseMemberId, handleRemoveMember)));
};
