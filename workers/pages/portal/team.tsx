// Who acts for the business: invitations, roles, leaving.
import type { Hono } from "hono";
import { memberIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { forgetSession } from "../../http/session-guards.ts";
import { changeMember, inviteMember, listMembers, removeMember, type Member } from "../../operations/portal/members.ts";
import { Exact, Moment } from "../shared/parts.tsx";
import { Allowed, Careful, Choice, Field, PostForm, Press, Section, Submit, Table, words, Wrong } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { acting, faultOf, reading, to, withId, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.team;

const show = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const people = await listMembers(visit.services, visit.member);
  const owners = people.filter(({ role, invitedUntil }) => role === "owner" && invitedUntil === null);
  const isLastOwner = ({ id }: Member): boolean => owners.length === 1 && owners[0]?.id === id;
  const isMe = ({ id }: Member): boolean => id === visit.member.userId;
  return showPage(visit, {
    tab: "team",
    fault,
    content: (
      <>
        {people.length === 1 && <p>{said.alone}</p>}
        <p>{said.what}</p>
        <Table
          label={words.tabs.team}
          rows={people}
          columns={[
            [
              said.email,
              (row) => (
                <>
                  <Exact text={row.email} /> {isMe(row) && said.you}
                </>
              ),
            ],
            [said.role, (row) => words.roles[row.role]],
            [
              words.state,
              (row) =>
                row.invitedUntil === null ? (
                  said.active
                ) : (
                  <>
                    {said.invited} <Moment at={row.invitedUntil} />
                  </>
                ),
            ],
            [
              words.action,
              (row) =>
                isLastOwner(row) ? (
                  said.lastOwner
                ) : (
                  <Allowed to="owner">
                    <div class="actions">
                      <Press
                        action={`/portal/team/${row.id}/role`}
                        label={row.role === "owner" ? said.makeMember : said.makeOwner}
                        of={row.email}
                        values={{ role: row.role === "owner" ? "member" : "owner" }}
                      />
                      {!isMe(row) && (
                        <Careful
                          action={`/portal/team/${row.id}/remove`}
                          label={row.invitedUntil === null ? said.remove : said.takeBack}
                          of={row.email}
                          consequence={row.invitedUntil === null ? said.removal : said.takingBack}
                        />
                      )}
                    </div>
                  </Allowed>
                ),
            ],
          ]}
        />
        <Section id="invite" title={said.invite}>
          <PostForm by="owner" action="/portal/team">
            <Wrong fields={["email"]} />
            <Field name="email" label={said.email} hint={said.inviteHint} type="email" required maxlength={320} />
            <Choice name="role" label={said.role} options={{ member: said.memberMay, owner: said.ownerMay }} />
            <Submit label={said.send} />
          </PostForm>
        </Section>
        <Section id="leave" title={said.leave}>
          {people.some((one) => isMe(one) && isLastOwner(one)) ? (
            <p>{said.lastOwner}</p>
          ) : (
            <Careful by="member" action="/portal/team/leave" label={said.leave} of={visit.email} consequence={said.leaving} />
          )}
        </Section>
      </>
    ),
  });
};

const roleIn = ({ form }: Posted) => (form.get("role") === "owner" ? "owner" : "member");

const invite = async (visit: Posted): Promise<Response> => {
  const request = { email: visit.form.get("email") ?? "", role: roleIn(visit), idempotencyKey: null } as const;
  const invited = await inviteMember(visit.services, visit.member, request);
  return invited.ok ? to(visit, "/portal/team", "invited") : show(visit, faultOf(invited));
};

const changeRole = async (visit: Posted, id: string): Promise<Response> => {
  const changed = await changeMember(visit.services, visit.member, id, roleIn(visit));
  if (changed.ok) return to(visit, "/portal/team", "saved");
  return changed.code === "not_found" ? nothing(visit) : show(visit, faultOf(changed));
};

const remove = async (visit: Posted, id: string): Promise<Response> => {
  const removed = await removeMember(visit.services, visit.member, id);
  if (removed.ok) return to(visit, "/portal/team", "removed");
  return removed.code === "not_found" ? nothing(visit) : show(visit, faultOf(removed));
};

const leave = async (visit: Posted): Promise<Response> => {
  const left = await removeMember(visit.services, visit.member, visit.member.userId);
  if (!left.ok && left.code !== "not_found") return show(visit, faultOf(left));
  forgetSession(visit.c);
  return to(visit, "/portal/sign-in");
};

export const mountTeam = (pages: Hono<Api>): void => {
  pages.get("/team", reading(show));
  pages.post("/team", acting({ owner: true, businessLimit: "INVITATIONS_PER_BUSINESS" }, invite));
  pages.post("/team/leave", acting({}, leave));
  pages.post("/team/:id/role", acting({ owner: true }, withId(memberIdOf, changeRole)));
  pages.post("/team/:id/remove", acting({ owner: true }, withId(memberIdOf, remove)));
};
