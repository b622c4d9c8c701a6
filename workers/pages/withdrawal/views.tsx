// The withdrawal pages: email address, code, scope and result. An error page keeps the typed values.
import type { Child, FC } from "hono/jsx";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import { buildReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { OtherCertificates } from "../../operations/withdrawals/load-other-certificates.ts";
import type { BusinessContactDetails } from "../../operations/certificates/get-business-contact.ts";
import { CodeField, SubmitButton } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import {
  VerbatimText,
  Hash,
  withLanguage,
  Timestamp,
  BusinessMessage,
  formatNumber,
  BulletList,
  DescriptionRow,
  FormattedMessage,
  Icon,
  usePageContext,
  type PageContext,
} from "../shared/components.tsx";
import {
  groupEntityWithdrawals,
  WithdrawalEmailForm,
  EntityReceiptLink,
  PartialWithdrawalChoice,
  BusinessContact,
  ScopeChoice,
  WithdrawnSummary,
  type WithdrawableCertificate,
  type PostedChoices,
  type EmailFormProps,
} from "./components.tsx";

const WithdrawalStep: FC<{ certificate: WithdrawableCertificate; heading: string; children?: Child }> = ({
  certificate,
  heading,
  children,
}) => {
  const { selectedLanguage, messages } = usePageContext();
  return (
    <article class="step">
      <header>
        <h1>{heading}</h1>
        <p class="quiet">
          <BusinessMessage text={messages.withdraw.given} name={certificate.businessName} />
        </p>
      </header>
      {children}
      <p class="leave">
        <a href={withLanguage(`/c/${certificate.id}`, selectedLanguage)}>{messages.withdraw.back}</a>
      </p>
    </article>
  );
};

/** Step 1 on its own page, for people who return to it or typed an invalid address. */
export const emailPage = ({ messages: { withdraw: messages } }: PageContext, props: EmailFormProps): Page => ({
  title: messages.askTitle,
  hasError: props.error !== undefined,
  content: (
    <WithdrawalStep certificate={props.certificate} heading={messages.title}>
      <p>{messages.intro}</p>
      <WithdrawalEmailForm {...props} />
    </WithdrawalStep>
  ),
});

/** Step 2: the code, the recipients, and what withdrawing means. */
export const codePage = (
  pageContext: PageContext,
  { certificate, email, typedValue, chosen, error }: EmailFormProps & { readonly email: string; readonly chosen?: PostedChoices },
): Page => {
  const messages = pageContext.messages.withdraw;
  const path = `/c/${certificate.id}/withdraw`;
  return {
    title: messages.codeTitle,
    hasError: error !== undefined,
    content: (
      <WithdrawalStep certificate={certificate} heading={messages.title}>
        <p role="status">
          <FormattedMessage text={messages.sent} parts={{ email: <VerbatimText text={email} /> }} />
        </p>
        <form method="post" action={withLanguage(`${path}/confirm`, pageContext.selectedLanguage)} class="form">
          <CodeField id="withdraw-code" label={messages.code} error={error} typed={typedValue} class="code" />
          <PartialWithdrawalChoice certificate={certificate} formName="code" chosen={chosen} />
          <p>{messages.consequence}</p>
          <p class="quiet">
            <BusinessMessage text={messages.codeNext} name={certificate.businessName} />
          </p>
          <SubmitButton>{messages.confirm}</SubmitButton>
        </form>
        <form method="post" action={withLanguage(path, pageContext.selectedLanguage)} class="form quiet-form">
          <input type="hidden" name="email" value={email} />
          <button type="submit">{messages.again}</button>
          <a href={withLanguage(`/c/${certificate.id}`, pageContext.selectedLanguage)}>{messages.otherAddress}</a>
        </form>
      </WithdrawalStep>
    ),
  };
};

/** How many other certificates there are, with links to the newest. */
const OtherCertificatesSummary: FC<{
  others: OtherCertificates;
  singular: string;
  plural: string;
  certificate: WithdrawableCertificate;
}> = ({ others, singular, plural, certificate }) => {
  const { messages, language } = usePageContext();
  const { count, newest } = others;
  return (
    <>
      <p role="status">
        <BusinessMessage
          text={count === 1 ? singular : plural}
          name={certificate.businessName}
          parts={{ count: formatNumber(count, language) }}
        />
      </p>
      <details>
        <summary>{messages.withdraw.othersShow}</summary>
        <BulletList
          of={newest.map(({ id, issuedAt }) => (
            <a href={`/c/${id}`}>
              <Timestamp at={issuedAt} />
            </a>
          ))}
        />
      </details>
    </>
  );
};

/** Step 3: chooses the scope. Shown once a code or an emailed link has verified the email address. */
export const withdrawalScopePage = (
  pageContext: PageContext,
  {
    certificate,
    token,
    others,
  }: {
    readonly certificate: WithdrawableCertificate;
    readonly token: string;
    /** Other active certificates of the business with the same email address. */
    readonly others: OtherCertificates;
  },
): Page => {
  const messages = pageContext.messages.withdraw;
  return {
    title: messages.title,
    content: (
      <WithdrawalStep certificate={certificate} heading={messages.title}>
        <p class="notice">{messages.proved}</p>
        {others.count > 0 && (
          <OtherCertificatesSummary others={others} singular={messages.otherOne} plural={messages.others} certificate={certificate} />
        )}
        <form method="post" action={withLanguage(`/c/${certificate.id}/withdraw/link`, pageContext.selectedLanguage)} class="form">
          <input type="hidden" name="token" value={token} />
          {others.count === 0 ? (
            <input type="hidden" name="scope" value="certificate" />
          ) : (
            <fieldset>
              <ScopeChoice business={certificate.businessName} />
            </fieldset>
          )}
          <p>{messages.consequence}</p>
          <SubmitButton>{messages.confirm}</SubmitButton>
        </form>
      </WithdrawalStep>
    ),
  };
};

/** Certificates that stay active. Renders nothing unless this browser has verified the email address. */
const RemainingCertificates: FC<{ others: OtherCertificates | null; certificate: WithdrawableCertificate }> = ({ others, certificate }) => {
  const messages = usePageContext().messages.withdraw;
  if (others === null) return null;
  if (others.count > 0)
    return <OtherCertificatesSummary others={others} singular={messages.staysOne} plural={messages.stays} certificate={certificate} />;
  return (
    <p>
      <BusinessMessage text={messages.staysNone} name={certificate.businessName} />
    </p>
  );
};

interface CompletedProps {
  readonly certificate: WithdrawableCertificate;
  readonly apiBaseUrl: string;
  readonly others: OtherCertificates | null;
  readonly contact: BusinessContactDetails;
}

const CompletedNotice: FC<{ text: string; name: string }> = (props) => (
  <p class="notice good" role="status">
    <Icon name="circle-check" /> <BusinessMessage {...props} />
  </p>
);

/** After a withdrawal: what stays active, the number to keep, and how to contact the business. */
const NextSteps: FC<CompletedProps> = ({ certificate, others, contact }) => (
  <>
    <RemainingCertificates others={others} certificate={certificate} />
    <p>
      {usePageContext().messages.withdraw.doneNext} <Hash value={certificate.id} />
    </p>
    <BusinessContact contact={contact} certificate={certificate} />
  </>
);

export const withdrawnPage = (
  { messages: { withdraw: messages } }: PageContext,
  { withdrawal, ...result }: CompletedProps & { readonly withdrawal: PublishedWithdrawal },
): Page => ({
  title: messages.doneTitle,
  content: (
    <WithdrawalStep certificate={result.certificate} heading={messages.doneTitle}>
      <CompletedNotice text={messages.done} name={result.certificate.businessName} />
      <dl>
        <DescriptionRow name={messages.doneAt}>
          <Timestamp at={withdrawal.withdrawnAt} />
        </DescriptionRow>
        <DescriptionRow name={messages.deadline}>
          <Timestamp at={withdrawal.ceaseBy} />
        </DescriptionRow>
      </dl>
      <NextSteps {...result} />
      <p>
        <a href={buildReceiptUrl(result.apiBaseUrl, result.certificate.id)} download={`withdrawal-${result.certificate.id}.json`}>
          {messages.receipt}
        </a>
      </p>
      <p class="quiet">{messages.receiptHint}</p>
    </WithdrawalStep>
  ),
});

const NameList: FC<{ names: readonly string[] }> = ({ names }) => <BulletList of={names.map((name) => <VerbatimText text={name} />)} />;

/** Result of withdrawing from some recipients: who must stop contacting the person and by when, and who may continue. */
export const partlyWithdrawnPage = (pageContext: PageContext, result: CompletedProps): Page => {
  const { certificate } = result;
  const messages = pageContext.messages.withdraw;
  return {
    title: messages.someTitle,
    content: (
      <WithdrawalStep certificate={certificate} heading={messages.someTitle}>
        <CompletedNotice text={messages.someDone} name={certificate.businessName} />
        {groupEntityWithdrawals(certificate).map((withdrawal) => (
          <section>
            <p>
              <WithdrawnSummary of={withdrawal} />
            </p>
            <NameList names={withdrawal.entities} />
            <p>
              <EntityReceiptLink id={certificate.id} number={withdrawal.number} apiBaseUrl={result.apiBaseUrl} />
            </p>
          </section>
        ))}
        <p>
          <strong>{messages.someStanding}</strong>
        </p>
        <NameList names={listActiveEntities(certificate)} />
        <p>
          <a href={withLanguage(`/c/${certificate.id}`, pageContext.selectedLanguage)}>{messages.someMore}</a>
        </p>
        <NextSteps {...result} />
      </WithdrawalStep>
    ),
  };
};
