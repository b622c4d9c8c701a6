// /app, /app/shares/… and /app/with/…: who holds something, one share, one business; stopping and renewing.
import type { Hono } from "hono";
import { ceaseBy } from "../../../core/business-days.ts";
import { businessIdOf, certIdOf, shareIdOf } from "../../../core/ids.ts";
import { contactKeys, type ContactFields } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Api } from "../../http/context.ts";
import { activeNaming, certificatesNaming, readConsents, withdrawAll, type Consents } from "../../operations/consumers/certificates.ts";
import { readFields } from "../../operations/consumers/fields.ts";
import { listOwnShares } from "../../operations/consumers/profile.ts";
import { stopAllWith } from "../../operations/consumers/stop-all.ts";
import { readOwnShare, type OwnShare } from "../../operations/shares/read.ts";
import { renewShare } from "../../operations/shares/renew.ts";
import { revokeByPerson } from "../../operations/shares/revoke.ts";
import { outagePage } from "../shared/notices.tsx";
import { businessPage, consentsPage, stopAllPage, type With } from "./consents.tsx";
import { appNotice, titleOf } from "./parts.tsx";
import { renewable, renewPage, sharePage, shorterDays, stopPage } from "./share.tsx";
import { acting, answer, counted, flash, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const nothing: Consents = { shares: [], hasMore: false, naming: { businesses: [], hasMore: false, isIncomplete: false } };

const consents = async (visit: Visit): Promise<Response> => {
  const { services, person, c } = visit;
  const after = businessIdOf(c.req.query("after") ?? "");
  const found = await readConsents(services, person, after);
  const isEnded = c.req.query("view") === "ended";
  return answer(visit, 200, consentsPage(visit.view, { ...(found.ok ? found.value : nothing), isEnded }));
};

const noShare = (visit: Visit): Promise<Response> =>
  refused(visit, "not_found", appNotice(visit.view, visit.view.words.noShare, visit.view.words.noShareAdvice));

const pathOf = ({ id }: Pick<Share, "id">): string => `/app/shares/${id}`;

/** With the share that the address names; a page of its own where there is none of theirs. */
const withShare =
  <V extends Visit>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c } = visit;
    const [own, fields] = await Promise.all([
      readOwnShare(services, person, shareIdOf(c.req.param("id") ?? "")),
      readFields(services, person),
    ]);
    return own.ok ? then(visit, own.value, fields.ok ? fields.value : {}) : noShare(visit);
  };

/** What is over cannot be stopped or renewed; its page says how it ended. */
const whileActive =
  <V extends Visit>(then: (visit: V, own: OwnShare, fields: ContactFields) => Promise<Response>) =>
  async (visit: V, own: OwnShare, fields: ContactFields): Promise<Response> =>
    own.share.status === "active" ? then(visit, own, fields) : visit.c.redirect(pathOf(own.share), 303);

const stop = async (visit: Posted, own: OwnShare): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const reason = form.get("reason") ?? "";
  const revoked = await revokeByPerson(services, share.id, { person }, { reason, requestId: c.var.requestId });
  if (!revoked.ok) {
    if (revoked.code === "invalid_request")
      return refused(visit, revoked.code, stopPage(view, own, reason.slice(0, 300), view.words.badReason));
    return revoked.code === "storage_unavailable" ? outagePage(c) : c.redirect(pathOf(share), 303);
  }
  await flash(visit, { key: "stopped", date: revoked.value.ceaseBy });
  return c.redirect(pathOf(share), 303);
};

