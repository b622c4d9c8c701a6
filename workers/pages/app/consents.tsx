// Serves /app and /app/with/{business}: a person's consents grouped by business, and one business's consents, which can be ended together.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { parseBusinessId, parseCertId, type BusinessId } from "../../../core/ids.ts";
import { getDaysUntilEnd } from "../../../core/shares/due-dates.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { countActiveCertificates } from "../../operations/consumers/count-active-certificates.ts";
import type { NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import { listCertificatesNamingPerson, type NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { listConsents, type ConsentPage } from "../../operations/consumers/list-consents.ts";
import { withdrawAllCertificates } from "../../operations/consumers/withdraw-all-certificates.ts";
import { listOwnSharesWithBusiness } from "../../operations/consumers/list-own-shares.ts";
import { revokeAllShares } from "../../operations/consumers/revoke-all-shares.ts";
import { ButtonLink } from "../shared/form-fields.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  UntrustedText,
  formatNumber,
  BulletList,
  EmptyCard,
  Icon,
  JoinedList,
  Monogram,
  Section,
} from "../shared/components.tsx";
import { countOthersShares } from "../../operations/consumers/count-others-shares.ts";
import { setEndedFlash, setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { CertificateList, CertificateSummaryItem, MoreBusinessesLink, OthersSharesItem } from "./certificates.tsx";
import { ContactDeadline, formatScope, ShareStatus, Tabs, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { notFoundPage, renderAppPage, renderConfirmPage } from "./page.tsx";

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
  /** Null if the person has only shares that they created themselves. */
  readonly certificateSummary: BusinessCertificateSummary | null;
}

/** Groups shares and form consents by business, with the latest activity first. */
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
  const request = useAppRequest();
  const { messages, language, now } = request;
  const { status, business, revokedAt, expiresAt } = share;
  const path = `/app/shares/${share.id}`;
  const period =
    status === "active"
      ? formatMessage(messages.until, { date: formatDay(language, expiresAt) })
      : status === "expired"
        ? formatMessage(messages.endedOn, { date: formatDay(language, expiresAt) })
        : revokedAt === null
          ? null
          : formatMessage(messages.stoppedOn, { date: formatDay(language, revokedAt) });
  return (
    <li>
      <div>
        <p>
          <a href={path}>
            <strong>{formatScope(request, share.scope)}</strong>
          </a>
        </p>
        <p class="small quiet">
          {messages.forPurpose} <UntrustedText text={share.purpose} />
          {period !== null && <> · {period}</>}
        </p>
        <p class="row">
          <ShareStatus share={share} />
        </p>
      </div>
      {status === "active" && (
        <div class="row acts">
          {getDaysUntilEnd(share, now) !== null && (
            <a class="btn sm" href={`${path}/renew`} aria-label={formatMessage(messages.renewWith, { business: business.name })}>
              {messages.renew}
            </a>
          )}
          <a class="btn sm" href={`${path}/stop`} aria-label={formatMessage(messages.stopWith, { business: business.name })}>
            {messages.stop}
          </a>
        </div>
      )}
    </li>
  );
};

const filterActiveShares = (shares: readonly Share[]): readonly Share[] => shares.filter(({ status }) => status === "active");

const countCertificates = ({ certificates, active }: BusinessCertificateSummary, isEnded: boolean): number =>
  isEnded ? certificates - active : active;
const countOthers = ({ othersShares, activeOthersShares }: BusinessCertificateSummary, isEnded: boolean): number =>
  isEnded ? othersShares - activeOthersShares : activeOthersShares;

/** Shows a business's shares and consents and, if several are active, a link to the page that ends all of them. */
const BusinessCard: FC<{ group: BusinessGroup; isEnded: boolean }> = ({ group: { id, name, shares, certificateSummary }, isEnded }) => {
  const { messages } = useAppRequest();
  const hosts = [...new Set(shares.map(({ origin }) => new URL(origin).host))];
  const activeCount = shares.length + (certificateSummary?.active ?? 0) + (certificateSummary?.activeOthersShares ?? 0);
  return (
    <section class="card holder" aria-labelledby={id}>
      <header>
        <Monogram name={name} />
        <div>
          <h2 id={id}>
            <a href={`/app/with/${id}`}>
              <VerbatimText text={name} />
            </a>
          </h2>
          {hosts.length > 0 && (
            <small>
              <JoinedList items={hosts.map((host) => <VerbatimText text={host} />)} separator=" · " />
            </small>
          )}
        </div>
        {!isEnded && activeCount > 1 && (
          <a class="link small" href={`/app/with/${id}/stop`} aria-label={formatMessage(messages.stopAllWith, { business: name })}>
            {messages.stopEverything}
          </a>
        )}
      </header>
      <ul class="lines consents">
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
    </section>
  );
};

const EmptyConsents: FC<{ kind: "none" | "noneCurrent" | "noneEnded" }> = ({ kind }) => {
  const { messages } = useAppRequest();
  const actions = {
    none: ["/app/details", messages.addDetails, messages.noneAdvice],
    noneCurrent: ["/app?view=ended", messages.seeEnded, messages.noneCurrentAdvice],
    noneEnded: ["/app", messages.seeCurrent, messages.noneEndedAdvice],
  } as const;
  const [href, label, advice] = actions[kind];
  return <EmptyCard icon="shield-check" title={messages[kind]} advice={advice} action={<ButtonLink href={href}>{label}</ButtonLink>} />;
};

const emptyConsents: ConsentPage = {
  shares: [],
  hasMore: false,
  naming: { businesses: [], hasMore: false, isIncomplete: false },
};

const renderConsents = async (request: AppRequest): Promise<Response> => {
  const { c, services, person, messages, language } = request;
  const found = await listConsents(services, person, parseBusinessId(c.req.query("after") ?? ""));
  const { shares, hasMore, naming } = found.ok ? found.value : emptyConsents;
  const isEnded = c.req.query("view") === "ended";
  const active = filterActiveShares(shares);
  const ended = shares.filter(({ status }) => status !== "active");
  const { businesses } = naming;
  const countForms = (summary: BusinessCertificateSummary, isEndedTab: boolean): number =>
    countCertificates(summary, isEndedTab) + countOthers(summary, isEndedTab);
  const groups = groupByBusiness(
    isEnded ? ended : active,
    businesses.filter((summary) => countForms(summary, isEnded) > 0),
  );
  const formatTotal = (listed: readonly Share[], isEndedTab: boolean): string =>
    formatNumber(
      businesses.reduce((sum, summary) => sum + countForms(summary, isEndedTab), listed.length),
      language,
    );
  const emptyKind = shares.length + businesses.length === 0 ? "none" : isEnded ? "noneEnded" : "noneCurrent";
  return renderAppPage(
    request,
    { tab: "consents", title: messages.tabs.consents, heading: messages.name, lede: messages.intro },
    <>
      <Tabs
        label={messages.viewsLabel}
        links={[
          { path: "/app", text: messages.current, count: formatTotal(active, false), isCurrent: !isEnded },
          { path: "/app?view=ended", text: messages.ended, count: formatTotal(ended, true), isCurrent: isEnded },
        ]}
      />
      {groups.length === 0 && <EmptyConsents kind={emptyKind} />}
      {groups.map((group) => (
        <BusinessCard group={group} isEnded={isEnded} />
      ))}
      <MoreBusinessesLink naming={naming} isEnded={isEnded} />
      {hasMore && <p class="small quiet">{messages.onlyNewest}</p>}
    </>,
  );
};

/** The person's records with one business. There is at least one. */
interface BusinessConsents {
  readonly id: BusinessId;
  readonly name: string;
  readonly shares: readonly Share[];
  readonly certificates: NamingCertificatePage;
  readonly activeCertificateCount: number;
  /** The number of active shares that other people created with this person's email address. */
  readonly activeOthersShares: number;
}

/** Counts the shares and consents that the person can end. */
const countEndable = ({ shares, activeCertificateCount, activeOthersShares }: BusinessConsents): number =>
  filterActiveShares(shares).length + activeCertificateCount + activeOthersShares;

const renderBusiness = (request: AppRequest, consents: BusinessConsents): Promise<Response> => {
  const { id, name, shares, certificates, activeOthersShares } = consents;
  const { messages } = request;
  return renderAppPage(
    request,
    {
      tab: "consents",
      title: messages.withTitle,
      business: name,
      heading: <VerbatimText text={name} />,
      hasMonogram: true,
      lede: messages.withIntro,
      trail: { parents: [{ path: "/app", text: messages.tabs.consents }], current: <VerbatimText text={name} /> },
      actions:
        countEndable(consents) > 0 ? (
          <a class="btn" href={`/app/with/${id}/stop`}>
            <Icon name="hand" />
            {messages.stopEverything}
          </a>
        ) : undefined,
    },
    <>
      {shares.length + activeOthersShares > 0 && (
        <Section name="shares" heading={messages.sharesHeading} isFlush>
          <ul class="lines consents">
            {sortByActivity(shares).map((share) => (
              <ShareItem share={share} />
            ))}
            {activeOthersShares > 0 && <OthersSharesItem count={activeOthersShares} isEnded={false} />}
          </ul>
        </Section>
      )}
      {certificates.certificates.length > 0 && <CertificateList page={certificates} businessId={id} />}
    </>,
  );
};

const renderRevokeAll = async (request: AppRequest, consents: BusinessConsents): Promise<Response> => {
  const { id, name, shares, activeCertificateCount, activeOthersShares } = consents;
  const { c, messages, language } = request;
  const count = countEndable(consents);
  if (count === 0) return c.redirect(`/app/with/${id}`, 303);
  const numbered = (one: string, many: string, count: number): string | false =>
    count > 0 && (count === 1 ? one : formatMessage(many, { count: formatNumber(count, language) }));
  return renderConfirmPage(request, {
    tab: "consents",
    title: messages.stopAllTitle,
    business: name,
    action: `/app/with/${id}/stop`,
    consequences: [
      [
        "list-checks",
        <>
          {numbered(messages.stopAllIntroOne, messages.stopAllIntro, count)}
          <BulletList
            items={[
              ...filterActiveShares(shares).map((share) => (
                <>
                  {formatScope(request, share.scope)}. {messages.forPurpose} <UntrustedText text={share.purpose} />
                </>
              )),
              numbered(messages.certificates.one, messages.certificates.many, activeCertificateCount),
              numbered(messages.certificates.oneOther, messages.certificates.others, activeOthersShares),
            ]}
          />
        </>,
      ],
      ["ban", messages.stopNothingMore],
      ["clock-alert", <ContactDeadline text={messages.stopDeadline} />],
      ["archive", messages.stopKeeps],
      ["undo-2", messages.stopAllFinal],
    ],
    buttons: { back: `/app/with/${id}`, keep: messages.keepAll, go: messages.endAll },
  });
};

/** Loads the person's shares and consents for the business in the path. Returns the not-found page if there are none. */
const withBusiness =
  <R extends AppRequest>(handle: (request: R, consents: BusinessConsents) => Promise<Response>) =>
  async (request: R): Promise<Response> => {
    const { services, person, c } = request;
    const id = parseBusinessId(c.req.param("business") ?? "");
    const renderNotFound = (): Promise<Response> => notFoundPage(request, request.messages.noBusiness, request.messages.noBusinessAdvice);
    if (id === null) return renderNotFound();
    const [shares, found, activeCertificateCount, others] = await Promise.all([
      listOwnSharesWithBusiness(services, person, id),
      listCertificatesNamingPerson(services, person, id, parseCertId(c.req.query("after") ?? "")),
      countActiveCertificates(services, person, id),
      countOthersShares(services, person, id),
    ]);
    const certificates = found.ok ? found.value : { certificates: [], hasMore: false };
    const name = shares[0]?.business.name ?? certificates.certificates[0]?.businessName ?? others?.name;
    return name === undefined
      ? renderNotFound()
      : handle(request, {
          id,
          name,
          shares,
          certificates,
          activeCertificateCount,
          activeOthersShares: others?.activeOthersShares ?? 0,
        });
  };

const handleRevokeAll = async (
  request: AppFormRequest,
  { id, activeCertificateCount, activeOthersShares }: BusinessConsents,
): Promise<Response> => {
  const { c, services, person } = request;
  const { revoked, remaining, ceaseBy } = await revokeAllShares(services, person, id, c.var.requestId);
  const withdrawal =
    activeCertificateCount + activeOthersShares === 0
      ? null
      : await withdrawAllCertificates(services, person, { businessId: id }, request.language);
  if (withdrawal?.ok) {
    // The withdrawal also ends the shares that `remaining` counts.
    const { withdrawn, sharesEnded, withdrawnAt, isPending } = withdrawal.value;
    await setEndedFlash(request, { count: revoked + withdrawn + sharesEnded, isPending, date: getCeaseDeadline(withdrawnAt) });
  } else if (remaining > 0) await setFlash(request, { key: "someLeft", count: remaining });
  else if (ceaseBy !== null)
    await setFlash(request, { key: revoked === 1 ? "stoppedAllOne" : "stoppedAll", count: revoked, date: ceaseBy });
  return c.redirect(`/app/with/${id}`, 303);
};

export const registerConsentRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", authenticatedPage(renderConsents));
  pages.get("/with/:business", authenticatedPage(withBusiness(renderBusiness)));
  pages.get("/with/:business/stop", authenticatedPage(withBusiness(renderRevokeAll)));
  pages.post("/with/:business/stop", authenticatedAction(withBusiness(handleRevokeAll)));
};
