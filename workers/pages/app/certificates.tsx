// /app/certificates/{id}: a consent given on a form, withdrawing it, and how such consents appear in lists. Signing in already verified the
// person's email address, so withdrawing does not require another code.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { isConsentRefused, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
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

/** The consents given to one business on forms, as an item in the list of all consents. */
export const CertificateSummaryItem: FC<{ summary: NamingBusinessPage["businesses"][number]; isEnded: boolean }> = ({
  summary,
  isEnded,
}) => {
  const view = useAppView();
  const messages = getOwnCertificateMessages(view);
  const { id, name, certificates, active, lastIssuedAt } = summary;
  const count = isEnded ? certificates - active : active;
  const [one, many] = isEnded ? [messages.oneWithdrawn, messages.manyWithdrawn] : [messages.one, messages.many];
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
          <p class="quiet">{formatMessage(messages.newest, { date: formatDay(view.language, lastIssuedAt) })}</p>
          <p>
            <a class="btn" href={`/app/with/${id}`} aria-label={formatMessage(messages.seeOrWithdrawOf, { business: name })}>
              {messages.seeOrWithdraw}
            </a>
          </p>
        </>
      )}
    </li>
  );
};

/** Shares that other people made with the person's address, as an item in a list of consents. */
export const OthersSharesItem: FC<{ businessId: string; count: number; isEnded: boolean }> = ({ businessId, count, isEnded }) => {
  const view = useAppView();
  const messages = getOwnCertificateMessages(view);
  return (
    <li>
      <p>
        <StatusBadge {...describeCertificateStatus(view, isEnded ? "revoked" : "active")} />
      </p>
      <p>
        <a href={`/app/with/${businessId}`}>
          {count === 1 ? messages.oneOther : formatMessage(messages.others, { count: formatNumber(count, view.language) })}
        </a>
      </p>
    </li>
  );
};

/** Shown below a list of businesses: the link to the next ones, and a note if some are missing. */
export const MoreBusinessesLink: FC<{ naming: NamingBusinessPage; isEnded: boolean }> = ({ naming, isEnded }) => {
  const messages = getOwnCertificateMessages(useAppView());
  const last = naming.businesses.at(-1);
  return (
    <>
      {naming.isIncomplete && <p role="status">{messages.away}</p>}
      {naming.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app?${isEnded ? "view=ended&" : ""}after=${last.id}`}>{messages.moreBusinesses}</ButtonLink>
        </p>
      )}
    </>
  );
};

/** `ceaseBy` is when contact must end after a withdrawal. */
const describeCertificateStatus = (view: AppView, status: CertificateStatus, ceaseBy: Instant | null = null): StatusBadgeProps => {
  const messages = getOwnCertificateMessages(view);
  if (status === "active") return { tone: "good", icon: "circle-check", text: messages.active };
  return ceaseBy === null || view.now > ceaseBy
    ? { tone: "plain", icon: "circle-minus", text: messages.withdrawn }
    : { tone: "caution", icon: "clock-alert", text: formatMessage(messages.withdrawnUntil, { date: formatDay(view.language, ceaseBy) }) };
};

/** The certificates of one business, newest first. */
export const CertificateList: FC<{ page: NamingCertificatePage; businessId: string }> = ({ page, businessId }) => {
  const view = useAppView();
  const messages = getOwnCertificateMessages(view);
  const last = page.certificates.at(-1);
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">{messages.heading}</h2>
      <p class="quiet">{messages.strangers}</p>
      <ul class="lines">
        {page.certificates.map(({ id, status, ceaseBy, purpose, originDomain, issuedAt }) => (
          <li>
            <p>
              <StatusBadge {...describeCertificateStatus(view, status, ceaseBy)} />
            </p>
            <p>
              <a href={`/app/certificates/${id}`}>
                <VerbatimText text={purpose} />
              </a>
            </p>
            <p class="quiet">
              <VerbatimText text={originDomain} /> · {formatMessage(messages.given, { date: formatDay(view.language, issuedAt) })}
            </p>
          </li>
        ))}
      </ul>
      {page.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app/with/${businessId}?after=${last.id}`}>{messages.older}</ButtonLink>
        </p>
      )}
    </section>
  );
};

