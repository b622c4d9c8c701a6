// /app and /app/with/{business}: who may use a person's details, by business, what was done last first; one business; and ending all of it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { ceaseBy } from "../../../core/business-days.ts";
import { businessIdOf, certIdOf, type BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import {
  activeNaming,
  certificatesNaming,
  readConsents,
  withdrawAll,
  type Consents,
  type NamingBusinesses,
  type NamingCertificates,
} from "../../operations/consumers/certificates.ts";
import { listOwnShares } from "../../operations/consumers/profile.ts";
import { stopAllWith } from "../../operations/consumers/stop-all.ts";
import { ButtonLink, Choices } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import { dayIn, Exact, filled, Foreign, Naming, numberText, Points } from "../shared/parts.tsx";
import { CertificateList, CertificatesLine, MoreBusinesses, ownWordsOf } from "./certificates.tsx";
import { appPage, groupsText, PostForm, ShareStanding, useView, Views, type AppView } from "./parts.tsx";
import { acting, answer, flash, nothingHere, reading, type Posted, type Visit } from "./signed-in.ts";

/** When something was done last about a share. */
const lastAct = ({ status, createdAt, revokedAt, acknowledgedAt, expiresAt }: Share): Instant =>
  acknowledgedAt ?? revokedAt ?? (status === "expired" ? expiresAt : createdAt);

type NamingBusiness = NamingBusinesses["businesses"][number];

interface Group {
  readonly id: string;
  readonly name: string;
  readonly lastAt: Instant;
  readonly shares: readonly Share[];
  /** Consents given on forms; null where none is of the kind that is listed. */
  readonly naming: NamingBusiness | null;
}

/** What was done last first, of shares and of consents on forms. */
const byBusiness = (shares: readonly Share[], namings: readonly NamingBusiness[]): readonly Group[] => {
  const own = Map.groupBy(
    shares.toSorted((a, b) => lastAct(b) - lastAct(a)),
    ({ business }) => business.id,
  );
  const named = new Map(namings.map((naming) => [naming.id, naming]));
  return [...new Set([...own.keys(), ...named.keys()])]
    .map((id) => {
      const [of = [], naming = null] = [own.get(id), named.get(id)];
      const [first] = of;
      const name = first?.business.name ?? naming?.name ?? "";
      return { id, name, shares: of, naming, lastAt: Math.max(first === undefined ? 0 : lastAct(first), naming?.lastIssuedAt ?? 0) };
    })
    .sort((a, b) => b.lastAt - a.lastAt);
};

const ShareLine: FC<{ share: Share }> = ({ share }) => {
  const view = useView();
  const { words, language } = view;
  const isActive = share.status === "active";
  const path = `/app/shares/${share.id}`;
  return (
    <li>
      <p>
        <ShareStanding share={share} />
      </p>
      <p>
        <a href={path}>{filled(words.shareOf, { groups: groupsText(view, share.scope) })}</a>
      </p>
      <p>
        {words.forPurpose} <Foreign text={share.purpose} />
      </p>
      <p class="quiet">
        <Exact text={new URL(share.origin).host} />
        {isActive && <> · {filled(words.until, { date: dayIn(language, share.expiresAt) })}</>}
        {isActive && share.lastDeliveredAt != null && (
          <> · {filled(words.lastDelivered, { date: dayIn(language, share.lastDeliveredAt) })}</>
        )}
        {share.status === "expired" && <> · {filled(words.endedOn, { date: dayIn(language, share.expiresAt) })}</>}
        {share.status === "revoked" && <> · {words.notConfirmed}</>}
      </p>
      {isActive && (
        <p>
          <a class="button" href={`${path}/stop`} aria-label={filled(words.stopWith, { business: share.business.name })}>
            {words.stop}
          </a>
        </p>
      )}
    </li>
  );
};

const activeOf = (shares: readonly Share[]): readonly Share[] => shares.filter(({ status }) => status === "active");

const BusinessCard: FC<{ group: Group; isEnded: boolean }> = ({ group: { id, name, shares, naming }, isEnded }) => (
  <section class="card" aria-labelledby={id}>
    <h2 id={id}>
      <a href={`/app/with/${id}`}>
        <Exact text={name} />
      </a>
    </h2>
    <ul class="lines">
      {shares.map((share) => (
        <ShareLine share={share} />
      ))}
      {naming !== null && <CertificatesLine naming={naming} isEnded={isEnded} />}
    </ul>
    {!isEnded && shares.length + (naming?.active ?? 0) > 1 && (
      <p>
        <a href={`/app/with/${id}/stop`}>
          <Naming text={useView().words.stopAllWith} name={name} />
        </a>
      </p>
    )}
  </section>
);

const consentsPage = (view: AppView, { shares, hasMore, naming, isEnded }: Consents & { readonly isEnded: boolean }): Page => {
  const { words, language } = view;
  const current = activeOf(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const { businesses } = naming;
  const ofView = ({ active, certificates }: NamingBusiness): number => (isEnded ? certificates - active : active);
  const groups = byBusiness(
    isEnded ? ended : current,
    businesses.filter((one) => ofView(one) > 0),
  );
  const active = businesses.reduce((sum, one) => sum + one.active, 0);
  const withdrawn = businesses.reduce((sum, one) => sum + one.certificates - one.active, 0);
  const counting = (text: string, count: number): string => filled(text, { count: numberText(count, language) });
  const views = [
    { path: "/app", text: counting(words.current, current.length + active), isOpen: !isEnded },
    { path: "/app?view=ended", text: counting(words.ended, ended.length + withdrawn), isOpen: isEnded },
  ];
  const empty = shares.length + businesses.length === 0 ? words.none : isEnded ? words.noneEnded : words.noneCurrent;
  return appPage(
    view,
    { tab: "consents", title: words.tabs.consents, heading: words.name },
    <>
      <p>{words.intro}</p>
      <Views label={words.viewsLabel} of={views} />
      {groups.length === 0 && <p>{empty}</p>}
      {groups.map((group) => (
        <BusinessCard group={group} isEnded={isEnded} />
      ))}
      <MoreBusinesses naming={naming} isEnded={isEnded} />
      {hasMore && <p class="quiet">{words.onlyNewest}</p>}
    </>,
  );
};

/** One business, and all that it holds: never nothing. */
interface With {
  readonly id: BusinessId;
  readonly name: string;
  readonly shares: readonly Share[];
  readonly naming: NamingCertificates;
  /** How many consents on forms are active. */
  readonly active: number;
}

/** All that is, and was, agreed to with one business. */
const businessPage = (view: AppView, { id, name, shares, naming, active }: With): Page => {
  const { words } = view;
  return appPage(
    view,
    { title: words.withTitle, business: name },
    <>
      {shares.length > 0 && (
        <ul class="lines">
          {shares
            .toSorted((a, b) => lastAct(b) - lastAct(a))
            .map((share) => (
              <ShareLine share={share} />
            ))}
        </ul>
      )}
      {naming.certificates.length > 0 && <CertificateList of={naming} businessId={id} />}
      {activeOf(shares).length + active > 0 && (
        <p>
          <ButtonLink href={`/app/with/${id}/stop`}>
            <Naming text={words.stopAllWith} name={name} />
          </ButtonLink>
        </p>
      )}
      <p>
        <a href="/app">{words.backToList}</a>
      </p>
    </>,
  );
};

/** What ends, and what follows, before it does. */
const stopAllPage = (view: AppView, { id, name, shares, active }: With): Page => {
  const { words, language } = view;
  const current = activeOf(shares);
  const count = current.length + active;
  const { stopsConsent, stopsConsents } = ownWordsOf(view);
  const deadline = filled(words.stopDeadline, { date: dayIn(language, ceaseBy(view.now)) });
  return appPage(
    view,
    { title: words.stopAllTitle, business: name },
    <>
      <p>{words.stopAllIntro}</p>
      <ul class="names">
        {current.map((share) => (
          <li>
            {filled(words.shareOf, { groups: groupsText(view, share.scope) })}. {words.forPurpose} <Foreign text={share.purpose} />
          </li>
        ))}
        {active > 0 && <li>{active === 1 ? stopsConsent : filled(stopsConsents, { count: numberText(active, language) })}</li>}
      </ul>
      <Points of={[words.stopNothingMore, deadline, words.stopKeeps, words.stopProof]} />
      <PostForm action={`/app/with/${id}/stop`}>
        <Choices
          back={`/app/with/${id}`}
          keep={words.keepAll}
          go={count === 1 ? words.stopAllOne : filled(words.stopAll, { count: numberText(count, language) })}
        />
      </PostForm>
    </>,
  );
};

const nothing: Consents = { shares: [], hasMore: false, naming: { businesses: [], hasMore: false, isIncomplete: false } };

const consents = async (visit: Visit): Promise<Response> => {
  const { services, person, c } = visit;
  const after = businessIdOf(c.req.query("after") ?? "");
  const found = await readConsents(services, person, after);
  const isEnded = c.req.query("view") === "ended";
  return answer(visit, 200, consentsPage(visit.view, { ...(found.ok ? found.value : nothing), isEnded }));
};

/** What the business that the address names holds; a page of its own where that is nothing. */
const withBusiness =
  <V extends Visit>(then: (visit: V, all: With) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c, view } = visit;
    const id = businessIdOf(c.req.param("business") ?? "");
    const nothing = (): Promise<Response> => nothingHere(visit, view.words.noBusiness, view.words.noBusinessAdvice);
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

export const mountConsents = (pages: Hono<Api>): void => {
  pages.get("/", reading(consents));
  pages.get("/with/:business", reading(withBusiness((visit, all) => answer(visit, 200, businessPage(visit.view, all)))));
  pages.get("/with/:business/stop", reading(withBusiness(askToStopAll)));
  pages.post("/with/:business/stop", acting(withBusiness(stopAll)));
};
