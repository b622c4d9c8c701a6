// The withdrawal pages: email address, code, scope and result. An error page keeps the typed values.
import type { Child, FC } from "hono/jsx";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import { buildReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { OtherCertificates } from "../../operations/withdrawals/load-other-certificates.ts";
import type { BusinessContactDetails } from "../../operations/certificates/get-business-contact.ts";
import { CodeField, ConfirmActions, SubmitButton } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import {
  Day,
  FieldError,
  Monogram,
  Notice,
  VerbatimText,
  Hash,
  withLanguage,
  Timestamp,
  BusinessMessage,
  formatNumber,
  BulletList,
  FormattedMessage,
  Icon,
  usePageContext,
  type PageContext,
  IconList,
  PropertyList,
} from "../shared/components.tsx";
import {
  groupEntityWithdrawals,
  WithdrawalEmailForm,
  WithdrawalForms,
  EntityReceiptLink,
  PartialWithdrawalChoice,
  BusinessContact,
  ScopeChoice,
  WithdrawnSummary,
  type WithdrawableCertificate,
  type PostedChoices,
  type EmailFormProps,
} from "./components.tsx";

interface StepProps {
  readonly certificate: WithdrawableCertificate;
  readonly heading: string;
  readonly children?: Child;
}

/** A card with the business, a link back to the certificate, and the content of the step. */
const WithdrawalStep: FC<StepProps> = ({ certificate, heading, children }) => {
  const { selectedLanguage, messages } = usePageContext();
  return (
    <div class="card confirm step">
      <div class="body">
        <div class="row">
          <Monogram name={certificate.businessName} />
          <p>
            <strong>
              <VerbatimText text={certificate.businessName} />
            </strong>
            <br />
            <a class="small" href={withLanguage(`/c/${certificate.id}`, selectedLanguage)}>
              {messages.withdraw.back}
            </a>
          </p>
        </div>
        <h1>{heading}</h1>
        {children}
      </div>
    </div>
  );
};

/** Step 1 on a separate page, for people who come back to it or who typed an invalid address. */
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

/** Shown instead of the form for the email address if the certificate has none: the link, or the business. */
export const noEmailPage = (
  { messages: { withdraw: messages } }: PageContext,
  { certificate, contact, error }: EmailFormProps & { readonly contact: BusinessContactDetails },
): Page => ({
  title: messages.title,
  hasError: error !== undefined,
  content: (
    <WithdrawalStep certificate={certificate} heading={messages.title}>
      {error !== undefined && <FieldError id="withdraw-error" text={error} />}
      <WithdrawalForms certificate={certificate} contact={contact} />
    </WithdrawalStep>
  ),
});

/** Explains what a withdrawal does, before the person decides. */
const WithdrawalConsequences: FC = () => {
  const messages = usePageContext().messages.withdraw;
  return (
    <IconList
      items={[
        ["clock-alert", messages.stopContact],
        ["bell", messages.tellBusiness],
        ["archive", messages.certificateStays],
        ["undo-2", messages.cannotUndo],
      ]}
    />
  );
};

/** Two buttons of the same size: back to the certificate, or withdraw. */
const WithdrawalAnswers: FC<{ certificate: WithdrawableCertificate }> = ({ certificate }) => {
  const { selectedLanguage, messages } = usePageContext();
  const back = withLanguage(`/c/${certificate.id}`, selectedLanguage);
  return <ConfirmActions back={back} keep={messages.withdraw.cancel} go={messages.withdraw.confirm} />;
};

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
        <Notice icon="mail" title={messages.checkEmail} role="status">
          <FormattedMessage text={messages.sent} parts={{ email: <VerbatimText text={email} /> }} />
        </Notice>
        <form method="post" action={withLanguage(`${path}/confirm`, pageContext.selectedLanguage)} class="stack">
          <CodeField id="withdraw-code" label={messages.code} error={error} typed={typedValue} />
          <PartialWithdrawalChoice certificate={certificate} formName="code" chosen={chosen} />
          <WithdrawalConsequences />
          <p class="small quiet">
            <BusinessMessage text={messages.codeNext} name={certificate.businessName} />
          </p>
          <WithdrawalAnswers certificate={certificate} />
        </form>
        <form method="post" action={withLanguage(path, pageContext.selectedLanguage)} class="row">
          <input type="hidden" name="email" value={email} />
          <SubmitButton class="btn bare sm">{messages.again}</SubmitButton>
          <a class="btn bare sm" href={withLanguage(`/c/${certificate.id}`, pageContext.selectedLanguage)}>
            {messages.otherAddress}
          </a>
        </form>
      </WithdrawalStep>
    ),
  };
};