/** The status on the certificate's own page, which also distinguishes refused and partly withdrawn consents. */
const describeDetailedStatus = (view: AppView, certificate: PublishedCertificate): StatusBadgeProps => {
  const messages = getOwnCertificateMessages(view);
  const isActive = certificate.status === "active";
  if (isActive && isConsentRefused(certificate)) return { tone: "caution", icon: "ban", text: messages.refused };
  const withdrawnCount = certificate.entitiesWithdrawn.length;
  if (!isActive || withdrawnCount === 0) return describeCertificateStatus(view, certificate.status, certificate.withdrawal?.ceaseBy);
  const format = (value: number): string => formatNumber(value, view.language);
  const all = withdrawnCount + listActiveEntities(certificate).length;
  const text = formatMessage(messages.partly, { count: format(withdrawnCount), all: format(all) });
  return { tone: "caution", icon: "clock-alert", text };
};

const RecipientNames: FC<{ names: readonly string[] }> = ({ names }) => (
  <BulletList of={names.map((name) => <UntrustedText text={name} />)} />
);

interface CertificateUrls {
  readonly verifyUrl: string;
  readonly apiBaseUrl: string;
}

const certificatePage = (view: AppView, certificate: PublishedCertificate, { verifyUrl, apiBaseUrl }: CertificateUrls): Page => {
  const messages = getOwnCertificateMessages(view);
  const activeEntities = certificate.status === "active" ? listActiveEntities(certificate) : [];
  return appPage(
    view,
    { title: messages.title, business: certificate.businessName },
    <>
      <p class="standing">
        <StatusBadge {...describeDetailedStatus(view, certificate)} />
        <span class="quiet">
          <VerbatimText text={certificate.originDomain} /> · <Timestamp at={certificate.issuedAt} />
        </span>
      </p>
      {activeEntities.length > 0 && (
        <>
          <p class="choices">
            <ButtonLink href={`${certificatePath(certificate.id)}/withdraw`}>{messages.withdraw}</ButtonLink>
          </p>
          <p class="quiet">{messages.strangers}</p>
        </>
      )}
      <section aria-labelledby="agreed">
        <h2 id="agreed">{messages.agreed}</h2>
        <p>
          {view.messages.forPurpose} <UntrustedText text={certificate.purpose} />
        </p>
        <blockquote>
          <UntrustedText text={certificate.disclosureText} />
        </blockquote>
      </section>
      <section aria-labelledby="recipients">
        <h2 id="recipients">{messages.recipients}</h2>
        {activeEntities.length === 0 ? <p>{messages.nobody}</p> : <RecipientNames names={activeEntities} />}
        {groupEntityWithdrawals(certificate).map((act) => (
          <>
            <h3>{messages.from}</h3>
            <RecipientNames names={act.entities} />
            <p class="quiet">
              <WithdrawnSummary of={act} /> <EntityReceiptLink id={certificate.id} number={act.number} apiBaseUrl={apiBaseUrl} />
            </p>
          </>
        ))}
      </section>
      <section aria-labelledby="subject">
        <h2 id="subject">{messages.subject}</h2>
        <p>
          <VerbatimText text={Object.values(certificate.subjectMasked).join(", ")} />
        </p>
      </section>
      <p>
        <a href={verifyUrl}>{messages.open}</a>
      </p>
      <p class="quiet">{messages.openAdvice}</p>
      <p>
        <a href={`/app/with/${certificate.businessId}`}>
          <BusinessMessage text={view.messages.withTitle} name={certificate.businessName} />
        </a>
      </p>
    </>,
  );
};

/** Explains the consequences before the withdrawal. `activeCount` is how many active certificates of the business name the person. */
const withdrawPage = (view: AppView, certificate: PublishedCertificate, activeCount: number, error?: string): Page => {
  const messages = getOwnCertificateMessages(view);
  const path = certificatePath(certificate.id);
  const business = certificate.businessName;
  return appPage(
    view,
    { title: messages.withdrawTitle, business, hasError: error !== undefined },
    <>
      <BulletList
        of={[
          formatMessage(messages.consequence, { date: formatDay(view.language, getCeaseDeadline(view.now)) }),
          messages.stays,
          messages.proved,
        ]}
      />
      <PostForm action={`${path}/withdraw`}>
        {activeCount > 1 && (
          <fieldset class="boxes">
            <ScopeChoice business={business} count={activeCount} />
          </fieldset>
        )}
        <ConfirmActions back={path} keep={messages.keep} go={messages.withdraw} />
      </PostForm>
      {hasSeveralRecipients(certificate) && (
        <details open={error !== undefined}>
          <summary>{messages.some}</summary>
          <PostForm action={`${path}/withdraw-some`}>
            {error !== undefined && <FieldError text={error} />}
            <RecipientCheckboxes certificate={certificate} formName="some" label={messages.some} />
            <button type="submit">{messages.someSubmit}</button>
          </PostForm>
        </details>
      )}
    </>,
  );
};

