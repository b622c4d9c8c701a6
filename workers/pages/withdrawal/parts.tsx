// What several pages show of withdrawing: its forms and boxes, when it was done, its receipts. Every form works without a script.
import type { FC } from "hono/jsx";
import type { PublishedCertificate, PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { entityReceiptUrlOf } from "../../../core/certificates/views.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { Reach } from "../../operations/certificates/verify.ts";
import { AddressField, Box, Submit } from "../shared/forms.tsx";
import { Exact, Hash, inLanguage, Moment, Naming, numberText, Points, Sentence, useSetting } from "../shared/parts.tsx";

export type About = Pick<
  PublishedCertificate,
  "id" | "businessName" | "subjectMasked" | "subjectErasedAt" | "entities" | "answered" | "entitiesWithdrawn"
>;

/** Of a person who was erased nothing is shown, not even masked, and no mail can be sent. */
export const unlessErased = (certificate: PublishedCertificate): About =>
  certificate.subjectErasedAt === null ? certificate : { ...certificate, subjectMasked: {} };

export interface Typed {
  readonly certificate: About;
  readonly typed?: string;
  readonly error?: string | undefined;
}

/** Step one: the address. */
export const EmailForm: FC<Typed> = ({ certificate, typed, error }) => {
  const { choice, words } = useSetting();
  const masked = <Exact text={certificate.subjectMasked.email ?? ""} />;
  const hint = <Sentence text={words.withdraw.emailHint} parts={{ masked }} />;
  return (
    <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw`, choice)} class="form">
      <AddressField id="withdraw-email" label={words.withdraw.email} hint={hint} fault={error} typed={typed} />
      <Submit>{words.withdraw.send}</Submit>
    </form>
  );
};

/** What was posted before, so that an error keeps it. */
export type Chosen = ReadonlyMap<string, string>;

interface Boxes {
  readonly certificate: About;
  /** Tells the boxes of this form from those of another on the page. */
  readonly form: string;
  readonly chosen?: Chosen | undefined;
}

/** A box for each recipient that may still make contact; its name is the recipient's place on the certificate. */
export const RecipientBoxes: FC<Boxes & { readonly label: string }> = ({ certificate, form, label, chosen }) => (
  <fieldset class="boxes" aria-label={label}>
    {standingEntities(certificate).map((name) => {
      const at = certificate.entities.indexOf(name);
      return (
        <Box type="checkbox" name={`entity.${at}`} value="on" id={`${form}-entity-${at}`} checked={chosen?.has(`entity.${at}`)}>
          <Exact text={name} />
        </Box>
      );
    })}
  </fieldset>
);

export const isDivisible = (certificate: About): boolean => standingEntities(certificate).length > 1;

/** Withdrawing from some of them, where there are several. */
export const OnlySome: FC<Boxes> = ({ certificate, form, chosen }) => {
  const words = useSetting().words.withdraw;
  return isDivisible(certificate) ? (
    <details open={[...(chosen?.keys() ?? [])].some((name) => name.startsWith("entity."))}>
      <summary>{words.linkSome}</summary>
      <p class="quiet">{words.linkSomeHint}</p>
      <RecipientBoxes certificate={certificate} form={form} label={words.linkSome} chosen={chosen} />
    </details>
  ) : null;
};

/** What the page's script fills in and shows when the reader came by the link from the 201. */
const LinkForm: FC<{ certificate: About }> = ({ certificate }) => {
  const { choice, words } = useSetting();
  return (
    <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw/link`, choice)} class="form link-form" id="withdraw-link" hidden>
      <h3 tabindex={-1}>{words.withdraw.linkHeading}</h3>
      <p>{words.withdraw.linkIntro}</p>
      <input type="hidden" name="token" value="" />
      <OnlySome certificate={certificate} form="link" />
      <Submit>{words.withdraw.confirm}</Submit>
    </form>
  );
};

/** On the certificate's own page. `reach`: where the business can be reached, of a certificate with which no mail can be sent. */
export const WithdrawalForms: FC<{ certificate: About; reach: Reach | null }> = ({ certificate, reach }) => {
  const words = useSetting().words.withdraw;
  const contact = reach !== null && <ReachBusiness reach={reach} certificate={certificate} />;
  const parts = {
    business: <Exact text={certificate.businessName} bound="business.name" />,
    id: <Hash value={certificate.id} bound="cert_id" />,
  };
  if (certificate.subjectErasedAt !== null) {
    // without the person's details nobody can prove to be that person: no form can help
    return (
      <>
        <p>
          <Sentence text={words.erased} parts={parts} />
        </p>
        {contact}
      </>
    );
  }
  const hasEmail = (certificate.subjectMasked.email ?? "") !== "";
  return (
    <>
      <LinkForm certificate={certificate} />
      <p>{hasEmail ? words.intro : words.noEmail}</p>
      {hasEmail && <EmailForm certificate={certificate} />}
      <p class="quiet">
        {words.linkHint} <Sentence text={words.orTell} parts={parts} />
      </p>
      {contact}
    </>
  );
};

/** From what to withdraw: everything of the business, where `count` says how much that is, or the one certificate. */
export const ScopeBoxes: FC<{ business: string; count?: number }> = ({ business, count }) => {
  const { words, language } = useSetting();
  const { scope, scopeBusiness, scopeCertificate } = words.withdraw;
  return (
    <>
      <legend>{scope}</legend>
      <Box type="radio" name="scope" value="business" id="scope-business" checked>
        <Naming text={scopeBusiness} name={business} />
        {count !== undefined && ` (${numberText(count, language)})`}
      </Box>
      <Box type="radio" name="scope" value="certificate" id="scope-certificate">
        {scopeCertificate}
      </Box>
    </>
  );
};

/** Whom to turn to, where the business says so. */
export const ReachBusiness: FC<{ reach: Reach; certificate: About }> = ({ reach, certificate }) =>
  reach.contact === null && reach.mailingAddress === null ? null : (
    <>
      <p>
        <Naming text={useSetting().words.withdraw.contact} name={certificate.businessName} />
      </p>
      <Points of={[reach.contact, reach.mailingAddress].map((text) => text !== null && <Exact text={text} />)} />
    </>
  );

/** The acts by which recipients were withdrawn from, each with its names. */
export const actsOf = ({ entitiesWithdrawn }: Pick<PublishedCertificate, "entitiesWithdrawn">) =>
  [...Map.groupBy(entitiesWithdrawn, ({ number }) => number).values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, entities: [first, ...more].map(({ entity }) => entity) }],
  );

/** When, and until when contact must end. */
export const WithdrawnSummary: FC<{ of: Pick<PublishedWithdrawal, "withdrawnAt" | "ceaseBy"> }> = ({ of: { withdrawnAt, ceaseBy } }) => (
  <Sentence text={useSetting().words.withdraw.summary} parts={{ date: <Moment at={withdrawnAt} />, deadline: <Moment at={ceaseBy} /> }} />
);

export const EntityReceipt: FC<{ id: string; number: number; apiBase: string }> = ({ id, number, apiBase }) => (
  <a href={entityReceiptUrlOf(apiBase, id, number)} download={`withdrawal-${id}-${number}.json`}>
    {useSetting().words.withdraw.receipt}
  </a>
);
