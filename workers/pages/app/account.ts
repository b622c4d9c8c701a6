// /app/history and /app/account.
import type { Hono } from "hono";
import type { Api } from "../../http/context.ts";
import { clearSessionCookie, sessionToken } from "../../http/session-guards.ts";
import { signOut } from "../../operations/access/sign-in.ts";
import { auditTrail } from "../../operations/audit/trail.ts";
import { listOwnShares, readProfile } from "../../operations/consumers/profile.ts";
import { accountPage, historyPage } from "./records.tsx";
import { acting, answer, reading, type Posted, type Visit } from "./signed-in.ts";

const entriesPerPage = 50;

/** The entry that the page begins below; null for the newest, and for whatever is no number of an entry. */
const beforeOf = (text: string | undefined): number | null => (text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null);

const history = async (visit: Visit): Promise<Response> => {
  const { c, services, session, person, view } = visit;
  const beforeSeq = beforeOf(c.req.query("before"));
  const [trail, { shares }] = await Promise.all([
    auditTrail(services, { id: person.id, chain: session.chain }, { limit: entriesPerPage, beforeSeq }),
    listOwnShares(services, person),
  ]);
  return answer(visit, 200, historyPage(view, { trail: trail.ok ? trail.value : null, shares, isNewest: beforeSeq === null }));
};

const account = async (visit: Visit): Promise<Response> => {
  const profile = await readProfile(visit.services, visit.person);
  return profile.ok ? answer(visit, 200, accountPage(visit.view, profile.value)) : visit.c.redirect("/app", 303);
};

const leave = async ({ c, services }: Posted): Promise<Response> => {
  const token = sessionToken(c);
  if (token !== null) await signOut(services, token);
  clearSessionCookie(c);
  return c.redirect("/app", 303);
};

export const mountAccount = (pages: Hono<Api>): void => {
  pages.get("/history", reading(history));
  pages.get("/account", reading(account));
  pages.post("/sign-out", acting(leave));
};
