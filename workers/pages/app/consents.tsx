// /app and /app/with/{business}: a person's consents grouped by business, the consents of one business, and ending all of them.
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
import { NavigationList } from "../shared/signed-in-components.tsx";
import { countOthersShares } from "../../operations/consumers/count-others-shares.ts";
import {
  CertificateList,
  CertificateSummaryItem,
  MoreBusinessesLink,
  OthersSharesItem,
  getOwnCertificateMessages,
} from "./certificates.tsx";
import { appPage, formatScope, PostForm, ShareStatusLabel, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  setFlash,
  notFoundPage,
  authenticatedPage,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

const getLastActivityAt = ({ status, createdAt, revokedAt, acknowledgedAt, expiresAt }: Share): Instant =>
  acknowledgedAt ?? revokedAt ?? (status === "expired" ? expiresAt : createdAt);

const sortByActivity = (shares: readonly Share[]): readonly Share[] =>
  shares.toSorted((a, b) => getLastActivityAt(b) - getLastActivityAt(a));

type BusinessCertificateSummary = NamingBusinessPage["businesses"][number];

interface BusinessGroup {
  readonly id: string;
  readonly name: string;
  readonly lastActivityAt: Instant;
  readonly shares: readonly Share[];
  /** Consents given on forms; null if the list does not show any of them. */
  readonly certificateSummary: BusinessCertificateSummary | null;
}

/** Groups shares and consents on forms by business, with the latest activity first. */
const groupByBusiness = (
  shares: readonly Share[],
  certificateSummaries: readonly BusinessCertificateSummary[],
): readonly BusinessGroup[] => {
  const sharesById = Map.groupBy(sortByActivity(shares), ({ business }) => business.id);
  const summariesById = new Map(certificateSummaries.map((summary) => [summary.id, summary]));
  return [...new Set([...sharesById.keys(), ...summariesById.keys()])]
    .map((id) => {
      const [businessShares = [], certificateSummary = null] = [sharesById.get(id), summariesById.get(id)];
      const [latest] = businessShares;
      return {
        id,
        name: latest?.business.name ?? certificateSummary?.name ?? "",
        shares: businessShares,
        certificateSummary,
        lastActivityAt: Math.max(latest === undefined ? 0 : getLastActivityAt(latest), certificateSummary?.lastIssuedAt ?? 0),
      };
    })
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt);
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
          <a class="btn" href={`${path}/stop`} aria-label={formatMessage(messages.stopWith, { business: share.business.name })}>
            {messages.stop}
          </a>
        </p>
      )}
    </li>
  );
};

const filterActiveShares = (shares: readonly Share[]): readonly Share[] => shares.filter(({ status }) => status === "active");

const countCertificates = ({ certificates, active }: BusinessCertificateSummary, isEnded: boolean): number =>
  isEnded ? certificates - active : active;
const countOthers = ({ othersShares, activeOthersShares }: BusinessCertificateSummary, isEnded: boolean): number =>
  isEnded ? othersShares - activeOthersShares : activeOthersShares;

