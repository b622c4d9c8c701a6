// Who acts for the business: invitations, roles, leaving.
import type { Hono } from "hono";
import type { Role } from "../../../core/access/session.ts";
import { memberIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { forgetSession } from "../../http/session-guards.ts";
import { changeMember, inviteMember, listMembers, removeMember, type Member } from "../../operations/portal/members.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, Moment } from "../shared/parts.tsx";
import { Allowed, Careful, Choice, Field, portalPage, PostForm, Press, Table, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, crowded, faultOf, nothing, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

const isLastOwner = (people: readonly Member[], { role, invitedUntil }: Member): boolean =>
  role === "owner" && invitedUntil === null && people.filter((one) => one.role === "owner" && one.invitedUntil === null).length === 1;

const pageOf = (view: PortalView, people: readonly Member[], typed?: string, fault?: Fault): Page => {
  const { words, setting, member } = view;
  const { team: said, roles } = words;
  const isMe = ({ id }: Member): boolean => id === member.userId;
  const others: Readonly<Record<Role, Role>> = { owner: "member", member: "owner" };
  return portalPage(view, {
    tab: "team",
    title: words.tabs.team,
    fault,
    content: (
      <>
        {people.length === 1 && <p>{said.alone}</p>}
        <p>{said.what}</p>
        <Table
          label={words.tabs.team}
          rows={people}
          columns={[
            {
              head: said.email,
              cell: (row) => (
                <>
                  <Exact text={row.email} /> {isMe(row) && said.you}
                </>
              ),
            },
            { head: said.role, cell: (row) => roles[row.role] },
            {
              head: words.state,
              cell: (row) =>
                row.invitedUntil === null ? (
                  said.active
                ) : (
                  <>
                    {said.invited} <Moment at={row.invitedUntil} setting={setting} />
                  </>
                ),
            },
            {
              head: words.action,
              cell: (row) =>
                isLastOwner(people, row) ? (
                  said.lastOwner
                ) : (
                  <Allowed view={view}>
                    <div class="actions">
                      <Press
                        view={view}
                        action={`/portal/team/${row.id}/role`}
                        label={row.role === "owner" ? said.makeMember : said.makeOwner}
                        of={row.email}
                        values={{ role: others[row.role] }}
                      />
                      {!isMe(row) && (
                        <Careful
                          view={view}
                          action={`/portal/team/${row.id}/remove`}
                          label={row.invitedUntil === null ? said.remove : said.takeBack}
                          of={row.email}
                          consequence={row.invitedUntil === null ? said.removal : said.takingBack}
                        />
                      )}
                    </div>
                  </Allowed>
                ),
            },
          ]}
        />
        <section aria-labelledby="invite">
          <h2 id="invite">{said.invite}</h2>
          <Allowed view={view}>
            <PostForm view={view} action="/portal/team">
              <Wrong fault={fault} fields={["email"]} setting={setting} />
              <Field
                name="email"
                label={said.email}
                hint={said.inviteHint}
                type="email"
                required
                value={typed}
                fault={fault}
                setting={setting}
                maxlength={320}
              />
              <Choice
                name="role"
                label={said.role}
                options={[
                  ["member", said.memberMay],
                  ["owner", said.ownerMay],
                ]}
              />
              <button type="submit" class="primary">
                {said.send}
              </button>
            </PostForm>
          </Allowed>
        </section>
        <section aria-labelledby="leave">
          <h2 id="leave">{said.leave}</h2>
          {people.some((one) => isMe(one) && isLastOwner(people, one)) ? (
            <p>{said.lastOwner}</p>
          ) : (
            <Allowed view={view} ownerOnly={false}>
              <Careful view={view} action="/portal/team/leave" label={said.leave} of={view.email} consequence={said.leaving} />
            </Allowed>
          )}
        </section>
      </>
    ),
  });
};

const show = async (visit: Visit): Promise<Response> => answer(visit, pageOf(visit.view, await listMembers(visit.services, visit.member)));

const failed = async (visit: Posted, refused: Parameters<typeof faultOf>[0]): Promise<Response> => {
  const fault = faultOf(refused);
  const typed = visit.form.get("email")?.slice(0, 320);
  return answer(visit, pageOf(visit.view, await listMembers(visit.services, visit.member), typed, fault), fault.code);
};

const invite = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form } = visit;
  const full = await crowded(c, "INVITATIONS_PER_BUSINESS", member.business.id);
  if (full !== null) return full;
  const role = form.get("role") === "owner" ? "owner" : "member";
  const invited = await inviteMember(services, member, { email: form.get("email") ?? "", role, idempotencyKey: null });
  return invited.ok ? to(visit, "/portal/team", "invited") : failed(visit, invited);
};

const changeRole = async (visit: Posted): Promise<Response> => {
  const id = memberIdOf(visit.c.req.param("id") ?? "");
  if (id === null) return nothing(visit);
  const changed = await changeMember(visit.services, visit.member, id, visit.form.get("role") === "owner" ? "owner" : "member");
  if (changed.ok) return to(visit, "/portal/team", "saved");
  return changed.code === "not_found" ? nothing(visit) : failed(visit, changed);
};

const remove = async (visit: Posted): Promise<Response> => {
  const id = memberIdOf(visit.c.req.param("id") ?? "");
  if (id === null) return nothing(visit);
  const removed = await removeMember(visit.services, visit.member, id);
  if (removed.ok) return to(visit, "/portal/team", "removed");
  return removed.code === "not_found" ? nothing(visit) : failed(visit, removed);
};

const leave = async (visit: Posted): Promise<Response> => {
  const left = await removeMember(visit.services, visit.member, visit.member.userId);
  if (!left.ok && left.code !== "not_found") return failed(visit, left);
  forgetSession(visit.c);
  return to(visit, "/portal/sign-in");
};

export const mountTeam = (pages: Hono<Api>): void => {
  pages.get("/team", reading(show));
  pages.post("/team", acting({ owner: true }, invite));
  pages.post("/team/leave", acting({}, leave));
  pages.post("/team/:id/role", acting({ owner: true }, changeRole));
  pages.post("/team/:id/remove", acting({ owner: true }, remove));
};
