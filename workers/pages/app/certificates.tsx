// /app/certificates/{id}: a consent that was given on a form, and withdrawing it; and how such consents stand in the lists. The address
// was proved by signing in, so nothing more is asked.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { isConsentRefused, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { buildVerifyUrl } from "../../../core/certificates/public-view.ts";
import { parseCertId, type CertId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { AppEnv } from "../../http/context.ts";
import { countActiveCertificates } from "../../operations/consumers/count-active-certificates.ts";
import { getCertificateNamingPerson } from "../../operations/consumers/get-certificate-naming-person.ts";
import type { NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import type { NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { withdrawAllCertificates } from "../../operations/consumers/withdraw-all-certificates.ts";
import { withdrawOwnCertificate } from "../../operations/consumers/withdraw-own-certificate.ts";
import { withdrawOwnFromEntities } from "../../operations/consumers/withdraw-own-from-entities.ts";
import { ButtonLink, ConfirmActions } from "../shared/form-fields.tsx";
import { ownCertificateMessages, type OwnCertificateMessages } from "../i18n/own-certificates.ts";
import type { Page } from "../shared/layout.tsx";
import {
  formatDay,
  VerbatimText,
  FieldError,
  formatMessage,
  UntrustedText,
  Timestamp,
  BusinessMessage,
  formatNumber,
  BulletList,
  StatusBadge,
  type StatusBadgeProps,
} from "../shared/components.tsx";
import { parseSelectedEntities } from "../withdrawal/routes.tsx";
import {
  groupEntityWithdrawals,
  EntityReceiptLink,
  hasSeveralRecipients,
  RecipientCheckboxes,
  ScopeChoice,
  WithdrawnSummary,
} from "../withdrawal/components.tsx";
import { appPage, PostForm, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  setFlash,
  redirectToForm,
  notFoundPage,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

export const getOwnCertificateMessages = ({ language }: AppView): OwnCertificateMessages => ownCertificateMessages[language];

/** Of one business in the list of all: how many there are, and the way to them. */
export const CertificateSummaryItem: FC<{ naming: NamingBusinessPage["businesses"][number]; isEnded: boolean }> = ({ naming, isEnded }) => {
  const view = useAppView();
  const words = getOwnCertificateMessages(view);
  const { id, name, certificates, active, lastIssuedAt } = naming;
  const count = isEnded ? certificates - active : active;
  const [one, many] = isEnded ? [words.oneWithdrawn, words.manyWithdrawn] : [words.one, words.many];
  return (
    <li>
      <p>
        <StatusBadge {...describeCertificateStatus(view, isEnded ? "revoked" : "active")} />
      </p>
      <p>
        <a href={`/app/with/${id}`}>{count === 1 ? one : formatMessage(many, { count: formatNumber(count, view.language) })}</a>
      </p>
      {!isEnded && (
        <>
          <p class="quiet">{formatMessage(words.newest, { date: formatDay(view.language, lastIssuedAt) })}</p>
          <p>
            <a class="button" href={`/app/with/${id}`} aria-label={formatMessage(words.seeOrWithdrawOf, { business: name })}>
              {words.seeOrWithdraw}
            </a>
          </p>
        </>
      )}
    </li>
  );
};

/** What follows the businesses of a list: the way to more of them, and that some may be missing. */
export const MoreBusinessesLink: FC<{ naming: NamingBusinessPage; isEnded: boolean }> = ({ naming, isEnded }) => {
  const words = getOwnCertificateMessages(useAppView());
  const last = naming.businesses.at(-1);
  return (
    <>
      {naming.isIncomplete && <p role="status">{words.away}</p>}
      {naming.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app?${isEnded ? "view=ended&" : ""}after=${last.id}`}>{words.moreBusinesses}</ButtonLink>
        </p>
      )}
    </>
  );
};

/** How one stands in a list; `until`: by when contact must end, of one that is withdrawn. */
const describeCertificateStatus = (view: AppView, status: CertificateStatus, until: Instant | null = null): StatusBadgeProps => {
  const words = getOwnCertificateMessages(view);
  if (status === "active") return { tone: "good", shape: "tick", text: words.active };
  return until === null || view.now > until
    ? { tone: "plain", shape: "dot", text: words.withdrawn }
    : { tone: "caution", shape: "clock", text: formatMessage(words.withdrawnUntil, { date: formatDay(view.language, until) }) };
};

/** Those of one business, the newest first. */
export const CertificateList: FC<{ of: NamingCertificatePage; businessId: string }> = ({ of, businessId }) => {
  const view = useAppView();
  const words = getOwnCertificateMessages(view);
  const last = of.certificates.at(-1);
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">{words.heading}</h2>
      <p class="quiet">{words.strangers}</p>
      <ul class="lines">
        {of.certificates.map(({ id, status, ceaseBy: until, purpose, originDomain, issuedAt }) => (
          <li>
            <p>
              <StatusBadge {...describeCertificateStatus(view, status, until)} />
            </p>
            <p>
              <a href={`/app/certificates/${id}`}>
                <VerbatimText text={purpose} />
              </a>
            </p>
            <p class="quiet">
              <VerbatimText text={originDomain} /> · {formatMessage(words.given, { date: formatDay(view.language, issuedAt) })}
            </p>
          </li>
        ))}
      </ul>
      {of.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app/with/${businessId}?after=${last.id}`}>{words.older}</ButtonLink>
        </p>
      )}
    </section>
  );
};

/** How it stands on its own page: also where nobody was agreed to, or some are withdrawn from. */
const describeDetailedStatus = (view: AppView, certificate: PublishedCertificate): StatusBadgeProps => {
  const words = getOwnCertificateMessages(view);
  const isActive = certificate.status === "active";
  if (isActive && isConsentRefused(certificate)) return { tone: "caution", shape: "cross", text: words.refused };
  const gone = certificate.entitiesWithdrawn.length;
  if (!isActive || gone === 0) return describeCertificateStatus(view, certificate.status, certificate.withdrawal?.ceaseBy);
  const number = (value: number): string => formatNumber(value, view.language);
  const text = formatMessage(words.partly, { count: number(gone), all: number(gone + listActiveEntities(certificate).length) });
  return { tone: "caution", shape: "clock", text };
};

const RecipientNames: FC<{ names: readonly string[] }> = ({ names }) => (
  <BulletList of={names.map((name) => <UntrustedText text={name} />)} />
);

/** Where the certificate is published, and its receipts. */
interface CertificateUrls {
  readonly verifyUrl: string;
  readonly apiBase: string;
}

const certificatePage = (view: AppView, certificate: PublishedCertificate, { verifyUrl, apiBase }: CertificateUrls): Page => {
  const words = getOwnCertificateMessages(view);
  const standing = certificate.status === "active" ? listActiveEntities(certificate) : [];
  return appPage(
    view,
    { title: words.title, business: certificate.businessName },
    <>
      <p class="standing">
        <StatusBadge {...describeDetailedStatus(view, certificate)} />
        <span class="quiet">
          <VerbatimText text={certificate.originDomain} /> · <Timestamp at={certificate.issuedAt} />
        </span>
      </p>
      {standing.length > 0 && (
        <>
          <p class="choices">
            <ButtonLink href={`${certificatePath(certificate.id)}/withdraw`}>{words.withdraw}</ButtonLink>
          </p>
          <p class="quiet">{words.strangers}</p>
        </>
      )}
      <section aria-labelledby="agreed">
        <h2 id="agreed">{words.agreed}</h2>
        <p>
          {view.messages.forPurpose} <UntrustedText text={certificate.purpose} />
        </p>
        <blockquote>
          <UntrustedText text={certificate.disclosureText} />
        </blockquote>
      </section>
      <section aria-labelledby="recipients">
        <h2 id="recipients">{words.recipients}</h2>
        {standing.length === 0 ? <p>{words.nobody}</p> : <RecipientNames names={standing} />}
        {groupEntityWithdrawals(certificate).map((act) => (
          <>
            <h3>{words.from}</h3>
            <RecipientNames names={act.entities} />
            <p class="quiet">
              <WithdrawnSummary of={act} /> <EntityReceiptLink id={certificate.id} number={act.number} apiBase={apiBase} />
            </p>
          </>
        ))}
      </section>
      <section aria-labelledby="subject">
        <h2 id="subject">{words.subject}</h2>
        <p>
          <VerbatimText text={Object.values(certificate.subjectMasked).join(", ")} />
        </p>
      </section>
      <p>
        <a href={verifyUrl}>{words.open}</a>
      </p>
      <p class="quiet">{words.openAdvice}</p>
      <p>
        <a href={`/app/with/${certificate.businessId}`}>
          <BusinessMessage text={view.messages.withTitle} name={certificate.businessName} />
        </a>
      </p>
    </>,
  );
};

/** What follows, before it is done. `active`: how many of the business's name the person. */
const withdrawPage = (view: AppView, certificate: PublishedCertificate, active: number, fault?: string): Page => {
  const words = getOwnCertificateMessages(view);
  const path = certificatePath(certificate.id);
  const business = certificate.businessName;
  return appPage(
    view,
    { title: words.withdrawTitle, business, isFaulty: fault !== undefined },
    <>
      <BulletList
        of={[formatMessage(words.consequence, { date: formatDay(view.language, getCeaseDeadline(view.now)) }), words.stays, words.proved]}
      />
      <PostForm action={`${path}/withdraw`}>
        {active > 1 && (
          <fieldset class="boxes">
            <ScopeChoice business={business} count={active} />
          </fieldset>
        )}
        <ConfirmActions back={path} keep={words.keep} go={words.withdraw} />
      </PostForm>
      {hasSeveralRecipients(certificate) && (
        <details open={fault !== undefined}>
          <summary>{words.some}</summary>
          <PostForm action={`${path}/withdraw-some`}>
            {fault !== undefined && <FieldError text={fault} />}
            <RecipientCheckboxes certificate={certificate} formName="some" label={words.some} />
            <button type="submit">{words.someSubmit}</button>
          </PostForm>
        </details>
      )}
    </>,
  );
};

/** With the certificate that the address names; a page of its own where it does not name the person. */
const withCertificate =
  <V extends AppRequest>(then: (visit: V, certificate: PublishedCertificate) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const own = await getCertificateNamingPerson(visit.services, visit.person, parseCertId(visit.c.req.param("id") ?? ""));
    const words = getOwnCertificateMessages(visit.view);
    return own.ok ? then(visit, own.value) : notFoundPage(visit, words.none, words.noneAdvice);
  };

const certificatePath = (id: CertId): string => `/app/certificates/${id}`;

/** What is withdrawn, or was a refusal, has nobody left to withdraw from; its page says so. */
const requireWithdrawable =
  <V extends AppRequest>(then: (visit: V, certificate: PublishedCertificate) => Promise<Response>) =>
  async (visit: V, certificate: PublishedCertificate): Promise<Response> =>
    certificate.status === "active" && listActiveEntities(certificate).length > 0
      ? then(visit, certificate)
      : visit.c.redirect(certificatePath(certificate.id), 303);

const renderCertificate = (visit: AppRequest, certificate: PublishedCertificate): Promise<Response> => {
  const { verifyUrl, baseUrl } = visit.services.config;
  const places = { verifyUrl: buildVerifyUrl(verifyUrl, certificate.id), apiBase: baseUrl };
  return renderAppPage(visit, 200, certificatePage(visit.view, certificate, places));
};

const renderWithdrawForm = async (visit: AppRequest, certificate: PublishedCertificate): Promise<Response> =>
  renderAppPage(
    visit,
    200,
    withdrawPage(visit.view, certificate, await countActiveCertificates(visit.services, visit.person, certificate.businessId)),
  );

const handleWithdraw = async (visit: AppFormRequest, { id, businessId }: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  if (form.get("scope") === "business") {
    const withdrawn = await withdrawAllCertificates(services, person, { businessId });
    if (withdrawn.ok) {
      const { withdrawn: count, isPending, withdrawnAt } = withdrawn.value;
      await setFlash(visit, { key: isPending ? "endedPending" : "endedAll", count, date: getCeaseDeadline(withdrawnAt) });
    }
    return c.redirect(`/app/with/${businessId}`, 303);
  }
  const withdrawn = await withdrawOwnCertificate(services, person, id, view.language);
  if (withdrawn.ok) await setFlash(visit, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(certificatePath(id), 303);
};

const handleWithdrawFromRecipients = async (visit: AppFormRequest, certificate: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  const entities = parseSelectedEntities(form, certificate);
  if (entities === null) {
    const active = await countActiveCertificates(services, person, certificate.businessId);
    return renderRefusal(visit, "invalid_request", withdrawPage(view, certificate, active, getOwnCertificateMessages(view).tickSome));
  }
  const withdrawn = await withdrawOwnFromEntities(services, person, certificate.id, { entities, language: view.language });
  if (withdrawn.ok) await setFlash(visit, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(certificatePath(certificate.id), 303);
};

export const registerCertificateRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates/:id", authenticatedPage(withCertificate(renderCertificate)));
  pages.get("/certificates/:id/withdraw", authenticatedPage(withCertificate(requireWithdrawable(renderWithdrawForm))));
  pages.post("/certificates/:id/withdraw", authenticatedAction(withCertificate(requireWithdrawable(handleWithdraw))));
  pages.get("/certificates/:id/withdraw-some", (c) => redirectToForm(`/app/certificates/${c.req.param("id")}/withdraw`)(c));
  pages.post("/certificates/:id/withdraw-some", authenticatedAction(withCertificate(requireWithdrawable(handleWithdrawFromRecipients))));
};
