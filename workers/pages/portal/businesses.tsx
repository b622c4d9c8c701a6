// The businesses that an address acts for: which one the pages are of, the way to each other one, and invitations to more.
import type { Hono } from "hono";
import { memberIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { setSessionCookie } from "../../http/session-guards.ts";
import { declineInvitation, enterBusiness, listSeats, type Seat } from "../../operations/access/seats.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, Foreign, Moment } from "../shared/parts.tsx";
import { portalPage, Press, Table, type PortalView } from "./parts.tsx";
import { acting, answer, nothing, reading, to, type Posted, type Visit } from "./visit.ts";

const path = "/portal/businesses";
const declinePath = `${path}/decline`;

/** A page of the portal and nothing else: whoever signs in, or goes to another business, is sent there. */
export const nextPath = (text: string | undefined): string =>
  text !== undefined && /^\/portal(?:\/[\w/-]*)?$/.test(text) && !text.startsWith("/portal/sign-") ? text : "/portal";

/** Where one is chosen before the page is shown. */
export const choosing = (next: string): string => (next === "/portal" ? path : `${path}?next=${encodeURIComponent(next)}`);

const pageOf = (view: PortalView, listed: readonly Seat[], next: string): Page => {
  const { words, setting, member } = view;
  const { businesses: said, roles, billing } = words;
  const seats = listed.filter(({ invitedUntil }) => invitedUntil === null);
  const invitations = listed.filter(({ invitedUntil }) => invitedUntil !== null);
  return portalPage(view, {
    tab: null,
    title: said.title,
    content: (
      <>
        <p>{said.intro}</p>
        <Table
          label={said.title}
          rows={seats}
          columns={[
            { head: said.business, cell: ({ business }) => <Exact text={business.name} /> },
            { head: said.role, cell: ({ role }) => roles[role] },
            { head: words.state, cell: ({ business }) => billing.states[business.status] },
            { head: said.used, cell: ({ usedAt }) => (usedAt === null ? said.never : <Moment at={usedAt} setting={setting} />) },
            {
              head: words.action,
              cell: ({ id, business }: Seat) =>
                id === member.userId ? (
                  <a href={view.at(next)}>{said.stay}</a>
                ) : (
                  <Press view={view} action={path} label={said.open} of={business.name} values={{ seat: id, next }} />
                ),
            },
          ]}
        />
        {invitations.length > 0 && (
          <section aria-labelledby="invitations">
            <h2 id="invitations">{said.invitations}</h2>
            <p>{said.invited}</p>
            <Table
              label={said.invitations}
              rows={invitations}
              columns={[
                { head: said.business, cell: ({ business }) => <Foreign text={business.name} setting={setting} /> },
                { head: said.role, cell: ({ role }) => roles[role] },
                { head: said.until, cell: ({ invitedUntil }) => invitedUntil !== null && <Moment at={invitedUntil} setting={setting} /> },
                {
                  head: words.action,
                  cell: ({ id, business }) => (
                    <div class="actions">
                      <Press view={view} action={path} label={said.join} of={business.name} values={{ seat: id }} />
                      <Press view={view} action={declinePath} label={said.decline} of={business.name} values={{ seat: id }} />
                    </div>
                  ),
                },
              ]}
            />
          </section>
        )}
      </>
    ),
  });
};

const list = async (visit: Visit): Promise<Response> => {
  const { c, services, member, view } = visit;
  const seats = view.seats.length > 0 ? view.seats : await listSeats(services, member);
  return answer(visit, pageOf(view, seats, nextPath(c.req.query("next"))));
};

const enter = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, view } = visit;
  const id = memberIdOf(form.get("seat") ?? "");
  const entered = id === null ? null : await enterBusiness(services, member, { id, userAgent: c.req.header("user-agent") });
  if (!entered?.ok) return nothing(visit);
  setSessionCookie(c, entered.value.token, "business");
  const next = view.at(nextPath(form.get("next")));
  return c.redirect(entered.value.hasJoined ? `${next}?done=joined` : next, 303);
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
