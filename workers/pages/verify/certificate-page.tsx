// The public page of a certificate. It gets only public data, so data that only the business may see cannot appear here. client/verify.ts
// compares elements marked `data-bound` with the record.
import type { Child, FC } from "hono/jsx";
import {
  hasVerifiedDomain,
  isConsentRefused,
  getPoliciesStatus,
  type PublishedCertificate,
  type PublishedPolicy,
} from "../../../core/certificates/published-certificate.ts";
import { buildReceiptUrl, buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import type { ViewContext } from "../../../core/certificates/public-json.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { CertificatePage } from "../../operations/certificates/get-certificate-page.ts";
import type { PublicMessages } from "../i18n/public.ts";
import type { Page } from "../shared/layout.tsx";
import {
  VerbatimText,
  formatMessage,
  UntrustedText,
  Hash,
  Timestamp,
  formatNumber,
  Day,
  formatDay,
  Monogram,
  Notice,
  TextWarnings,
  Section,
  FormattedMessage,
  Icon,
  StatusBadge,
  usePageContext,
  type PageContext,
  PropertyList,
} from "../shared/components.tsx";
import { groupEntityWithdrawals, maskIfErased, WithdrawalForms, WithdrawnAdvice, WithdrawnSummary } from "../withdrawal/components.tsx";
import { CertificateVerification } from "./certificate-verification.tsx";
import { CertificateTimeline } from "./certificate-timeline.tsx";
import { QrCode } from "./qr-code.tsx";

type CertificateComponent = FC<{ certificate: PublishedCertificate }>;

const CertificateStatus: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  const { status, entitiesWithdrawn, environment } = certificate;
  return (
    <>
      {status !== "active" ? (
        <StatusBadge tone="bad" icon="ban" text={messages.withdrawn} />
      ) : isConsentRefused(certificate) ? (
        <StatusBadge tone="plain" icon="circle-slash" text={messages.refused} />
      ) : entitiesWithdrawn.length > 0 ? (
        <StatusBadge tone="caution" icon="circle-minus" text={messages.partlyWithdrawn} />
      ) : (
        <StatusBadge tone="good" icon="circle-check" text={messages.active} />
      )}
      {environment === "sandbox" && " "}
      {environment === "sandbox" && <StatusBadge tone="caution" icon="triangle-alert" text={messages.sandbox} />}
    </>
  );
};

/**
 * Shows the certificate's type, business, status and a one-sentence summary. On a phone, it has links to the panels at the end of the page.
 */
const CertificateHeader: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  const isRefused = isConsentRefused(certificate);
  return (
    <div class="opening">
      <div class="cert-head">
        <div>
          <p class="eyebrow">
            <Icon name="file-badge" />
            {isRefused ? messages.certificateOfRefusal : messages.certificate}
          </p>
          <h1>
            <VerbatimText text={certificate.businessName} bound="business.name" />
          </h1>
          <TextWarnings text={certificate.businessName} />
          <p class="row big standing">
            <CertificateStatus certificate={certificate} />{" "}
            <span class="quiet">
              <FormattedMessage text={messages.issuedOn} parts={{ date: <Timestamp at={certificate.issuedAt} bound="timestamp" /> }} />
            </span>
          </p>
          <p class="row jump no-print">
            <a class="link" href="#check-heading">
              <Icon name="shield-check" />
              <span id="jump-verdict">{messages.jumpToCheck}</span>
            </a>
            {certificate.status === "active" && !isRefused && (
              <a class="link" href="#withdrawal-heading">
                {messages.jumpToWithdrawal}
              </a>
            )}
          </p>
        </div>
      </div>
      <p class="lede">
        <FormattedMessage
          text={isRefused ? messages.summaryRefused : messages.summary}
          parts={{
            domain: (
              <strong>
                <VerbatimText text={certificate.originDomain} bound="origin_domain" />
              </strong>
            ),
          }}
        />
      </p>
    </div>
  );
};

/** Says whether the business has confirmed that contact has ended and, if it has not, whether the deadline has passed. */
const CeaseStatus: FC<{ certificate: PublishedCertificate; now: Instant }> = ({ certificate: { businessName, withdrawal }, now }) => {
  const { messages } = usePageContext();
  if (withdrawal === null) return null;
  const { acknowledgedAt, ceaseBy } = withdrawal;
  const parts = { business: <VerbatimText text={businessName} bound="business.name" /> };
  if (acknowledgedAt !== null)
    return <FormattedMessage text={messages.acknowledged} parts={{ ...parts, date: <Timestamp at={acknowledgedAt} /> }} />;
  return <FormattedMessage text={isOverdue(ceaseBy, null, now) ? messages.overdue : messages.notAcknowledged} parts={parts} />;
};

