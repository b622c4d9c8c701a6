// Withdrawal forms, choices, summaries and receipt links that several pages share. Every form except the one for a withdrawal link works
// without scripts.
import type { FC } from "hono/jsx";
import { hasEmailAddress } from "../../../core/certificates/recognized-fields.ts";
import type { PublishedCertificate, PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import { buildEntityReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import type { Instant } from "../../../core/time.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { BusinessContactDetails } from "../../operations/certificates/get-business-contact.ts";
import { EmailField, ChoiceField, SubmitButton } from "../shared/form-fields.tsx";
import {
  Day,
  VerbatimText,
  Hash,
  Icon,
  withLanguage,
  Timestamp,
  BusinessMessage,
  formatNumber,
  BulletList,
  FormattedMessage,
  usePageContext,
} from "../shared/components.tsx";

export type WithdrawableCertificate = Pick<
  PublishedCertificate,
  "id" | "businessName" | "subjectMasked" | "notes" | "subjectErasedAt" | "entities" | "answered" | "entitiesWithdrawn"
>;

/** Removes the masked details if the person's data was erased, because they must no longer be shown. */
export const maskIfErased = (certificate: PublishedCertificate): WithdrawableCertificate =>
  certificate.subjectErasedAt === null ? certificate : { ...certificate, subjectMasked: {} };

export interface EmailFormProps {
  readonly certificate: WithdrawableCertificate;
  readonly typedValue?: string;
  readonly error?: string | undefined;
}

/** Step 1: the email address that the code is sent to. */
export const WithdrawalEmailForm: FC<EmailFormProps> = ({ certificate, typedValue, error }) => {
  const { selectedLanguage, messages } = usePageContext();
  const { email = "" } = certificate.subjectMasked;
  // The mask shows no address if the address is under another key, such as `work_email`.
  const hint = email.includes("@") && (
    <FormattedMessage text={messages.withdraw.emailHint} parts={{ masked: <VerbatimText text={email} /> }} />
  );
  return (
    <form method="post" action={withLanguage(`/c/${certificate.id}/withdraw`, selectedLanguage)} class="stack">
      <EmailField id="withdraw-email" label={messages.withdraw.email} hint={hint} error={error} typed={typedValue} />
      <SubmitButton>{messages.withdraw.send}</SubmitButton>
      <p class="small quiet">{messages.withdraw.nothingYet}</p>
    </form>
  );
};

/** The choices in the submitted form, by field name. An error page shows them again. */
export type PostedChoices = ReadonlyMap<string, string>;

interface RecipientChoiceProps {
  readonly certificate: WithdrawableCertificate;
  /** Part of each element ID, because a page can have several of these forms. */
  readonly formName: string;
  readonly chosen?: PostedChoices | undefined;
}

/** One checkbox per active recipient. The name of each checkbox contains the recipient's index on the certificate. */
export const RecipientCheckboxes: FC<RecipientChoiceProps & { readonly label: string }> = ({ certificate, formName, label, chosen }) => (
  <fieldset class="boxes" aria-label={label}>
    {listActiveEntities(certificate).map((name) => {
      const index = certificate.entities.indexOf(name);
      return (
        <ChoiceField
          type="checkbox"
          name={`entity.${index}`}
          value="on"
          id={`${formName}-entity-${index}`}
          checked={chosen?.has(`entity.${index}`)}
        >
          <VerbatimText text={name} />
        </ChoiceField>
      );
    })}
  </fieldset>
);

export const hasSeveralRecipients = (certificate: WithdrawableCertificate): boolean => listActiveEntities(certificate).length > 1;

/** Lets the person withdraw consent for only some recipients. Renders nothing if fewer than two are active. */
export const PartialWithdrawalChoice: FC<RecipientChoiceProps> = ({ certificate, formName, chosen }) => {
  const messages = usePageContext().messages.withdraw;
  return hasSeveralRecipients(certificate) ? (
    <details class="more" open={[...(chosen?.keys() ?? [])].some((name) => name.startsWith("entity."))}>
      <summary>
        <Icon name="chevron-right" />
        {messages.linkSome}
      </summary>
      <p class="hint">{messages.linkSomeHint}</p>
      <RecipientCheckboxes certificate={certificate} formName={formName} label={messages.linkSome} chosen={chosen} />
    </details>
  ) : null;
};

/** Hidden until the page script fills in the token of a withdrawal link (`manage_url`, or the link in an email with a code). */
const LinkWithdrawalForm: FC<{ certificate: WithdrawableCertificate }> = ({ certificate }) => {
  const { selectedLanguage, messages } = usePageContext();
  return (
    <form
      method="post"
      action={withLanguage(`/c/${certificate.id}/withdraw/link`, selectedLanguage)}
      class="stack"
      id="withdraw-link"
      hidden
    >
      <h3 tabindex={-1}>{messages.withdraw.linkHeading}</h3>
      <p>{messages.withdraw.linkIntro}</p>
      <input type="hidden" name="token" value="" />
      <PartialWithdrawalChoice certificate={certificate} formName="link" />
      <SubmitButton>{messages.withdraw.confirm}</SubmitButton>
    </form>
  );
};

/** The withdrawal section of the certificate page. `contact` is set only if the person cannot withdraw with an email code. */
export const WithdrawalForms: FC<{ certificate: WithdrawableCertificate; contact: BusinessContactDetails | null }> = ({
  certificate,
  contact,
}) => {
  const messages = usePageContext().messages.withdraw;
  const contactDetails = contact !== null && <BusinessContact contact={contact} certificate={certificate} />;
  const parts = {
    business: <VerbatimText text={certificate.businessName} bound="business.name" />,
    id: <Hash value={certificate.id} bound="cert_id" />,
  };
  if (certificate.subjectErasedAt !== null) {
    // Show no form, because a person without stored details cannot be verified.
    return (
      <>
        <p>
          <FormattedMessage text={messages.erased} parts={parts} />
        </p>
        {contactDetails}
      </>
    );
  }
  return (
    <>
      <LinkWithdrawalForm certificate={certificate} />
      {hasEmailAddress(certificate) ? <WithdrawalEmailForm certificate={certificate} /> : <p>{messages.noEmail}</p>}
      <p class="small quiet">
        {messages.linkHint} <FormattedMessage text={messages.orTell} parts={parts} />
      </p>
      {contactDetails}
    </>
  );
};

/**
 * Lets the person withdraw all consent given to the business, or only this certificate's. `count` is the number of active certificates and
 * shares that the first choice ends, if known.
 */
export const ScopeChoice: FC<{ business: string; count?: number }> = ({ business, count }) => {
  const { messages, language } = usePageContext();
  const { scope, scopeBusiness, scopeCertificate } = messages.withdraw;
  return (
    <>
      <legend>{scope}</legend>
      <ChoiceField type="radio" name="scope" value="business" id="scope-business" checked>
        <BusinessMessage text={scopeBusiness} name={business} />
        {count !== undefined && ` (${formatNumber(count, language)})`}
      </ChoiceField>
      <ChoiceField type="radio" name="scope" value="certificate" id="scope-certificate">
        {scopeCertificate}
      </ChoiceField>
    </>
  );
};

interface WithdrawnAdviceProps {
  readonly certificate: WithdrawableCertificate;
  readonly ceaseBy: Instant;
  readonly contact: BusinessContactDetails | null;
  readonly receiptUrl: string;
}

/** Shown after a withdrawal: the receipt, and what to do if the business does not end contact. */
export const WithdrawnAdvice: FC<WithdrawnAdviceProps> = ({ certificate, ceaseBy, contact, receiptUrl }) => {
  const messages = usePageContext().messages.withdraw;
  const parts = { day: <Day at={ceaseBy} />, business: <VerbatimText text={certificate.businessName} /> };
  return (
    <>
      <p class="small">
        <FormattedMessage text={messages.stillContacted} parts={parts} />
      </p>
      {contact !== null && (
        <div class="small stack">
          <BusinessContact contact={contact} certificate={certificate} />
        </div>
      )}
      <p>
        <a class="link" href={receiptUrl} download={`withdrawal-${certificate.id}.json`}>
          <Icon name="file-down" />
          {messages.receipt}
        </a>
      </p>
    </>
  );
};

/** How to contact the business. Renders nothing if it has not published any contact details. */
export const BusinessContact: FC<{ contact: BusinessContactDetails; certificate: WithdrawableCertificate }> = ({
  contact: { contact, mailingAddress },
  certificate,
}) =>
  contact === null && mailingAddress === null ? null : (
    <>
      <p>
        <BusinessMessage text={usePageContext().messages.withdraw.contact} name={certificate.businessName} />
      </p>
      <BulletList items={[contact, mailingAddress].map((text) => text !== null && <VerbatimText text={text} />)} />
    </>
  );

/** Groups the withdrawals for individual recipients by withdrawal number. Each group contains the names of its recipients. */
export const groupEntityWithdrawals = ({ entitiesWithdrawn }: Pick<PublishedCertificate, "entitiesWithdrawn">) =>
  [...Map.groupBy(entitiesWithdrawn, ({ number }) => number).values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, entities: [first, ...more].map(({ entity }) => entity) }],
  );

/** Shows when consent was withdrawn, and the deadline for contact to end. */
export const WithdrawnSummary: FC<{ withdrawal: Pick<PublishedWithdrawal, "withdrawnAt" | "ceaseBy"> }> = ({
  withdrawal: { withdrawnAt, ceaseBy },
}) => (
  <FormattedMessage
    text={usePageContext().messages.withdraw.summary}
    parts={{ date: <Timestamp at={withdrawnAt} />, day: <Day at={ceaseBy} /> }}
  />
);

export const EntityReceiptLink: FC<{ id: string; number: number; apiBaseUrl: string }> = ({ id, number, apiBaseUrl }) => (
  <a href={buildEntityReceiptUrl(apiBaseUrl, id, number)} download={`withdrawal-${id}-${number}.json`}>
    {usePageContext().messages.withdraw.receipt}
  </a>
);