const renew = async (visit: Posted, own: OwnShare, fields: ContactFields): Promise<Response> => {
  const { c, services, person, view, form } = visit;
  const { share } = own;
  const ticked = renewable(share, fields).filter(({ group }) => form.has(`group.${group}`));
  const keys = new Set(ticked.flatMap(({ keys: of }) => of));
  if (keys.size === 0) return refused(visit, "invalid_request", renewPage(view, own, fields, view.words.tickOne));
  const crowded = await counted(visit, "GRANTS");
  if (crowded !== null) return crowded;
  const days = shorterDays.find((one) => String(one) === form.get("days"));
  const renewed = await renewShare(services, person, share.id, {
    scope: contactKeys.filter((key) => keys.has(key)),
    durationDays: days !== undefined && days < share.durationDays ? days : null,
    language: view.setting.language,
    requestId: c.var.requestId,
  });
  if (renewed.ok) {
    await flash(visit, { key: "renewed", date: renewed.value.share.expiresAt });
    return c.redirect(pathOf(renewed.value.share), 303);
  }
  const { code } = renewed;
  if (code === "storage_unavailable") return outagePage(c);
  if (code === "business_inactive" || code === "business_suspended" || code === "subscription_past_due")
    return refused(visit, code, appNotice(view, titleOf(view.words.mayNot, share.business.name), view.words.mayNotAdvice));
  return c.redirect(code === "invalid_request" ? `${pathOf(share)}/renew` : pathOf(share), 303); // over, or a value is gone: the page says so
};

/** What the business that the address names holds; a page of its own where that is nothing. */
const withBusiness =
  <V extends Visit>(then: (visit: V, all: With) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c, view } = visit;
    const id = businessIdOf(c.req.param("business") ?? "");
    const nothing = (): Promise<Response> =>
      refused(visit, "not_found", appNotice(view, view.words.noBusiness, view.words.noBusinessAdvice));
    if (id === null) return nothing();
    const [{ shares }, found, active] = await Promise.all([
      listOwnShares(services, person),
      certificatesNaming(services, person, id, certIdOf(c.req.query("after") ?? "")),
      activeNaming(services, person, id),
    ]);
    const own = shares.filter(({ business }) => business.id === id);
    const naming = found.ok ? found.value : { certificates: [], hasMore: false };
    const name = own[0]?.business.name ?? naming.certificates[0]?.businessName;
    return name === undefined ? nothing() : then(visit, { id, name, shares: own, naming, active });
  };

const askToStopAll = async (visit: Visit, all: With): Promise<Response> =>
  all.active === 0 && all.shares.every(({ status }) => status !== "active")
    ? visit.c.redirect(`/app/with/${all.id}`, 303)
    : answer(visit, 200, stopAllPage(visit.view, all));

const stopAll = async (visit: Posted, { id, active }: With): Promise<Response> => {
  const { c, services, person } = visit;
  const { stopped, left, ceaseBy: until } = await stopAllWith(services, person, id, c.var.requestId);
  const all = active === 0 ? null : await withdrawAll(services, person, { businessId: id });
  if (left > 0) await flash(visit, { key: "someLeft", count: left });
  else if (all?.ok) {
    const { withdrawn, withdrawnAt, isPending } = all.value;
    await flash(visit, { key: isPending ? "endedPending" : "endedAll", count: stopped + withdrawn, date: ceaseBy(withdrawnAt) });
  } else if (until !== null) await flash(visit, { key: stopped === 1 ? "stoppedAllOne" : "stoppedAll", count: stopped, date: until });
  return c.redirect(`/app/with/${id}`, 303);
};

export const mountShares = (pages: Hono<Api>): void => {
  pages.get("/", reading(consents));
  pages.get("/shares", (c) => c.redirect("/app", 303)); // where assistants send people
  pages.get("/shares/:id", reading(withShare((visit, own, fields) => answer(visit, 200, sharePage(visit.view, own, fields)))));
  pages.get("/shares/:id/stop", reading(withShare(whileActive((visit, own) => answer(visit, 200, stopPage(visit.view, own))))));
  pages.post("/shares/:id/stop", acting(withShare(whileActive(stop))));
  pages.get(
    "/shares/:id/renew",
    reading(withShare(whileActive((visit, own, fields) => answer(visit, 200, renewPage(visit.view, own, fields))))),
  );
  pages.post("/shares/:id/renew", acting(withShare(whileActive(renew))));
  pages.get("/with/:business", reading(withBusiness((visit, all) => answer(visit, 200, businessPage(visit.view, all)))));
  pages.get("/with/:business/stop", reading(withBusiness(askToStopAll)));
  pages.post("/with/:business/stop", acting(withBusiness(stopAll)));
};