/** Shows a notice if this is a test certificate, or if consent was refused, withdrawn or partly withdrawn. */
const CertificateNotices: FC<{ certificate: PublishedCertificate; now: Instant }> = ({ certificate, now }) => {
  const { messages, language } = usePageContext();
  const { environment, status, withdrawal, entitiesWithdrawn } = certificate;
  const withdrawnCount = entitiesWithdrawn.length;
  const all = formatNumber(withdrawnCount + listActiveEntities(certificate).length, language);
  return (
    <>
      {environment === "sandbox" && (
        <Notice tone="caution" icon="triangle-alert" title={messages.sandboxTitle}>
          {messages.sandboxText}
        </Notice>
      )}
      {isConsentRefused(certificate) && (
        <Notice icon="circle-slash" title={messages.refusedTitle}>
          {messages.refusedText}
        </Notice>
      )}
      {withdrawal !== null && (
        <Notice
          tone="bad"
          icon="ban"
          title={<FormattedMessage text={messages.withdrawnTitle} parts={{ date: <Timestamp at={withdrawal.withdrawnAt} /> }} />}
        >
          <FormattedMessage text={messages.withdrawnText} parts={{ day: <Day at={withdrawal.ceaseBy} /> }} />{" "}
          <CeaseStatus certificate={certificate} now={now} />
        </Notice>
      )}
      {status === "active" && withdrawnCount > 0 && (
        <Notice
          tone="caution"
          icon="circle-minus"
          title={formatMessage(withdrawnCount === 1 ? messages.partlyTitleOne : messages.partlyTitle, {
            count: formatNumber(withdrawnCount, language),
            all,
          })}
        >
          {messages.partlyText}
        </Notice>
      )}
    </>
  );
};

const DisclosureSection: CertificateComponent = ({ certificate }) => (
  <Section name="shown" heading={usePageContext().messages.shown}>
    <blockquote class="words big">
      <VerbatimText text={certificate.disclosureText} bound="disclosure" passage />
    </blockquote>
    <TextWarnings text={certificate.disclosureText} />
  </Section>
);

const maxVisibleNames = 12; // a click shows the remaining names, and a printout contains all names

type RecipientStatus = "allowed" | "withdrawn" | "declined" | "notAsked";

const recipientBadges = {
  allowed: { tone: "good", icon: "check" },
  withdrawn: { tone: "bad", icon: "ban" },
  declined: { tone: "plain", icon: "circle-slash" },
  notAsked: { tone: "plain", icon: "minus" },
} as const;

const RecipientItems: FC<{ names: readonly string[]; status: RecipientStatus }> = ({ names, status }) => (
  <ul class="parties">
    {names.map((name) => (
      <li>
        <span>
          <Monogram name={name} isSmall />{" "}
          <span>
            <UntrustedText text={name} bound="entity" />
          </span>
        </span>{" "}
        <StatusBadge {...recipientBadges[status]} text={usePageContext().messages[status]} />
      </li>
    ))}
  </ul>
);

interface RecipientGroupProps {
  readonly names: readonly string[];
  readonly status: RecipientStatus;
  /** The member of the record that contains these names. */
  readonly list?: string | undefined;
  /** Shown if there are no names. */
  readonly none?: string;
  readonly children?: Child;
}

const RecipientGroup: FC<RecipientGroupProps> = ({ names, status, list, none, children }) => {
  const { messages, language } = usePageContext();
  const further = names.length - maxVisibleNames;
  return (
    <div class="group" {...(list !== undefined && { "data-list": list })}>
      {names.length === 0 ? (
        none !== undefined && <p class="small quiet">{none}</p>
      ) : further <= 1 ? (
        <RecipientItems names={names} status={status} />
      ) : (
        <>
          <RecipientItems names={names.slice(0, maxVisibleNames)} status={status} />
          <details class="more names">
            <summary>
              <Icon name="chevron-right" />
              {formatMessage(messages.furtherRecipients, { count: formatNumber(further, language) })}
            </summary>
            <RecipientItems names={names.slice(maxVisibleNames)} status={status} />
          </details>
        </>
      )}
      {children}
    </div>
  );
};

/**
 * Withdrawn recipients, in one group per withdrawal. The record still lists them as accepted if consent was given separately for each
 * recipient.
 */