const BusinessCard: FC<{ group: BusinessGroup; isEnded: boolean }> = ({ group: { id, name, shares, certificateSummary }, isEnded }) => (
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
      {certificateSummary !== null && countCertificates(certificateSummary, isEnded) > 0 && (
        <CertificateSummaryItem summary={certificateSummary} isEnded={isEnded} />
      )}
      {certificateSummary !== null && countOthers(certificateSummary, isEnded) > 0 && (
        <OthersSharesItem businessId={id} count={countOthers(certificateSummary, isEnded)} isEnded={isEnded} />
      )}
    </ul>
    {!isEnded && shares.length + (certificateSummary?.active ?? 0) + (certificateSummary?.activeOthersShares ?? 0) > 1 && (
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
  const active = filterActiveShares(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const { businesses } = naming;
  const countShown = (summary: BusinessCertificateSummary): number => countCertificates(summary, isEnded) + countOthers(summary, isEnded);
  const groups = groupByBusiness(
    isEnded ? ended : active,
    businesses.filter((summary) => countShown(summary) > 0),
  );
  const activeCertificates = businesses.reduce((sum, summary) => sum + countCertificates(summary, false) + countOthers(summary, false), 0);
  const withdrawnCertificates = businesses.reduce((sum, summary) => sum + countCertificates(summary, true) + countOthers(summary, true), 0);
  const withCount = (text: string, count: number): string => formatMessage(text, { count: formatNumber(count, language) });
  const views = [
    { path: "/app", text: withCount(messages.current, active.length + activeCertificates), current: isEnded ? undefined : "true" },
    {
      path: "/app?view=ended",
      text: withCount(messages.ended, ended.length + withdrawnCertificates),
      current: isEnded ? "true" : undefined,
    },
  ] as const;
  const emptyMessage = shares.length + businesses.length === 0 ? messages.none : isEnded ? messages.noneEnded : messages.noneCurrent;
  return appPage(
    view,
    { tab: "consents", title: messages.tabs.consents, heading: messages.name },
    <>
      <p>{messages.intro}</p>
      <NavigationList class="views" label={messages.viewsLabel} links={views} />
      {groups.length === 0 && <p>{emptyMessage}</p>}
      {groups.map((group) => (
        <BusinessCard group={group} isEnded={isEnded} />
      ))}
      <MoreBusinessesLink naming={naming} isEnded={isEnded} />
      {hasMore && <p class="quiet">{messages.onlyNewest}</p>}
    </>,
  );
};

/** The records of one business that name the person. There is at least one. */
interface BusinessConsents {
  readonly id: BusinessId;
  readonly name: string;
  readonly shares: readonly Share[];
  readonly certificates: NamingCertificatePage;
  readonly activeCertificateCount: number;
  /** Shares that other people made with the person's address. */
  readonly activeOthersShares: number;
}

const businessPage = (view: AppView, consents: BusinessConsents): Page => {
  const { id, name, shares, certificates, activeCertificateCount, activeOthersShares } = consents;
  const { messages } = view;
  return appPage(
    view,
    { title: messages.withTitle, business: name },
    <>
      {shares.length > 0 && (
        <ul class="lines">
          {sortByActivity(shares).map((share) => (
            <ShareItem share={share} />
          ))}
        </ul>
      )}
      {certificates.certificates.length > 0 && <CertificateList page={certificates} businessId={id} />}
      {activeOthersShares > 0 && (
        <ul class="lines">
          <OthersSharesItem businessId={id} count={activeOthersShares} isEnded={false} />
        </ul>
      )}
      {filterActiveShares(shares).length + activeCertificateCount + activeOthersShares > 0 && (
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

/** Explains the consequences before all consents of a business end. */
const revokeAllPage = (view: AppView, { id, name, shares, activeCertificateCount, activeOthersShares }: BusinessConsents): Page => {
  const { messages, language } = view;
  const active = filterActiveShares(shares);
  const count = active.length + activeCertificateCount + activeOthersShares;
  const { stopsConsent, stopsConsents, stopsOthers } = getOwnCertificateMessages(view);
  const deadline = formatMessage(messages.stopDeadline, { date: formatDay(language, getCeaseDeadline(view.now)) });
  return appPage(
    view,
    { title: messages.stopAllTitle, business: name },
    <>
      <p>{messages.stopAllIntro}</p>
      <ul class="names">
        {active.map((share) => (
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
        {activeOthersShares > 0 && <li>{formatMessage(stopsOthers, { count: formatNumber(activeOthersShares, language) })}</li>}
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

const emptyConsents: ConsentPage = {
  shares: [],
  hasMore: false,
  naming: { businesses: [], hasMore: false, isIncomplete: false },
};

const renderConsents = async (request: AppRequest): Promise<Response> => {
  const { services, person, c } = request;
  const after = parseBusinessId(c.req.query("after") ?? "");
  const found = await listConsents(services, person, after);
  const isEnded = c.req.query("view") === "ended";
  return renderAppPage(request, consentsPage(request, { ...(found.ok ? found.value : emptyConsents), isEnded }));
};

/** Loads the consents of the business in the path. Returns the not-found page if there are none. */
const withBusiness =
  <R extends AppRequest>(handle: (request: R, consents: BusinessConsents) => Promise<Response>) =>
  async (request: R): Promise<Response> => {
    const { services, person, c } = request;
    const id = parseBusinessId(c.req.param("business") ?? "");
    const renderNotFound = (): Promise<Response> => notFoundPage(request, request.messages.noBusiness, request.messages.noBusinessAdvice);
    if (id === null) return renderNotFound();
    const [{ shares }, found, activeCertificateCount, others] = await Promise.all([
      listOwnShares(services, person),
      listCertificatesNamingPerson(services, person, id, parseCertId(c.req.query("after") ?? "")),
      countActiveCertificates(services, person, id),
      countOthersShares(services, person, id),
    ]);
    const businessShares = shares.filter(({ business }) => business.id === id);
    const certificates = found.ok ? found.value : { certificates: [], hasMore: false };
    const name = businessShares[0]?.business.name ?? certificates.certificates[0]?.businessName ?? others?.name;
    return name === undefined
      ? renderNotFound()
      : handle(request, {
          id,
          name,
          shares: businessShares,
          certificates,
          activeCertificateCount,
          activeOthersShares: others?.activeOthersShares ?? 0,
        });
  };

const renderRevokeAll = async (request: AppRequest, consents: BusinessConsents): Promise<Response> =>
  consents.activeCertificateCount + consents.activeOthersShares === 0 && consents.shares.every(({ status }) => status !== "active")
    ? request.c.redirect(`/app/with/${consents.id}`, 303)
    : renderAppPage(request, revokeAllPage(request, consents));

const handleRevokeAll = async (
  request: AppFormRequest,
  { id, activeCertificateCount, activeOthersShares }: BusinessConsents,
): Promise<Response> => {
  const { c, services, person } = request;
  const { revoked, remaining, ceaseBy } = await revokeAllShares(services, person, id, c.var.requestId);
  const withdrawal =
    activeCertificateCount + activeOthersShares === 0 ? null : await withdrawAllCertificates(services, person, { businessId: id });
  if (remaining > 0) await setFlash(request, { key: "someLeft", count: remaining });
  else if (withdrawal?.ok) {
    const { withdrawn, sharesEnded, withdrawnAt, isPending } = withdrawal.value;
    await setFlash(request, {
      key: isPending ? "endedPending" : "endedAll",
      count: revoked + withdrawn + sharesEnded,
      date: getCeaseDeadline(withdrawnAt),
    });
  } else if (ceaseBy !== null)
    await setFlash(request, { key: revoked === 1 ? "stoppedAllOne" : "stoppedAll", count: revoked, date: ceaseBy });
  return c.redirect(`/app/with/${id}`, 303);
};

export const registerConsentRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", authenticatedPage(renderConsents));
  pages.get(
    "/with/:business",
    authenticatedPage(withBusiness((request, consents) => renderAppPage(request, businessPage(request, consents)))),
  );
  pages.get("/with/:business/stop", authenticatedPage(withBusiness(renderRevokeAll)));
  pages.post("/with/:business/stop", authenticatedAction(withBusiness(handleRevokeAll)));
};
