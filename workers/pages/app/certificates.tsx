// Serves /app/certificates/{id}, which shows a consent given on a form and lets the person withdraw it. Also contains the list items that
// summarize these consents. Withdrawing requires no code, because signing in already verified the person's email address.
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
import { countOthersShares } from "../../operations/consumers/count-others-shares.ts";
import { getCertificateNamingPerson } from "../../operations/consumers/get-certificate-naming-person.ts";
import type { NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import type { NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { listOwnSharesWithBusiness } from "../../operations/consumers/list-own-shares.ts";
import { withdrawAllCertificates } from "../../operations/consumers/withdraw-all-certificates.ts";
import { withdrawOwnCertificate } from "../../operations/consumers/withdraw-own-certificate.ts";
import { withdrawOwnFromEntities } from "../../operations/consumers/withdraw-own-from-entities.ts";
import { ButtonLink, SubmitButton } from "../shared/form-fields.tsx";
import {
  formatDay,
  VerbatimText,
  FieldError,
  formatMessage,
  FormattedMessage,
  UntrustedText,
  Timestamp,
  formatNumber,
  BulletList,
  Icon,
  Notice,
  Section,
  StatusBadge,
  type StatusBadgeProps,
  ConfirmCard,
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
import { setEndedFlash, setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { ContactDeadline, PostForm, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage, redirectToForm } from "./handlers.ts";
import { notFoundPage, renderAppPage, renderConfirmPage } from "./page.tsx";

/** A list item with the number of consents that the person gave to one business on forms, and a link to them. */
export const CertificateSummaryItem: FC<{ summary: NamingBusinessPage["businesses"][number]; isEnded: boolean }> = ({
  summary,
  isEnded,
}) => {
  const request = useAppRequest();
  const messages = request.messages.certificates;
  const { id, name, certificates, active, lastIssuedAt } = summary;
  const count = isEnded ? certificates - active : active;
  const [one, many] = isEnded ? [messages.oneWithdrawn, messages.manyWithdrawn] : [messages.one, messages.many];
  return (
    <li>
      <div>
        <p>
          <a href={`/app/with/${id}`}>
            <strong>{count === 1 ? one : formatMessage(many, { count: formatNumber(count, request.language) })}</strong>
          </a>
        </p>
        {!isEnded && <p class="small quiet">{formatMessage(messages.newest, { date: formatDay(request.language, lastIssuedAt) })}</p>}
        <p class="row">
          <StatusBadge {...describeCertificateStatus(request, isEnded ? "revoked" : "active")} />
        </p>
      </div>
      {!isEnded && (
        <div class="row acts">
          <a class="btn sm" href={`/app/with/${id}`} aria-label={formatMessage(messages.seeOrWithdrawOf, { business: name })}>
            {messages.seeOrWithdraw}
          </a>
        </div>
      )}
    </li>
  );
};

/**
 * A list item with the number of shares that other people created with this person's email address. With `businessId`, it links to the
 * business's consents.
 */
export const OthersSharesItem: FC<{ businessId?: string; count: number; isEnded: boolean }> = ({ businessId, count, isEnded }) => {
  const request = useAppRequest();
  const messages = request.messages.certificates;
  const text = (
    <strong>{count === 1 ? messages.oneOther : formatMessage(messages.others, { count: formatNumber(count, request.language) })}</strong>
  );
  return (
    <li>
      <div>
        <p>{businessId === undefined ? text : <a href={`/app/with/${businessId}`}>{text}</a>}</p>
        {!isEnded && <p class="small quiet">{messages.othersNote}</p>}
        <p class="row">
          <StatusBadge {...describeCertificateStatus(request, isEnded ? "revoked" : "active")} />
        </p>
      </div>
    </li>
  );
};

/** The end of a list of businesses: a warning if some businesses could not be loaded, and a link to the next page if there is one. */
export const MoreBusinessesLink: FC<{ naming: NamingBusinessPage; isEnded: boolean }> = ({ naming, isEnded }) => {
  const messages = useAppRequest().messages.certificates;
  const last = naming.businesses.at(-1);
  return (
    <>
      {naming.isIncomplete && (
        <Notice tone="caution" icon="triangle-alert" title={messages.incomplete} role="status">
          {messages.incompleteAdvice}
        </Notice>
      )}
      {naming.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app?${isEnded ? "view=ended&" : ""}after=${last.id}`}>{messages.moreBusinesses}</ButtonLink>
        </p>
      )}
    </>
  );
};

/** `ceaseBy` is the deadline for ending contact after a withdrawal. */
const describeCertificateStatus = (
  { messages: { certificates: messages }, now }: AppRequest,
  status: CertificateStatus,
  ceaseBy: Instant | null = null,
): StatusBadgeProps => {
  if (status === "active") return { tone: "good", icon: "circle-check", text: messages.active };
  const isWaiting = ceaseBy !== null && now <= ceaseBy;
  return { tone: isWaiting ? "caution" : "plain", icon: isWaiting ? "clock-alert" : "circle-minus", text: messages.withdrawn };
};

/** Shows the deadline for ending contact. Renders nothing once it has passed. */
const CeaseDeadline: FC<{ ceaseBy: Instant | null | undefined }> = ({ ceaseBy }) => {
  const { messages, language, now } = useAppRequest();
  return ceaseBy == null || now > ceaseBy ? null : (
    <span class="small quiet">{formatMessage(messages.contactEnds, { date: formatDay(language, ceaseBy) })}</span>
  );
};

export const CertificateList: FC<{ page: NamingCertificatePage; businessId: string }> = ({ page, businessId }) => {
  const request = useAppRequest();
  const messages = request.messages.certificates;
  const last = page.certificates.at(-1);
  return (
    <Section
      name="certificates"
      heading={messages.heading}
      hint={messages.strangers}
      footer={
        page.hasMore && last !== undefined ? (
          <ButtonLink href={`/app/with/${businessId}?after=${last.id}`}>{messages.older}</ButtonLink>
        ) : undefined
      }
      isFlush
    >
      <ul class="lines consents">
        {page.certificates.map(({ id, status, ceaseBy, purpose, originDomain, issuedAt }) => (
          <li>
            <div>
              <p>
                <a href={certificatePath(id)}>
                  <strong>
                    <VerbatimText text={purpose} />
                  </strong>
                </a>
              </p>
              <p class="small quiet">
                <VerbatimText text={originDomain} /> · {formatMessage(messages.given, { date: formatDay(request.language, issuedAt) })}
              </p>
              <p class="row">
                <StatusBadge {...describeCertificateStatus(request, status, ceaseBy)} />
                {status !== "active" && <CeaseDeadline ceaseBy={ceaseBy} />}
              </p>
            </div>
            {status === "active" && (
              <div class="row acts">
                <a class="btn sm" href={certificatePath(id)} aria-label={`${messages.seeOrWithdraw}, ${purpose}`}>
                  {messages.seeOrWithdraw}
                </a>
              </div>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
};

/** The status on the certificate's own page. Unlike the status in lists, it also says whether consent was refused or partly withdrawn. */
const DetailedStatus: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const request = useAppRequest();
  const messages = request.messages.certificates;
  const isActive = certificate.status === "active";
  if (isActive && isConsentRefused(certificate)) return <StatusBadge tone="plain" icon="ban" text={messages.refused} />;
  const withdrawnCount = certificate.entitiesWithdrawn.length;
  if (!isActive || withdrawnCount === 0) {
    const ceaseBy = certificate.withdrawal?.ceaseBy;
    return (
      <>
        <StatusBadge {...describeCertificateStatus(request, certificate.status, ceaseBy)} />
        {!isActive && <CeaseDeadline ceaseBy={ceaseBy} />}
      </>
    );
  }
  const format = (value: number): string => formatNumber(value, request.language);
  const all = withdrawnCount + listActiveEntities(certificate).length;
  return (
    <>
      <StatusBadge tone="caution" icon="circle-minus" text={messages.partly} />
      <span class="quiet">{formatMessage(messages.partlyCount, { count: format(withdrawnCount), all: format(all) })}</span>
    </>
  );
};

const RecipientNames: FC<{ names: readonly string[] }> = ({ names }) => (
  <BulletList items={names.map((name) => <UntrustedText text={name} />)} />
);

const RecipientsSection: FC<{ certificate: PublishedCertificate; activeEntities: readonly string[] }> = ({
  certificate,
  activeEntities,
}) => {
  const {
    messages: { certificates: messages },
    services: { config },
  } = useAppRequest();
  return (
    <Section name="recipients" heading={messages.recipients}>
      {activeEntities.length === 0 ? <p>{messages.noRecipients}</p> : <RecipientNames names={activeEntities} />}
      {groupEntityWithdrawals(certificate).map((act) => (
        <div class="stack tight">
          <h3>{messages.from}</h3>
          <RecipientNames names={act.entities} />
          <p class="small quiet">
            <WithdrawnSummary withdrawal={act} /> <EntityReceiptLink id={certificate.id} number={act.number} apiBaseUrl={config.baseUrl} />
          </p>
        </div>
      ))}
    </Section>
  );
};

const SubjectSection: FC<{ certificate: PublishedCertificate }> = ({ certificate }) => {
  const {
    messages: { certificates: messages },
    services: { config },
  } = useAppRequest();
  return (
    <Section
      name="subject"
      heading={messages.subject}
      footer={
        <>
          <span>{messages.openAdvice}</span>
          <a class="link" href={buildVerifyUrl(config.verifyUrl, certificate.id)}>
            {messages.open}
            <Icon name="external-link" />
          </a>
        </>
      }
    >
      <p>
        <VerbatimText text={Object.values(certificate.subjectMasked).join(", ")} />
      </p>
    </Section>
  );
};

const renderCertificate = (request: AppRequest, certificate: PublishedCertificate): Promise<Response> => {
  const messages = request.messages.certificates;
  const { businessId, businessName } = certificate;
  const activeEntities = certificate.status === "active" ? listActiveEntities(certificate) : [];
  return renderAppPage(
    request,
    {
      tab: "consents",
      title: messages.title,
      business: businessName,
      hasMonogram: true,
      trail: {
        parents: [
          { path: "/app", text: request.messages.tabs.consents },
          { path: `/app/with/${businessId}`, text: <VerbatimText text={businessName} /> },
        ],
        current: <VerbatimText text={certificate.purpose} />,
      },
      status: (
        <>
          <DetailedStatus certificate={certificate} />
          <span class="quiet">
            <FormattedMessage text={messages.givenOn} parts={{ host: <VerbatimText text={certificate.originDomain} /> }} /> ·{" "}
            <Timestamp at={certificate.issuedAt} />
          </span>
        </>
      ),
      actions:
        activeEntities.length > 0 ? (
          <a class="btn" href={`${certificatePath(certificate.id)}/withdraw`}>
            <Icon name="hand" />
            {messages.withdraw}
          </a>
        ) : undefined,
    },
    <>
      {activeEntities.length > 0 && (
        <Notice icon="info" title={messages.notYou}>
          {messages.strangers}
        </Notice>
      )}
      <Section name="agreed" heading={messages.agreed}>
        <p>
          {request.messages.forPurpose} <UntrustedText text={certificate.purpose} />
        </p>
        <blockquote class="words">
          <UntrustedText text={certificate.disclosureText} />
        </blockquote>
      </Section>
      <RecipientsSection certificate={certificate} activeEntities={activeEntities} />
      <SubjectSection certificate={certificate} />
    </>,
  );
};

const WithdrawFromSome: FC<{ certificate: PublishedCertificate; error: string | undefined }> = ({ certificate, error }) => {
  const messages = useAppRequest().messages.certificates;
  return (
    <ConfirmCard>
      <details class="more" open={error !== undefined}>
        <summary>
          <Icon name="chevron-right" />
          {messages.some}
        </summary>
        <PostForm action={`${certificatePath(certificate.id)}/withdraw-some`} class="stack">
          {error !== undefined && <FieldError text={error} />}
          <RecipientCheckboxes certificate={certificate} formName="some" label={messages.some} />
          <SubmitButton class="btn">{messages.someSubmit}</SubmitButton>
        </PostForm>
      </details>
    </ConfirmCard>
  );
};

const renderWithdrawForm = async (request: AppRequest, certificate: PublishedCertificate, error?: string): Promise<Response> => {
  const { services, person } = request;
  const messages = request.messages.certificates;
  const path = certificatePath(certificate.id);
  const business = certificate.businessName;
  const { businessId } = certificate;
  const [activeCertificates, shares, others] = await Promise.all([
    countActiveCertificates(services, person, businessId),
    listOwnSharesWithBusiness(services, person, businessId),
    countOthersShares(services, person, businessId),
  ]);
  const activeShares = shares.filter(({ status }) => status === "active").length + (others?.activeOthersShares ?? 0);
  const activeConsents = activeCertificates + activeShares;
  return renderConfirmPage(
    request,
    {
      tab: "consents",
      title: messages.withdrawTitle,
      business,
      error,
      about: <UntrustedText text={certificate.purpose} />,
      action: `${path}/withdraw`,
      consequences: [
        ["clock-alert", <ContactDeadline text={messages.consequence} />],
        ["file-badge", messages.stays],
        ["undo-2", messages.final],
      ],
      buttons: { back: path, keep: messages.keep, go: messages.withdraw },
      more: hasSeveralRecipients(certificate) && <WithdrawFromSome certificate={certificate} error={error} />,
    },
    activeConsents > 1 && (
      <fieldset class="option">
        <ScopeChoice business={business} count={activeConsents} />
      </fieldset>
    ),
  );
};

/** Loads the certificate in the path. Returns the not-found page if it does not exist or does not contain the person's email address. */
const withCertificate =
  <R extends AppRequest>(handle: (request: R, certificate: PublishedCertificate) => Promise<Response>) =>
  async (request: R): Promise<Response> => {
    const found = await getCertificateNamingPerson(request.services, request.person, parseCertId(request.c.req.param("id") ?? ""));
    const messages = request.messages.certificates;
    return found.ok ? handle(request, found.value) : notFoundPage(request, messages.none, messages.noneAdvice);
  };

const certificatePath = (id: CertId): string => `/app/certificates/${id}`;

/** Redirects to the certificate's page if the certificate was withdrawn, or if no recipient is left to withdraw from. */
const requireWithdrawable =
  <R extends AppRequest>(handle: (request: R, certificate: PublishedCertificate) => Promise<Response>) =>
  async (request: R, certificate: PublishedCertificate): Promise<Response> =>
    certificate.status === "active" && listActiveEntities(certificate).length > 0
      ? handle(request, certificate)
      : request.c.redirect(certificatePath(certificate.id), 303);

const handleWithdraw = async (request: AppFormRequest, { id, businessId }: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form } = request;
  if (form.get("scope") === "business") {
    const withdrawn = await withdrawAllCertificates(services, person, { businessId }, request.language);
    if (withdrawn.ok) {
      const { withdrawn: certificates, sharesEnded, isPending, withdrawnAt } = withdrawn.value;
      await setEndedFlash(request, { count: certificates + sharesEnded, isPending, date: getCeaseDeadline(withdrawnAt) });
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
  if (entities === null) return renderWithdrawForm(request, certificate, request.messages.certificates.tickSome);
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