const WithdrawnRecipients: CertificateComponent = ({ certificate }) => (
  <>
    {groupEntityWithdrawals(certificate).map((withdrawal) => (
      <RecipientGroup names={withdrawal.entities} status="withdrawn" list={certificate.answered === null ? undefined : "entities_accepted"}>
        <p class="small quiet">
          <WithdrawnSummary withdrawal={withdrawal} />
        </p>
      </RecipientGroup>
    ))}
  </>
);

const RecipientSection: CertificateComponent = ({ certificate }) => {
  const { entities, answered, status } = certificate;
  const { messages } = usePageContext();
  const isWithdrawn = status === "revoked";
  const heading = isConsentRefused(certificate)
    ? messages.recipientsNamed
    : isWithdrawn
      ? messages.recipientsWithdrawn
      : messages.recipients;
  const active = listActiveEntities(certificate);
  const activeStatus = isWithdrawn ? "withdrawn" : "allowed";
  if (answered === null) {
    return (
      <Section name="recipients" heading={heading} hint={entities.length === 1 ? messages.namedOne : messages.namedTogether}>
        <RecipientGroup names={active} status={activeStatus} />
        <WithdrawnRecipients certificate={certificate} />
      </Section>
    );
  }
  const decided = new Set([...answered.accepted, ...answered.rejected]);
  const notAsked = entities.filter((name) => !decided.has(name));
  return (
    <Section name="recipients" heading={heading} hint={messages.askedEach}>
      <RecipientGroup
        names={active}
        status={activeStatus}
        list="entities_accepted"
        {...(answered.accepted.length === 0 && { none: messages.noneAccepted })}
      />
      <WithdrawnRecipients certificate={certificate} />
      <RecipientGroup names={answered.rejected} status="declined" list="entities_rejected" none={messages.noneDeclined} />
      {notAsked.length > 0 && <RecipientGroup names={notAsked} status="notAsked" list="entities" />}
    </Section>
  );
};

const getFieldLabel = (key: string, messages: PublicMessages): Child =>
  Object.hasOwn(messages.fields, key) ? messages.fields[key as keyof PublicMessages["fields"]] : <VerbatimText text={key} />;

/**
 * Says which fields have a value that the service did not recognize, whether fields were left out, and whether characters were replaced.
 * Renders nothing for most certificates.
 */
const SubmissionNotes: CertificateComponent = ({ certificate: { notes } }) => {
  const { messages } = usePageContext();
  const keys = notes?.fields_unrecognized;
  return (
    <>
      {keys !== undefined && (
        <>
          <FormattedMessage
            text={messages.notes.unrecognized}
            parts={{ fields: keys.map((key, at) => [at > 0 && ", ", getFieldLabel(key, messages)]) }}
          />{" "}
        </>
      )}
      {notes?.fields_truncated && `${messages.notes.truncated} `}
      {notes?.text_replaced && `${messages.notes.replaced} `}
    </>
  );
};

