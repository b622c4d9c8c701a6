// The public page of a certificate. It renders the published certificate only, so owner-only data cannot appear here. client/verify.ts
// compares elements marked `data-bound` with the record.
import type { Child, FC } from "hono/jsx";
import {
  hasVerifiedDomain,
  isConsentRefused,
  getPoliciesStatus,
  type PublishedCertificate,
  type PublishedPolicy,
} from "../../../core/certificates/published-certificate.ts";
import type { IconName } from "../shared/icon-names.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import type { ViewContext } from "../../../core/certificates/public-json.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
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
  BulletList,
  TextWarnings,
  DescriptionRow,
  Section,
  FormattedMessage,
  Icon,
  StatusBadge,
  usePageContext,
  type PageContext,
} from "../shared/components.tsx";
import { groupEntityWithdrawals, maskIfErased, WithdrawalForms, WithdrawnSummary } from "../withdrawal/components.tsx";
import { CertificateVerification } from "./certificate-verification.tsx";
import { CertificateTimeline } from "./certificate-timeline.tsx";
import { QrCode } from "./qr-code.tsx";

type CertificateComponent = FC<{ certificate: PublishedCertificate }>;

const CertificateStatus: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  return (
    <p class="statuses">
      {certificate.status !== "active" ? (
        <StatusBadge tone="bad" icon="ban" text={messages.withdrawn} />
      ) : isConsentRefused(certificate) ? (
        <StatusBadge tone="caution" icon="ban" text={messages.refused} />
      ) : (
        <StatusBadge tone="good" icon="circle-check" text={messages.active} />
      )}{" "}
      {certificate.environment === "sandbox" && <StatusBadge tone="caution" icon="triangle-alert" text={messages.sandbox} />}
    </p>
  );
};

const CertificateHeader: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  return (
    <header class="opening">
      <p class="kind">{isConsentRefused(certificate) ? messages.certificateOfRefusal : messages.certificate}</p>
      <h1>
        <VerbatimText text={certificate.businessName} bound="business.name" />
      </h1>
      <TextWarnings text={certificate.businessName} />
      <div class="standing">
        <CertificateStatus certificate={certificate} />
        <p>
          <FormattedMessage text={messages.issuedOn} parts={{ date: <Timestamp at={certificate.issuedAt} bound="timestamp" /> }} />
        </p>
      </div>
      {certificate.environment === "sandbox" && <p class="notice caution">{messages.summarySandbox}</p>}
      {isConsentRefused(certificate) && <p class="notice caution">{messages.summaryRefused}</p>}
      {certificate.status === "revoked" && (
        <p class="notice bad">
          {messages.summaryWithdrawn}
          {certificate.withdrawal !== null && (
            <>
              {" "}
              <WithdrawnSummary of={certificate.withdrawal} />
            </>
          )}
        </p>
      )}
      <p class="summary">
        <FormattedMessage
          text={messages.summary}
          parts={{
            domain: <VerbatimText text={certificate.originDomain} bound="origin_domain" />,
            business: <VerbatimText text={certificate.businessName} bound="business.name" />,
          }}
        />
      </p>
    </header>
  );
};

const DisclosureSection: CertificateComponent = ({ certificate }) => (
  <Section name="shown" heading={usePageContext().messages.shown}>
    <blockquote>
      <VerbatimText text={certificate.disclosureText} bound="disclosure" passage />
    </blockquote>
    <TextWarnings text={certificate.disclosureText} />
  </Section>
);

const maxVisibleNames = 12; // enough for a glance; further names are one click away and always printed

const RecipientNames: FC<{ names: readonly string[] }> = ({ names }) => {
  const { messages, language } = usePageContext();
  const list = names.map((name) => <UntrustedText text={name} bound="entity" />);
  if (list.length <= maxVisibleNames + 1) return <BulletList of={list} />;
  return (
    <>
      <BulletList of={list.slice(0, maxVisibleNames)} />
      <details>
        <summary>{formatMessage(messages.furtherRecipients, { count: formatNumber(list.length - maxVisibleNames, language) })}</summary>
        <BulletList of={list.slice(maxVisibleNames)} />
      </details>
    </>
  );
};

