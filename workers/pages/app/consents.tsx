// /app and /app/with/{business}: who may use a person's details, by business, what was done last first; one business; and ending all of it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { parseBusinessId, parseCertId, type BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { countActiveCertificates } from "../../operations/consumers/count-active-certificates.ts";
import type { NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import { listCertificatesNamingPerson, type NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { listConsents, type ConsentPage } from "../../operations/consumers/list-consents.ts";
import { withdrawAllCertificates } from "../../operations/consumers/withdraw-all-certificates.ts";
import { listOwnShares } from "../../operations/consumers/list-own-shares.ts";
import { revokeAllShares } from "../../operations/consumers/revoke-all-shares.ts";
import { ButtonLink, ConfirmActions } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { formatDay, VerbatimText, formatMessage, UntrustedText, BusinessMessage, formatNumber, BulletList } from "../shared/components.tsx";
import { CertificateList, CertificateSummaryItem, MoreBusinessesLink, getOwnCertificateMessages } from "./certificates.tsx";
import { appPage, formatScope, PostForm, ShareStatusLabel, useAppView, ViewTabs, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  setFlash,
  notFoundPage,
  authenticatedPage,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

/** When something was done last about a share. */
const getLastActivityAt = ({ status, createdAt, revokedAt, acknowledgedAt, expiresAt }: Share): Instant =>
  acknowledgedAt ?? revokedAt ?? (status === "expired" ? expiresAt : createdAt);

type BusinessCertificateSummary = NamingBusinessPage["businesses"][number];

interface BusinessGroup {
  readonly id: string;
  readonly name: string;
  readonly lastAt: Instant;
  readonly shares: readonly Share[];
  /** Consents given on forms; null where none is of the kind that is listed. */
  readonly naming: BusinessCertificateSummary | null;
}

/** What was done last first, of shares and of consents on forms. */
const groupByBusiness = (shares: readonly Share[], namings: readonly BusinessCertificateSummary[]): readonly BusinessGroup[] => {
  const own = Map.groupBy(
    shares.toSorted((a, b) => getLastActivityAt(b) - getLastActivityAt(a)),
    ({ business }) => business.id,
  );
  const named = new Map(namings.map((naming) => [naming.id, naming]));
  return [...new Set([...own.keys(), ...named.keys()])]
    .map((id) => {
      const [of = [], naming = null] = [own.get(id), named.get(id)];
      const [first] = of;
      const name = first?.business.name ?? naming?.name ?? "";
      return {
        id,
        name,
        shares: of,
        naming,
        lastAt: Math.max(first === undefined ? 0 : getLastActivityAt(first), naming?.lastIssuedAt ?? 0),
      };
    })
    .sort((a, b) => b.lastAt - a.lastAt);
};

const ShareItem: FC<{ share: Share }> = ({ share }) => {
  const view = useAppView();
  const { messages, language } = view;
  const isActive = share.status === "active";
  const path = `/app/shares/${share.id}`;
  return (
    <li>
      <p>
        <ShareStatusLabel share={share} />
      </p>
      <p>
        <a href={path}>{formatMessage(messages.shareOf, { groups: formatScope(view, share.scope) })}</a>
      </p>
      <p>
        {messages.forPurpose} <UntrustedText text={share.purpose} />
      </p>
      <p class="quiet">
        <VerbatimText text={new URL(share.origin).host} />
        {isActive && <> · {formatMessage(messages.until, { date: formatDay(language, share.expiresAt) })}</>}
        {isActive && share.lastDeliveredAt != null && (
          <> · {formatMessage(messages.lastDelivered, { date: formatDay(language, share.lastDeliveredAt) })}</>
        )}
        {share.status === "expired" && <> · {formatMessage(messages.endedOn, { date: formatDay(language, share.expiresAt) })}</>}
        {share.status === "revoked" && <> · {messages.notConfirmed}</>}
      </p>
      {isActive && (
        <p>
          <a class="button" href={`${path}/stop`} aria-label={formatMessage(messages.stopWith, { business: share.business.name })}>
            {messages.stop}
          </a>
        </p>
      )}
    </li>
  );
};

const filterActiveShares = (shares: readonly Share[]): readonly Share[] => shares.filter(({ status }) => status === "active");

const BusinessCard: FC<{ group: BusinessGroup; isEnded: boolean }> = ({ group: { id, name, shares, naming }, isEnded }) => (
  <section class="card" aria-labelledby={id}>
    <h2 id={id}>
      <a href={`/app/with/${id}`}>
        <VerbatimText text={name} />
      </a>
    </h2>
    <ul class="lines">
      {shares.map((share) => (
        <ShareItem share={share} />
      ))}
      {naming !== null && <CertificateSummaryItem naming={naming} isEnded={isEnded} />}
    </ul>
    {!isEnded && shares.length + (naming?.active ?? 0) > 1 && (
      <p>
        <a href={`/app/with/${id}/stop`}>
          <BusinessMessage text={useAppView().messages.stopAllWith} name={name} />
        </a>
      </p>
    )}
  </section>
);

const consentsPage = (view: AppView, { shares, hasMore, naming, isEnded }: ConsentPage & { readonly isEnded: boolean }): Page => {
  const { messages, language } = view;
  const current = filterActiveShares(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const { businesses } = naming;
  const ofView = ({ active, certificates }: BusinessCertificateSummary): number => (isEnded ? certificates - active : active);
  const groups = groupByBusiness(
    isEnded ? ended : current,
    businesses.filter((one) => ofView(one) > 0),
  );
  const active = businesses.reduce((sum, one) => sum + one.active, 0);
  const withdrawn = businesses.reduce((sum, one) => sum + one.certificates - one.active, 0);
  const counting = (text: string, count: number): string => formatMessage(text, { count: formatNumber(count, language) });
  const views = [
    { path: "/app", text: counting(messages.current, current.length + active), isOpen: !isEnded },
    { path: "/app?view=ended", text: counting(messages.ended, ended.length + withdrawn), isOpen: isEnded },
  ];
  const empty = shares.length + businesses.length === 0 ? messages.none : isEnded ? messages.noneEnded : messages.noneCurrent;
  return appPage(
    view,
    { tab: "consents", title: messages.tabs.consents, heading: messages.name },
    <>
      <p>{messages.intro}</p>
      <ViewTabs label={messages.viewsLabel} of={views} />
      {groups.length === 0 && <p>{empty}</p>}
      {groups.map((group) => (
        <BusinessCard group={group} isEnded={isEnded} />
      ))}
      <MoreBusinessesLink naming={naming} isEnded={isEnded} />
      {hasMore && <p class="quiet">{messages.onlyNewest}</p>}
    </>,
  );
};

/** One business, and all that it holds: never nothing. */
interface BusinessConsents {
  readonly id: BusinessId;
  readonly name: string;
  readonly shares: readonly Share[];
  readonly certificates: NamingCertificatePage;
  /** How many consents on forms are active. */
  readonly activeCertificateCount: number;
}

/** All that is, and was, agreed to with one business. */
const businessPage = (view: AppView, { id, name, shares, certificates, activeCertificateCount }: BusinessConsents): Page => {
  const { messages } = view;
  return appPage(
    view,
    { title: messages.withTitle, business: name },
    <>
      {shares.length > 0 && (
        <ul class="lines">
          {shares
            .toSorted((a, b) => getLastActivityAt(b) - getLastActivityAt(a))
            .map((share) => (
              <ShareItem share={share} />
            ))}
        </ul>
      )}
      {certificates.certificates.length > 0 && <CertificateList of={certificates} businessId={id} />}
      {filterActiveShares(shares).length + activeCertificateCount > 0 && (
        <p>
          <ButtonLink href={`/app/with/${id}/stop`}>
            <BusinessMessage text={messages.stopAllWith} name={name} />
          </ButtonLink>
        </p>
      )}
      <p>
        <a href="/app">{messages.backToList}</a>
      </p>
    </>,
  );
};

/** What ends, and what follows, before it does. */
const revokeAllPage = (view: AppView, { id, name, shares, activeCertificateCount }: BusinessConsents): Page => {
  const { messages, language } = view;
  const current = filterActiveShares(shares);
  const count = current.length + activeCertificateCount;
  const { stopsConsent, stopsConsents } = getOwnCertificateMessages(view);
  const deadline = formatMessage(messages.stopDeadline, { date: formatDay(language, getCeaseDeadline(view.now)) });
  return appPage(
    view,
    { title: messages.stopAllTitle, business: name },
    <>
      <p>{messages.stopAllIntro}</p>
      <ul class="names">
        {current.map((share) => (
          <li>
            {formatMessage(messages.shareOf, { groups: formatScope(view, share.scope) })}. {messages.forPurpose}{" "}
            <UntrustedText text={share.purpose} />
          </li>
        ))}
        {activeCertificateCount > 0 && (
          <li>
            {activeCertificateCount === 1
              ? stopsConsent
              : formatMessage(stopsConsents, { count: formatNumber(activeCertificateCount, language) })}
          </li>
        )}
      </ul>
      <BulletList of={[messages.stopNothingMore, deadline, messages.stopKeeps, messages.stopProof]} />
      <PostForm action={`/app/with/${id}/stop`}>
        <ConfirmActions
          back={`/app/with/${id}`}
          keep={messages.keepAll}
          go={count === 1 ? messages.stopAllOne : formatMessage(messages.stopAll, { count: formatNumber(count, language) })}
        />
      </PostForm>
    </>,
  );
};

const emptyConsents: ConsentPage = { shares: [], hasMore: false, naming: { businesses: [], hasMore: false, isIncomplete: false } };

const renderConsents = async (visit: AppRequest): Promise<Response> => {
  const { services, person, c } = visit;
  const after = parseBusinessId(c.req.query("after") ?? "");
  const found = await listConsents(services, person, after);
  const isEnded = c.req.query("view") === "ended";
  return renderAppPage(visit, 200, consentsPage(visit.view, { ...(found.ok ? found.value : emptyConsents), isEnded }));
};

/** What the business that the address names holds; a page of its own where that is nothing. */
const withBusiness =
  <V extends AppRequest>(then: (visit: V, all: BusinessConsents) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const { services, person, c, view } = visit;
    const id = parseBusinessId(c.req.param("business") ?? "");
    const nothing = (): Promise<Response> => notFoundPage(visit, view.messages.noBusiness, view.messages.noBusinessAdvice);
    if (id === null) return nothing();
    const [{ shares }, found, active] = await Promise.all([
      listOwnShares(services, person),
      listCertificatesNamingPerson(services, person, id, parseCertId(c.req.query("after") ?? "")),
      countActiveCertificates(services, person, id),
    ]);
    const own = shares.filter(({ business }) => business.id === id);
    const naming = found.ok ? found.value : { certificates: [], hasMore: false };
    const name = own[0]?.business.name ?? naming.certificates[0]?.businessName;
    return name === undefined ? nothing() : then(visit, { id, name, shares: own, certificates: naming, activeCertificateCount: active });
  };

const renderRevokeAll = async (visit: AppRequest, all: BusinessConsents): Promise<Response> =>
  all.activeCertificateCount === 0 && all.shares.every(({ status }) => status !== "active")
    ? visit.c.redirect(`/app/with/${all.id}`, 303)
    : renderAppPage(visit, 200, revokeAllPage(visit.view, all));

const handleRevokeAll = async (visit: AppFormRequest, { id, activeCertificateCount }: BusinessConsents): Promise<Response> => {
  const { c, services, person } = visit;
  const { revoked, remaining, ceaseBy: until } = await revokeAllShares(services, person, id, c.var.requestId);
  const all = activeCertificateCount === 0 ? null : await withdrawAllCertificates(services, person, { businessId: id });
  if (remaining > 0) await setFlash(visit, { key: "someLeft", count: remaining });
  else if (all?.ok) {
    const { withdrawn, withdrawnAt, isPending } = all.value;
    await setFlash(visit, {
      key: isPending ? "endedPending" : "endedAll",
      count: revoked + withdrawn,
      date: getCeaseDeadline(withdrawnAt),
    });
  } else if (until !== null) await setFlash(visit, { key: revoked === 1 ? "stoppedAllOne" : "stoppedAll", count: revoked, date: until });
  return c.redirect(`/app/with/${id}`, 303);
};

export const registerConsentRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", authenticatedPage(renderConsents));
  pages.get("/with/:business", authenticatedPage(withBusiness((visit, all) => renderAppPage(visit, 200, businessPage(visit.view, all)))));
  pages.get("/with/:business/stop", authenticatedPage(withBusiness(renderRevokeAll)));
  pages.post("/with/:business/stop", authenticatedAction(withBusiness(handleRevokeAll)));
};
