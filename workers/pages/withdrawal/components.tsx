// What several pages show of withdrawing: its forms and boxes, when it was done, its receipts. Every form works without a script.
import type { FC } from "hono/jsx";
import type { PublishedCertificate, PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import { buildEntityReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import { listActiveEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { BusinessContactDetails } from "../../operations/certificates/get-business-contact.ts";
import { EmailField, ChoiceField, SubmitButton } from "../shared/form-fields.tsx";
import {
  VerbatimText,
  Hash,
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
  "id" | "businessName" | "subjectMasked" | "subjectErasedAt" | "entities" | "answered" | "entitiesWithdrawn"
>;

/** Of a person who was erased nothing is shown, not even masked, and no mail can be sent. */
export const maskIfErased = (certificate: PublishedCertificate): WithdrawableCertificate =>
  certificate.subjectErasedAt === null ? certificate : { ...certificate, subjectMasked: {} };

export interface EmailFormProps {
  readonly certificate: WithdrawableCertificate;
  readonly typedValue?: string;
  readonly error?: string | undefined;
}

/** Step one: the address. */
export const WithdrawalEmailForm: FC<EmailFormProps> = ({ certificate, typedValue, error }) => {
  const { selectedLanguage, messages } = usePageContext();
  const masked = <VerbatimText text={certificate.subjectMasked.email ?? ""} />;
  const hint = <FormattedMessage text={messages.withdraw.emailHint} parts={{ masked }} />;
  return (
    <form method="post" action={withLanguage(`/c/${certificate.id}/withdraw`, selectedLanguage)} class="form">
      <EmailField id="withdraw-email" label={messages.withdraw.email} hint={hint} error={error} typed={typedValue} />
      <SubmitButton>{messages.withdraw.send}</SubmitButton>
    </form>
  );
};

/** What was posted before, so that an error keeps it. */
export type PostedChoices = ReadonlyMap<string, string>;

interface RecipientChoiceProps {
  readonly certificate: WithdrawableCertificate;
  /** Tells the boxes of this form from those of another on the page. */
  readonly formName: string;
  readonly chosen?: PostedChoices | undefined;
}

/** A box for each recipient that may still make contact; its name is the recipient's place on the certificate. */
export const RecipientCheckboxes: FC<RecipientChoiceProps & { readonly label: string }> = ({ certificate, formName, label, chosen }) => (
  <fieldset class="boxes" aria-label={label}>
    {listActiveEntities(certificate).map((name) => {
      const at = certificate.entities.indexOf(name);
      return (
        <ChoiceField type="checkbox" name={`entity.${at}`} value="on" id={`${formName}-entity-${at}`} checked={chosen?.has(`entity.${at}`)}>
          <VerbatimText text={name} />
        </ChoiceField>
      );
    })}
  </fieldset>
);

export const hasSeveralRecipients = (certificate: WithdrawableCertificate): boolean => listActiveEntities(certificate).length > 1;

/** Withdrawing from some of them, where there are several. */
export const PartialWithdrawalChoice: FC<RecipientChoiceProps> = ({ certificate, formName, chosen }) => {
  const words = usePageContext().messages.withdraw;
  return hasSeveralRecipients(certificate) ? (
    <details open={[...(chosen?.keys() ?? [])].some((name) => name.startsWith("entity."))}>
      <summary>{words.linkSome}</summary>
      <p class="quiet">{words.linkSomeHint}</p>
      <RecipientCheckboxes certificate={certificate} formName={formName} label={words.linkSome} chosen={chosen} />
    </details>
  ) : null;
};

/** What the page's script fills in and shows when the reader came by the link from the 201. */
const LinkWithdrawalForm: FC<{ certificate: WithdrawableCertificate }> = ({ certificate }) => {
  const { selectedLanguage, messages } = usePageContext();
  return (
    <form
      method="post"
      action={withLanguage(`/c/${certificate.id}/withdraw/link`, selectedLanguage)}
      class="form link-form"
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

/** On the certificate's own page. `reach`: where the business can be reached, of a certificate with which no mail can be sent. */
export const WithdrawalForms: FC<{ certificate: WithdrawableCertificate; reach: BusinessContactDetails | null }> = ({
  certificate,
  reach,
}) => {
  const words = usePageContext().messages.withdraw;
  const contact = reach !== null && <BusinessContact reach={reach} certificate={certificate} />;
  const parts = {
    business: <VerbatimText text={certificate.businessName} bound="business.name" />,
    id: <Hash value={certificate.id} bound="cert_id" />,
  };
  if (certificate.subjectErasedAt !== null) {
    // without the person's details nobody can prove to be that person: no form can help
    return (
      <>
        <p>
          <FormattedMessage text={words.erased} parts={parts} />
        </p>
        {contact}
      </>
    );
  }
  const hasEmail = (certificate.subjectMasked.email ?? "") !== "";
  return (
    <>
      <LinkWithdrawalForm certificate={certificate} />
      <p>{hasEmail ? words.intro : words.noEmail}</p>
      {hasEmail && <WithdrawalEmailForm certificate={certificate} />}
      <p class="quiet">
        {words.linkHint} <FormattedMessage text={words.orTell} parts={parts} />
      </p>
      {contact}
    </>
  );
};

/** From what to withdraw: everything of the business, where `count` says how much that is, or the one certificate. */
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

/** Whom to turn to, where the business says so. */
export const BusinessContact: FC<{ reach: BusinessContactDetails; certificate: WithdrawableCertificate }> = ({ reach, certificate }) =>
  reach.contact === null && reach.mailingAddress === null ? null : (
    <>
      <p>
        <BusinessMessage text={usePageContext().messages.withdraw.contact} name={certificate.businessName} />
      </p>
      <BulletList of={[reach.contact, reach.mailingAddress].map((text) => text !== null && <VerbatimText text={text} />)} />
    </>
  );

/** The acts by which recipients were withdrawn from, each with its names. */
export const groupEntityWithdrawals = ({ entitiesWithdrawn }: Pick<PublishedCertificate, "entitiesWithdrawn">) =>
  [...Map.groupBy(entitiesWithdrawn, ({ number }) => number).values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, entities: [first, ...more].map(({ entity }) => entity) }],
  );

/** When, and until when contact must end. */
export const WithdrawnSummary: FC<{ of: Pick<PublishedWithdrawal, "withdrawnAt" | "ceaseBy"> }> = ({ of: { withdrawnAt, ceaseBy } }) => (
  <FormattedMessage
    text={usePageContext().messages.withdraw.summary}
    parts={{ date: <Timestamp at={withdrawnAt} />, deadline: <Timestamp at={ceaseBy} /> }}
  />
);

export const EntityReceiptLink: FC<{ id: string; number: number; apiBase: string }> = ({ id, number, apiBase }) => (
  <a href={buildEntityReceiptUrl(apiBase, id, number)} download={`withdrawal-${id}-${number}.json`}>
    {usePageContext().messages.withdraw.receipt}
  </a>
);