/** `list` is the member of the record that holds these names. A group without names is rendered empty, as in the record. */
const RecipientGroup: FC<{ icon?: IconName; heading: string; list: string; names: readonly string[] }> = (group) => (
  <div class="answer" data-list={group.list}>
    <h3>
      {group.icon !== undefined && (
        <>
          <Icon name={group.icon} />{" "}
        </>
      )}
      {group.heading}
    </h3>
    {group.names.length === 0 ? <p class="quiet">{usePageContext().messages.nobody}</p> : <RecipientNames names={group.names} />}
  </div>
);

/** Withdrawn recipients, one group per withdrawal. The record lists them as accepted if consent was given for each separately. */
const WithdrawnRecipients: CertificateComponent = ({ certificate }) => (
  <>
    {groupEntityWithdrawals(certificate).map((withdrawal) => (
      <div class="answer" {...(certificate.answered !== null && { "data-list": "entities_accepted" })}>
        <h3>
          <Icon name="ban" /> {usePageContext().messages.withdrawnFrom}
        </h3>
        <p class="quiet">
          <WithdrawnSummary of={withdrawal} />
        </p>
        <RecipientNames names={withdrawal.entities} />
      </div>
    ))}
  </>
);

const RecipientSection: CertificateComponent = ({ certificate }) => {
  const { entities, answered, entitiesWithdrawn, status } = certificate;
  const { messages } = usePageContext();
  const isWithdrawn = status === "revoked";
  const heading = isConsentRefused(certificate)
    ? messages.recipientsNamed
    : isWithdrawn
      ? messages.recipientsWithdrawn
      : messages.recipients;
  const hasWithdrawals = entitiesWithdrawn.length > 0;
  const deadline = certificate.withdrawal !== null && (
    <p>
      <FormattedMessage text={messages.recipientsDeadline} parts={{ deadline: <Timestamp at={certificate.withdrawal.ceaseBy} /> }} />
    </p>
  );
  const active = listActiveEntities(certificate);
  if (answered === null) {
    return (
      <Section name="recipients" heading={heading}>
        {deadline}
        <p>{entities.length === 1 ? messages.namedOne : messages.namedTogether}</p>
        <RecipientNames names={active} />
        {hasWithdrawals && (
          <div class="answers">
            <WithdrawnRecipients certificate={certificate} />
          </div>
        )}
      </Section>
    );
  }
  const decided = new Set([...answered.accepted, ...answered.rejected]);
  const notAsked = entities.filter((name) => !decided.has(name));
  return (
    <Section name="recipients" heading={heading}>
      {deadline}
      <p>{messages.askedEach}</p>
      <div class="answers">
        <RecipientGroup
          icon={isWithdrawn ? "ban" : "circle-check"}
          heading={isWithdrawn ? messages.withdrawnFrom : messages.accepted}
          list="entities_accepted"
          names={active}
        />
        {hasWithdrawals && <WithdrawnRecipients certificate={certificate} />}
        <RecipientGroup icon="ban" heading={messages.declined} list="entities_rejected" names={answered.rejected} />
        {notAsked.length > 0 && <RecipientGroup heading={messages.notAsked} list="entities" names={notAsked} />}
      </div>
    </Section>
  );
};

const getFieldLabel = (key: string, messages: PublicMessages): Child =>
  Object.hasOwn(messages.fields, key) ? messages.fields[key as keyof PublicMessages["fields"]] : <VerbatimText text={key} />;

/** What happened to the submitted values; nothing for most certificates. */
const SubmissionNotes: CertificateComponent = ({ certificate: { notes } }) => {
  const { messages } = usePageContext();
  const keys = notes?.fields_unrecognized;
  return (
    <>
      {keys !== undefined && (
        <p>
          <FormattedMessage
            text={messages.notes.unrecognized}
            parts={{ fields: keys.map((key, at) => [at > 0 && ", ", getFieldLabel(key, messages)]) }}
          />
        </p>
      )}
      {notes?.fields_truncated && <p>{messages.notes.truncated}</p>}
      {notes?.text_replaced && <p>{messages.notes.replaced}</p>}
    </>
  );
};

