// The pages of withdrawing: for the address, for the code, for what else there is, and what is so afterwards. An error keeps what was
// typed and says what to do.
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

/** The page of step one, for whoever comes back to it or typed something that is no address. */
export const emailPage = ({ messages: { withdraw: words } }: PageContext, asked: EmailFormProps): Page => ({
  title: words.askTitle,
  hasError: asked.error !== undefined,
  content: (
    <WithdrawalStep certificate={asked.certificate} heading={words.title}>
      <p>{words.intro}</p>
      <WithdrawalEmailForm {...asked} />
    </WithdrawalStep>
  ),
});

/** Step two: the code, and what follows from it. */
export const codePage = (
  setting: PageContext,
  { certificate, email, typedValue, chosen, error }: EmailFormProps & { readonly email: string; readonly chosen?: PostedChoices },
): Page => {
  const words = setting.messages.withdraw;
  const path = `/c/${certificate.id}/withdraw`;
  return {
    title: words.codeTitle,
    hasError: error !== undefined,
    content: (
      <WithdrawalStep certificate={certificate} heading={words.title}>
        <p role="status">
          <FormattedMessage text={words.sent} parts={{ email: <VerbatimText text={email} /> }} />
        </p>
        <form method="post" action={withLanguage(`${path}/confirm`, setting.selectedLanguage)} class="form">
          <CodeField id="withdraw-code" label={words.code} error={error} typed={typedValue} class="code" />
          <PartialWithdrawalChoice certificate={certificate} formName="code" chosen={chosen} />
          <p>{words.consequence}</p>
          <p class="quiet">
            <BusinessMessage text={words.codeNext} name={certificate.businessName} />
          </p>
          <SubmitButton>{words.confirm}</SubmitButton>
        </form>
        <form method="post" action={withLanguage(path, setting.selectedLanguage)} class="form quiet-form">
          <input type="hidden" name="email" value={email} />
          <button type="submit">{words.again}</button>
          <a href={withLanguage(`/c/${certificate.id}`, setting.selectedLanguage)}>{words.otherAddress}</a>
        </form>
      </WithdrawalStep>
    ),
  };
};

/** How many there are, in words, and the newest of them. */
const OtherCertificatesSummary: FC<{ others: OtherCertificates; one: string; more: string; certificate: WithdrawableCertificate }> = ({
  others,
  one,
  more,
  certificate,
}) => {
  const { messages, language } = usePageContext();
  const { count, newest } = others;
  return (
    <>
      <p role="status">
        <BusinessMessage text={count === 1 ? one : more} name={certificate.businessName} parts={{ count: formatNumber(count, language) }} />
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

/** The address is proved, by a code or by the link of a mail: what else there is under it, and from what to withdraw. */
export const withdrawalScopePage = (
  setting: PageContext,
  shown: {
    readonly certificate: WithdrawableCertificate;
    readonly token: string;
    /** Other active certificates of the business that name the address. */
    readonly others: OtherCertificates;
  },
): Page => {
  const { certificate, token, others } = shown;
  const words = setting.messages.withdraw;
  return {
    title: words.title,
    content: (
      <WithdrawalStep certificate={certificate} heading={words.title}>
        <p class="notice">{words.proved}</p>
        {others.count > 0 && (
          <OtherCertificatesSummary others={others} one={words.otherOne} more={words.others} certificate={certificate} />
        )}
        <form method="post" action={withLanguage(`/c/${certificate.id}/withdraw/link`, setting.selectedLanguage)} class="form">
          <input type="hidden" name="token" value={token} />
          {others.count === 0 ? (
            <input type="hidden" name="scope" value="certificate" />
          ) : (
            <fieldset>
              <ScopeChoice business={certificate.businessName} />
            </fieldset>
          )}
          <p>{words.consequence}</p>
          <SubmitButton>{words.confirm}</SubmitButton>
        </form>
      </WithdrawalStep>
    ),
  };
};

/** What stays active, where this browser has proved the address; to every other nothing is said of it. */
const RemainingCertificates: FC<{ others: OtherCertificates | null; certificate: WithdrawableCertificate }> = ({ others, certificate }) => {
  const words = usePageContext().messages.withdraw;
  if (others === null) return null;
  if (others.count > 0)
    return <OtherCertificatesSummary others={others} one={words.staysOne} more={words.stays} certificate={certificate} />;
  return (
    <p>
      <BusinessMessage text={words.staysNone} name={certificate.businessName} />
    </p>
  );
};

interface CompletedProps {
  readonly certificate: WithdrawableCertificate;
  readonly apiBase: string;
  readonly others: OtherCertificates | null;
  readonly reach: BusinessContactDetails;
}

const CompletedNotice: FC<{ text: string; name: string }> = (done) => (
  <p class="notice good" role="status">
    <Icon name="tick" /> <BusinessMessage {...done} />
  </p>
);

/** What is so once it is withdrawn, and what to keep for it. */
const NextSteps: FC<CompletedProps> = ({ certificate, others, reach }) => (
  <>
    <RemainingCertificates others={others} certificate={certificate} />
    <p>
      {usePageContext().messages.withdraw.doneNext} <Hash value={certificate.id} />
    </p>
    <BusinessContact reach={reach} certificate={certificate} />
  </>
);

export const withdrawnPage = (
  { messages: { withdraw: words } }: PageContext,
  { withdrawal, ...done }: CompletedProps & { readonly withdrawal: PublishedWithdrawal },
): Page => ({
  title: words.doneTitle,
  content: (
    <WithdrawalStep certificate={done.certificate} heading={words.doneTitle}>
      <CompletedNotice text={words.done} name={done.certificate.businessName} />
      <dl>
        <DescriptionRow name={words.doneAt}>
          <Timestamp at={withdrawal.withdrawnAt} />
        </DescriptionRow>
        <DescriptionRow name={words.deadline}>
          <Timestamp at={withdrawal.ceaseBy} />
        </DescriptionRow>
      </dl>
      <NextSteps {...done} />
      <p>
        <a href={buildReceiptUrl(done.apiBase, done.certificate.id)} download={`withdrawal-${done.certificate.id}.json`}>
          {words.receipt}
        </a>
      </p>
      <p class="quiet">{words.receiptHint}</p>
    </WithdrawalStep>
  ),
});

const NameList: FC<{ names: readonly string[] }> = ({ names }) => <BulletList of={names.map((name) => <VerbatimText text={name} />)} />;

/** What is so once some recipients are withdrawn from: who must stop contacting, until when, and who may go on. */
export const partlyWithdrawnPage = (setting: PageContext, done: CompletedProps): Page => {
  const { certificate } = done;
  const words = setting.messages.withdraw;
  return {
    title: words.someTitle,
    content: (
      <WithdrawalStep certificate={certificate} heading={words.someTitle}>
        <CompletedNotice text={words.someDone} name={certificate.businessName} />
        {groupEntityWithdrawals(certificate).map((act) => (
          <section>
            <p>
              <WithdrawnSummary of={act} />
            </p>
            <NameList names={act.entities} />
            <p>
              <EntityReceiptLink id={certificate.id} number={act.number} apiBase={done.apiBase} />
            </p>
          </section>
        ))}
        <p>
          <strong>{words.someStanding}</strong>
        </p>
        <NameList names={listActiveEntities(certificate)} />
        <p>
          <a href={withLanguage(`/c/${certificate.id}`, setting.selectedLanguage)}>{words.someMore}</a>
        </p>
        <NextSteps {...done} />
      </WithdrawalStep>
    ),
  };
};