/** Shows how many other certificates there are, with links to the newest ones. */
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
      <details class="more">
        <summary>
          <Icon name="chevron-right" />
          {messages.withdraw.othersShow}
        </summary>
        <BulletList
          items={newest.map(({ id, issuedAt }) => (
            <a href={`/c/${id}`}>
              <Timestamp at={issuedAt} />
            </a>
          ))}
        />
      </details>
    </>
  );
};

/** Step 3 asks for the scope. It is shown once a code or an emailed link has verified the email address. */
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
        <Notice tone="good" icon="circle-check" title={messages.confirmed} />
        {others.count > 0 && (
          <OtherCertificatesSummary others={others} singular={messages.otherOne} plural={messages.others} certificate={certificate} />
        )}
        <form method="post" action={withLanguage(`/c/${certificate.id}/withdraw/link`, pageContext.selectedLanguage)} class="stack">
          <input type="hidden" name="token" value={token} />
          {others.count === 0 ? (
            <input type="hidden" name="scope" value="certificate" />
          ) : (
            <fieldset class="option">
              <ScopeChoice business={certificate.businessName} />
            </fieldset>
          )}
          <WithdrawalConsequences />
          <WithdrawalAnswers certificate={certificate} />
        </form>
      </WithdrawalStep>
    ),
  };
};

/** Lists the person's certificates that stay active. Renders nothing unless this browser has verified the email address. */
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
  <Notice tone="good" icon="circle-check" title={<BusinessMessage {...props} />} role="status" />
);

/** Shown after a withdrawal: what stays active, the certificate ID to keep, and how to contact the business. */
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
      <PropertyList
        lines={[
          [messages.doneAt, <Timestamp at={withdrawal.withdrawnAt} />],
          [messages.deadline, <FormattedMessage text={messages.deadlineDay} parts={{ day: <Day at={withdrawal.ceaseBy} /> }} />],
        ]}
      />
      <p>
        <a
          class="btn"
          href={buildReceiptUrl(result.apiBaseUrl, result.certificate.id)}
          download={`withdrawal-${result.certificate.id}.json`}
        >
          <Icon name="file-down" />
          {messages.receipt}
        </a>
      </p>
      <p class="small quiet">{messages.receiptHint}</p>
      <NextSteps {...result} />
    </WithdrawalStep>
  ),
});

const NameList: FC<{ names: readonly string[] }> = ({ names }) => <BulletList items={names.map((name) => <VerbatimText text={name} />)} />;

/** The result of withdrawing consent for some recipients: who must end contact and by when, and who may still contact the person. */
export const partlyWithdrawnPage = (pageContext: PageContext, result: CompletedProps): Page => {
  const { certificate } = result;
  const messages = pageContext.messages.withdraw;
  return {
    title: messages.someTitle,
    content: (
      <WithdrawalStep certificate={certificate} heading={messages.someTitle}>
        <CompletedNotice text={messages.someDone} name={certificate.businessName} />
        {groupEntityWithdrawals(certificate).map((withdrawal) => (
          <section class="stack tight">
            <p>
              <WithdrawnSummary withdrawal={withdrawal} />
            </p>
            <NameList names={withdrawal.entities} />
            <p>
              <EntityReceiptLink id={certificate.id} number={withdrawal.number} apiBaseUrl={result.apiBaseUrl} />
            </p>
          </section>
        ))}
        <p>
          <strong>{messages.someActive}</strong>
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