const SubjectDetails: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  if (certificate.subjectErasedAt !== null) return <p class="quiet">{messages.erased}</p>;
  return (
    <>
      <ul class="person">
        {Object.entries(certificate.subjectMasked).map(([key, value]) => (
          <li>
            <span class="field">{getFieldLabel(key, messages)}</span>{" "}
            {value === "" ? <span class="quiet">{messages.leftEmpty}</span> : <UntrustedText text={value} />}
          </li>
        ))}
      </ul>
      <SubmissionNotes certificate={certificate} />
      <p class="quiet">
        {messages.masked} {messages.checks.subject}
      </p>
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
      <dl>
        <DescriptionRow name={messages.purpose}>
          <UntrustedText text={certificate.purpose} bound="purpose" />
        </DescriptionRow>
        <DescriptionRow name={messages.website}>
          <VerbatimText text={certificate.originDomain} bound="origin_domain" />
          <p class="quiet">
            {origin} {domain}
          </p>
        </DescriptionRow>
        <DescriptionRow name={messages.person}>
          <SubjectDetails certificate={certificate} />
        </DescriptionRow>
        {certificate.gpc && <DescriptionRow name={messages.signal}>{messages.signalGpc}</DescriptionRow>}
      </dl>
    </Section>
  );
};

/** Only http and https become links: other schemes can do more than open a page. */
const isHttpUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const PolicyRow: FC<{ policy: PublishedPolicy }> = ({ policy }) => {
  const { messages } = usePageContext();
  const address = <UntrustedText text={policy.sourceUrl} />;
  return (
    <DescriptionRow name={policy.kind === "privacy" ? messages.privacy : messages.terms}>
      {isHttpUrl(policy.sourceUrl) ? (
        <a href={policy.sourceUrl} rel="nofollow noopener noreferrer external">
          {address}
        </a>
      ) : (
        address
      )}
      <p class="quiet">
        <FormattedMessage text={messages.policySaved} parts={{ date: <Timestamp at={policy.capturedAt} /> }} />
      </p>
      <p class="quiet">
        {messages.policyHash} <Hash value={policy.contentHash} />
      </p>
    </DescriptionRow>
  );
};

const PolicySection: CertificateComponent = ({ certificate }) => {
  const { messages } = usePageContext();
  const status = getPoliciesStatus(certificate);
  return (
    <Section name="policies" heading={messages.policies}>
      {status === "captured" ? (
        <dl>
          {certificate.policies.map((policy) => (
            <PolicyRow policy={policy} />
          ))}
        </dl>
      ) : (
        <p class="quiet">{status === "pending" ? messages.policiesPending : messages.policiesUnavailable}</p>
      )}
    </Section>
  );
};

const PageAddress: FC<{ url: string }> = ({ url }) => {
  const { messages } = usePageContext();
  return (
    <div class="address">
      <QrCode text={url} label={messages.qr} />
      <p>
        {messages.address}
        <br />
        <span class="url">{url}</span>
      </p>
    </div>
  );
};

interface CertificatePageProps extends ViewContext {
  readonly page: CertificatePage;
  /** Embedded for the verifier in the page: the public verification response, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

export const certificatePage = (
  { messages }: PageContext,
  { page, apiBase: apiBaseUrl, verifyBase: verifyBaseUrl, now, published, trust }: CertificatePageProps,
): Page => {
  const { certificate, businessContact } = page;
  return {
    title: `${certificate.businessName} · ${messages.certificate}`,
    script: "verify.js",
    footer: messages.footer,
    content: (
      <article class="certificate">
        <CertificateHeader certificate={certificate} />
        <DisclosureSection certificate={certificate} />
        <RecipientSection certificate={certificate} />
        <CertificateDetails certificate={certificate} />
        <CertificateTimeline page={page} apiBaseUrl={apiBaseUrl} now={now} />
        <CertificateVerification certificate={certificate} apiBaseUrl={apiBaseUrl} published={published} trust={trust} />
        <PolicySection certificate={certificate} />
        {certificate.status === "active" && (
          <Section name="withdrawal" heading={messages.isThisYou}>
            <WithdrawalForms certificate={maskIfErased(certificate)} contact={businessContact} />
          </Section>
        )}
        <PageAddress url={buildVerifyUrl(verifyBaseUrl, certificate.id)} />
      </article>
    ),
  };
};
