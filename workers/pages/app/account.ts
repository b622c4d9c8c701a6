// /app/history, and /app/account: where somebody is signed in, with what, and the way out.
import type { Hono } from "hono";
import { businessIdOf, passkeyIdOf, sessionIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import { madeIn } from "../../http/passkey-credentials.ts";
import { leaveSession } from "../../http/session-guards.ts";
import { addPasskey, askForPasskey, removePasskey } from "../../operations/access/passkeys.ts";
import { endOtherSessions, endSession } from "../../operations/access/sessions.ts";
import { readHistory } from "../../operations/consumers/history.ts";
import { readSecurity } from "../../operations/consumers/security.ts";
import type { Flash } from "./parts.tsx";
import { newPasskeyPage } from "./passkey.tsx";
import { isProved } from "./prove.tsx";
import { accountPage, historyPage } from "./records.tsx";
import { acting, answer, flash, formOf, reading, type Posted, type Visit } from "./signed-in.ts";

const entriesPerPage = 50;

/** The entry that the page begins below; null for the newest, and for whatever is no number of an entry. */
const beforeOf = (text: string | undefined): number | null => (text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null);

const history = async (visit: Visit): Promise<Response> => {
  const { c, services, session, view } = visit;
  const [before, of] = [c.req.query("before"), c.req.query("with")];
  if (of === "") return c.redirect("/app/history", 303); // everybody was chosen
  const beforeSeq = beforeOf(before);
  const chosen = of === undefined ? "everybody" : businessIdOf(of);
  const found = await readHistory(services, session, { limit: entriesPerPage, beforeSeq, of: chosen });
  return answer(visit, 200, historyPage(view, { ...found, isNewest: beforeSeq === null, of: of ?? null }));
};

const account = async (visit: Visit): Promise<Response> => {
  const { services, session, view, c } = visit;
  const found = await readSecurity(services, session);
  return found.ok ? answer(visit, 200, accountPage(view, found.value)) : c.redirect("/app", 303);
};

const done = async (visit: Posted, key: Flash["key"] | null): Promise<Response> => {
  if (key !== null) await flash(visit, { key });
  return visit.c.redirect("/app/account", 303);
};

/** Somebody else's, or one that has ended already, changes nothing; the page says what there is. */
const endDevice = async (visit: Posted): Promise<Response> => {
  const id = sessionIdOf(visit.form.get("id") ?? "");
  const ended = id === null ? null : await endSession(visit.services, visit.session, id);
  return done(visit, ended?.ok ? "deviceEnded" : null);
};

const endOtherDevices = async (visit: Posted): Promise<Response> => {
  const ended = await endOtherSessions(visit.services, visit.session);
  return done(visit, ended > 0 ? "othersEnded" : null);
};

const dropPasskey = async (visit: Posted): Promise<Response> => {
  const id = passkeyIdOf(visit.form.get("id") ?? "");
  const removed = id === null ? null : await removePasskey(visit.services, visit.session, id);
  return done(visit, removed?.ok ? "passkeyRemoved" : null);
};

/** A session alone is not enough: whoever stole one would let themselves in for good. */
const whileFresh =
  (then: (visit: Posted) => Promise<Response>) =>
  async (visit: Posted): Promise<Response> =>
    isProved(visit, "passkey") ? then(visit) : visit.c.redirect("/app/prove/passkey", 303);

const askForNewPasskey = async (visit: Posted): Promise<Response> => {
  const options = await askForPasskey(visit.services, visit.session, relyingParty(visit.c));
  return options.ok ? answer(visit, 200, newPasskeyPage(visit.view, options.value)) : done(visit, "passkeyLimit");
};

const keepPasskey = async (visit: Posted): Promise<Response> => {
  const { c, services, session, form, view } = visit;
  const made = madeIn(form.get("credential") ?? "");
  if (made === null) return done(visit, "passkeyNotAdded");
  const request = { made, name: null, userAgent: c.req.header("user-agent"), language: view.setting.language };
  const added = await addPasskey(services, session, relyingParty(c), request);
  return done(visit, added.ok ? "passkeyAdded" : added.code === "passkey_limit" ? "passkeyLimit" : "passkeyNotAdded");
};

const leave = async ({ c }: Posted): Promise<Response> => {
  await leaveSession(c);
  return c.redirect("/app", 303);
};

export const mountAccount = (pages: Hono<Api>): void => {
  pages.get("/history", reading(history));
  pages.get("/account", reading(account));
  pages.post("/account/devices/end", acting(endDevice));
  pages.post("/account/devices/end-others", acting(endOtherDevices));
  pages.post("/account/passkeys/remove", acting(dropPasskey));
  pages.get("/account/passkeys/add", formOf("/app/account"));
  pages.post("/account/passkeys/add", acting(whileFresh(askForNewPasskey)));
  pages.post("/account/passkeys", acting(whileFresh(keepPasskey)));
  pages.post("/sign-out", acting(leave));
};
