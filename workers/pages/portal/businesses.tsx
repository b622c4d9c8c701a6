// The businesses that an address acts for: which one the pages are of, the way to each other one, and invitations to more.
import type { Hono } from "hono";
import { memberIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { setSessionCookie } from "../../http/session-guards.ts";
import { declineInvitation, enterBusiness, listSeats } from "../../operations/access/seats.ts";
import { Exact, Foreign, Moment } from "../shared/parts.tsx";
import { Link, Press, Section, Table, words } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { addressOf } from "./paths.ts";
import { acting, reading, to, type Posted, type Visit } from "./visit.ts";

const said = words.businesses;
const path = "/portal/businesses";

/** A page of the portal and nothing else: whoever signs in, or goes to another business, is sent there. */
export const nextPath = (text: string | undefined): string =>
  text !== undefined && /^\/portal(?:\/[\w/-]*)?$/.test(text) && !text.startsWith("/portal/sign-") ? text : "/portal";

/** Where one is chosen before the page is shown. */
export const choosing = (next: string): string => addressOf(path, { next: next === "/portal" ? null : next });

const list = async (visit: Visit): Promise<Response> => {
  const { c, services, member } = visit;
  const listed = visit.seats.length > 0 ? visit.seats : await listSeats(services, member);
  const next = nextPath(c.req.query("next"));
  const invitations = listed.filter(({ invitedUntil }) => invitedUntil !== null);
  return showPage(visit, {
    tab: null,
    title: said.title,
    content: (
      <>
        <p>{said.intro}</p>
        <Table
          label={said.title}
          rows={listed.filter(({ invitedUntil }) => invitedUntil === null)}
          columns={[
            [said.business, ({ business }) => <Exact text={business.name} />],
            [said.role, ({ role }) => words.roles[role]],
            [words.state, ({ business }) => words.billing.states[business.status]],
            [said.used, ({ usedAt }) => (usedAt === null ? said.never : <Moment at={usedAt} />)],
            [
              words.action,
              ({ id, business }) =>
                id === member.userId ? (
                  <Link to={next} text={said.stay} />
                ) : (
                  <Press action={path} label={said.open} of={business.name} values={{ seat: id, next }} />
                ),
            ],
          ]}
        />
        {invitations.length > 0 && (
          <Section id="invitations" title={said.invitations}>
            <p>{said.invited}</p>
            <Table
              label={said.invitations}
              rows={invitations}
              columns={[
                [said.business, ({ business }) => <Foreign text={business.name} />],
                [said.role, ({ role }) => words.roles[role]],
                [said.until, ({ invitedUntil }) => invitedUntil !== null && <Moment at={invitedUntil} />],
                [
                  words.action,
                  ({ id, business }) => (
                    <div class="actions">
                      <Press action={path} label={said.join} of={business.name} values={{ seat: id }} />
                      <Press action={`${path}/decline`} label={said.decline} of={business.name} values={{ seat: id }} />
                    </div>
                  ),
                ],
              ]}
            />
          </Section>
        )}
      </>
    ),
  });
};

const enter = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form } = visit;
  const id = memberIdOf(form.get("seat") ?? "");
  const entered = id === null ? null : await enterBusiness(services, member, { id, userAgent: c.req.header("user-agent") });
  if (!entered?.ok) return nothing(visit);
  setSessionCookie(c, entered.value.token, "business");
  return to(visit, nextPath(form.get("next")), entered.value.hasJoined ? "joined" : undefined);
};

const decline = async (visit: Posted): Promise<Response> => {
  const id = memberIdOf(visit.form.get("seat") ?? "");
  const declined = id === null ? null : await declineInvitation(visit.services, visit.member, id);
  return declined?.ok ? to(visit, path, "declined") : nothing(visit);
};

export const mountBusinesses = (pages: Hono<Api>): void => {
  pages.get("/businesses", reading(list, true));
  pages.post("/businesses", acting({ reads: true, evenClosed: true }, enter));
  pages.post("/businesses/decline", acting({ reads: true, evenClosed: true }, decline));
};