/** Loads the certificate in the path. Returns the not-found page if it does not exist or does not name the person. */
const withCertificate =
  <R extends AppRequest>(handle: (request: R, certificate: PublishedCertificate) => Promise<Response>) =>
  async (request: R): Promise<Response> => {
    const found = await getCertificateNamingPerson(request.services, request.person, parseCertId(request.c.req.param("id") ?? ""));
    const messages = getOwnCertificateMessages(request);
    return found.ok ? handle(request, found.value) : notFoundPage(request, messages.none, messages.noneAdvice);
  };

const certificatePath = (id: CertId): string => `/app/certificates/${id}`;

/** Redirects to the certificate if there is no recipient left to withdraw from. */
const requireWithdrawable =
  <R extends AppRequest>(handle: (request: R, certificate: PublishedCertificate) => Promise<Response>) =>
  async (request: R, certificate: PublishedCertificate): Promise<Response> =>
    certificate.status === "active" && listActiveEntities(certificate).length > 0
      ? handle(request, certificate)
      : request.c.redirect(certificatePath(certificate.id), 303);

const renderCertificate = (request: AppRequest, certificate: PublishedCertificate): Promise<Response> => {
  const { verifyUrl, baseUrl } = request.services.config;
  const urls = { verifyUrl: buildVerifyUrl(verifyUrl, certificate.id), apiBaseUrl: baseUrl };
  return renderAppPage(request, certificatePage(request, certificate, urls));
};

const renderWithdrawForm = async (request: AppRequest, certificate: PublishedCertificate): Promise<Response> =>
  renderAppPage(
    request,
    withdrawPage(request, certificate, await countActiveCertificates(request.services, request.person, certificate.businessId)),
  );

const handleWithdraw = async (request: AppFormRequest, { id, businessId }: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form } = request;
  if (form.get("scope") === "business") {
    const withdrawn = await withdrawAllCertificates(services, person, { businessId });
    if (withdrawn.ok) {
      const { withdrawn: count, isPending, withdrawnAt } = withdrawn.value;
      await setFlash(request, { key: isPending ? "endedPending" : "endedAll", count, date: getCeaseDeadline(withdrawnAt) });
    }
    return c.redirect(`/app/with/${businessId}`, 303);
  }
  const withdrawn = await withdrawOwnCertificate(services, person, id, request.language);
  if (withdrawn.ok) await setFlash(request, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(certificatePath(id), 303);
};

const handleWithdrawFromRecipients = async (request: AppFormRequest, certificate: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form } = request;
  const entities = parseSelectedEntities(form, certificate);
  if (entities === null) {
    const activeCount = await countActiveCertificates(services, person, certificate.businessId);
    return renderRefusal(
      request,
      "invalid_request",
      withdrawPage(request, certificate, activeCount, getOwnCertificateMessages(request).tickSome),
    );
  }
  const withdrawn = await withdrawOwnFromEntities(services, person, certificate.id, { entities, language: request.language });
  if (withdrawn.ok) await setFlash(request, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(certificatePath(certificate.id), 303);
};

export const registerCertificateRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates/:id", authenticatedPage(withCertificate(renderCertificate)));
  pages.get("/certificates/:id/withdraw", authenticatedPage(withCertificate(requireWithdrawable(renderWithdrawForm))));
  pages.post("/certificates/:id/withdraw", authenticatedAction(withCertificate(requireWithdrawable(handleWithdraw))));
  pages.get("/certificates/:id/withdraw-some", (c) => redirectToForm(`/app/certificates/${c.req.param("id")}/withdraw`)(c));
  pages.post("/certificates/:id/withdraw-some", authenticatedAction(withCertificate(requireWithdrawable(handleWithdrawFromRecipients))));
};