const SubjectDetails: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  if (certificate.subjectErasedAt !== null) return <>{messages.erased}</>;
  return (
    <>
      <ul class="person">
        {Object.entries(certificate.subjectMasked).map(([key, value]) => (
          <li>
            <span class="quiet">{getFieldLabel(key, messages)}</span>{" "}
            {value === "" ? (
              <span class="quiet">{messages.leftEmpty}</span>
            ) : (
              <span class="mono">
                <UntrustedText text={value} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <small>
        <SubmissionNotes certificate={certificate} />
        {messages.masked} {messages.checks.subject}
      </small>
    </>
  );
};

const CertificateDetails: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  const { checks } = messages;
  const [origin, domain] = hasVerifiedDomain(certificate)
    ? [certificate.capturedVia === "browser" ? checks.origin_browser : checks.origin_server, checks.domain]
    : [checks.origin_unverified, checks.domain_unverified];
  return (
    <Section name="details" heading={messages.details}>
      <PropertyList
        lines={[
          [messages.purpose, <UntrustedText text={certificate.purpose} bound="purpose" />],
          [
            messages.website,
            <>
              <VerbatimText text={certificate.originDomain} bound="origin_domain" />
              <small>
                {domain} {origin}
              </small>
            </>,
          ],
          [messages.person, <SubjectDetails certificate={certificate} />],
          [messages.signal, certificate.gpc && messages.signalGpc],
          [messages.certificateId, <Hash value={certificate.id} bound="cert_id" />],
        ]}
      />
    </Section>
  );
};

/** Only http and https URLs become links, because other schemes can do more than open a page. */
const isHttpUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const PolicyItem: FC<{ policy: PublishedPolicy }> = ({ policy }) => {
  const { messages } = usePageContext();
  const name = policy.kind === "privacy" ? messages.privacy : messages.terms;
  return (
    <li>
      <Icon name="file-text" />
      <div>
        {isHttpUrl(policy.sourceUrl) ? (
          <a href={policy.sourceUrl} rel="nofollow noopener noreferrer external">
            {name}
          </a>
        ) : (
          name
        )}
        <small>
          <UntrustedText text={policy.sourceUrl} /> ·{" "}
          <FormattedMessage text={messages.policySaved} parts={{ date: <Timestamp at={policy.capturedAt} /> }} />
        </small>
        <small class="no-print">
          SHA-256 <Hash value={policy.contentHash} />
        </small>
      </div>
    </li>
  );
};

const PolicySection: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  const status = getPoliciesStatus(certificate);
  return status === "captured" ? (
    <Section name="policies" heading={messages.policies} hint={messages.policiesText} isFlush>
      <ul class="lines">
        {certificate.policies.map((policy) => (
          <PolicyItem policy={policy} />
        ))}
      </ul>
    </Section>
  ) : (
    <Section name="policies" heading={messages.policies}>
      <p class="quiet" {...(status === "pending" && { "data-pending": "" })}>
        {status === "pending" ? messages.policiesPending : messages.policiesUnavailable}
      </p>
    </Section>
  );
};

/** Shows the withdrawal form while consent is active. After a withdrawal, shows what the person can still do. */
const WithdrawalSection: FC<{ page: CertificatePage; apiBaseUrl: string }> = ({ page: { certificate, businessContact }, apiBaseUrl }) => {
  const { messages } = usePageContext();
  if (certificate.withdrawal !== null) {
    return (
      <Section name="withdrawn" class="no-print" heading={messages.withdrawnByYou}>
        <WithdrawnAdvice
          certificate={certificate}
          ceaseBy={certificate.withdrawal.ceaseBy}
          contact={businessContact}
          receiptUrl={buildReceiptUrl(apiBaseUrl, certificate.id)}
        />
      </Section>
    );
  }
  return (
    <Section name="withdrawal" class="no-print" heading={messages.isThisYou} hint={messages.isThisYouText}>
      <WithdrawalForms certificate={maskIfErased(certificate)} contact={businessContact} />
    </Section>
  );
};

/** Shows where to check the certificate. Visible only in print. */
const PrintedAddress: FC<{ url: string; now: Instant }> = ({ url, now }) => {
  const { messages, language } = usePageContext();
  return (
    <div class="printed">
      <QrCode text={url} label={messages.qr} />
      <p>
        <strong>{messages.printedTitle}</strong>
        <br />
        <span class="hash url">{url}</span>
        <br />
        <small>{formatMessage(messages.printedText, { date: formatDay(language, now) })}</small>
      </p>
    </div>
  );
};

interface CertificatePageProps extends ViewContext {
  readonly page: CertificatePage;
  /**
   * The public verification response, which is embedded in the page with the service's keys so that the verifier in the page can check it.
   */
  readonly published: object;
  readonly trust: TrustDocument;
}

export const certificatePage = (
  { messages, selectedLanguage }: PageContext,
  { page, apiBase: apiBaseUrl, verifyBase: verifyBaseUrl, now, published, trust }: CertificatePageProps,
): Page => {
  const { certificate } = page;
  const isRefused = isConsentRefused(certificate);
  return {
    title: `${certificate.businessName} · ${isRefused ? messages.certificateOfRefusal : messages.certificate}`,
    script: "verify.js",
    variant: "certificate",
    canFetchItself: true,
    footer: (
      <>
        <span>{messages.footer}</span>
        <span class="row">
          <a href={`format${selectedLanguage === null ? "" : `?lang=${selectedLanguage}`}`}>{messages.footerFormat}</a>
        </span>
      </>
    ),
    content: (
      <>
        <CertificateHeader certificate={certificate} />
        <CertificateNotices certificate={certificate} now={now} />
        <div class="cert-cols">
          <div class="stack">
            <DisclosureSection certificate={certificate} />
            <RecipientSection certificate={certificate} />
            <CertificateDetails certificate={certificate} />
            <CertificateTimeline page={page} apiBaseUrl={apiBaseUrl} now={now} />
            <PolicySection certificate={certificate} />
          </div>
          <aside class="stack" aria-label={messages.checkAndWithdraw}>
            <CertificateVerification certificate={certificate} apiBaseUrl={apiBaseUrl} published={published} trust={trust} />
            {!isRefused && <WithdrawalSection page={page} apiBaseUrl={apiBaseUrl} />}
            <PrintedAddress url={buildVerifyUrl(verifyBaseUrl, certificate.id)} now={now} />
          </aside>
        </div>
      </>
    ),
  };
};
