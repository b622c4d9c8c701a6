// What the pages of withdrawing say: the form on the certificate, the page for the address, the page for the code, and what
// is so afterwards. Every form works without a script; an error keeps what was typed and says what to do.
import type { Child, FC } from "hono/jsx";
import type { PublishedCertificate, PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { entityReceiptUrlOf, receiptUrlOf } from "../../../core/certificates/views.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { OtherCertificates } from "../../operations/withdrawals/others.ts";
import type { Reach } from "../../operations/certificates/verify.ts";
import { AddressField, Box, CodeField, Submit } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import {
  Exact,
  Hash,
  inLanguage,
  Moment,
  Naming,
  numberText,
  Points,
  Row,
  Sentence,
  Shape,
  useSetting,
  type Setting,
} from "../shared/parts.tsx";

type About = Pick<
  PublishedCertificate,
  "id" | "businessName" | "subjectMasked" | "subjectErasedAt" | "entities" | "answered" | "entitiesWithdrawn"
>;

/** Of a person who was erased nothing is shown, not even masked, and no mail can be sent. */
export const unlessErased = (certificate: PublishedCertificate): About =>
  certificate.subjectErasedAt === null ? certificate : { ...certificate, subjectMasked: {} };

interface Typed {
  readonly certificate: About;
  readonly typed?: string;
  readonly error?: string | undefined;
}

/** Step one: the address. */
const EmailForm: FC<Typed> = ({ certificate, typed, error }) => {
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
type Chosen = ReadonlyMap<string, string>;

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
const OnlySome: FC<Boxes> = ({ certificate, form, chosen }) => {
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

const Step: FC<{ certificate: About; heading: string; children?: Child }> = ({ certificate, heading, children }) => {
  const { choice, words } = useSetting();
  return (
    <article class="step">
      <header>
        <h1>{heading}</h1>
        <p class="quiet">
          <Naming text={words.withdraw.given} name={certificate.businessName} />
        </p>
      </header>
      {children}
      <p class="leave">
        <a href={inLanguage(`/c/${certificate.id}`, choice)}>{words.withdraw.back}</a>
      </p>
    </article>
  );
};

/** The page of step one, for whoever comes back to it or typed something that is no address. */
export const emailPage = ({ words: { withdraw: words } }: Setting, asked: Typed): Page => ({
  title: words.askTitle,
  isFaulty: asked.error !== undefined,
  content: (
    <Step certificate={asked.certificate} heading={words.title}>
      <p>{words.intro}</p>
      <EmailForm {...asked} />
    </Step>
  ),
});

/** Step two: the code, and what follows from it. */
export const codePage = (
  setting: Setting,
  { certificate, email, typed, chosen, error }: Typed & { readonly email: string; readonly chosen?: Chosen },
): Page => {
  const words = setting.words.withdraw;
  const path = `/c/${certificate.id}/withdraw`;
  return {
    title: words.codeTitle,
    isFaulty: error !== undefined,
    content: (
      <Step certificate={certificate} heading={words.title}>
        <p role="status">
          <Sentence text={words.sent} parts={{ email: <Exact text={email} /> }} />
        </p>
        <form method="post" action={inLanguage(`${path}/confirm`, setting.choice)} class="form">
          <CodeField id="withdraw-code" label={words.code} fault={error} typed={typed} class="code" />
          <OnlySome certificate={certificate} form="code" chosen={chosen} />
          <p>{words.consequence}</p>
          <p class="quiet">
            <Naming text={words.codeNext} name={certificate.businessName} />
          </p>
          <Submit>{words.confirm}</Submit>
        </form>
        <form method="post" action={inLanguage(path, setting.choice)} class="form quiet-form">
          <input type="hidden" name="email" value={email} />
          <button type="submit">{words.again}</button>
          <a href={inLanguage(`/c/${certificate.id}`, setting.choice)}>{words.otherAddress}</a>
        </form>
      </Step>
    ),
  };
};

/** How many there are, in words, and the newest of them. */
const Others: FC<{ others: OtherCertificates; one: string; more: string; certificate: About }> = ({ others, one, more, certificate }) => {
  const { words, language } = useSetting();
  const { count, newest } = others;
  return (
    <>
      <p role="status">
        <Naming text={count === 1 ? one : more} name={certificate.businessName} parts={{ count: numberText(count, language) }} />
      </p>
      <details>
        <summary>{words.withdraw.othersShow}</summary>
        <Points
          of={newest.map(({ id, issuedAt }) => (
            <a href={`/c/${id}`}>
              <Moment at={issuedAt} />
            </a>
          ))}
        />
      </details>
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

/** The address is proved, by a code or by the link of a mail: what else there is under it, and from what to withdraw. */
export const linkScopePage = (
  setting: Setting,
  shown: {
    readonly certificate: About;
    readonly token: string;
    /** Other active certificates of the business that name the address. */
    readonly others: OtherCertificates;
  },
): Page => {
  const { certificate, token, others } = shown;
  const words = setting.words.withdraw;
  return {
    title: words.title,
    content: (
      <Step certificate={certificate} heading={words.title}>
        <p class="notice">{words.proved}</p>
        {others.count > 0 && <Others others={others} one={words.otherOne} more={words.others} certificate={certificate} />}
        <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw/link`, setting.choice)} class="form">
          <input type="hidden" name="token" value={token} />
          {others.count === 0 ? (
            <input type="hidden" name="scope" value="certificate" />
          ) : (
            <fieldset>
              <ScopeBoxes business={certificate.businessName} />
            </fieldset>
          )}
          <p>{words.consequence}</p>
          <Submit>{words.confirm}</Submit>
        </form>
      </Step>
    ),
  };
};

/** What stays active, where this browser has proved the address; to every other nothing is said of it. */
const StaysActive: FC<{ others: OtherCertificates | null; certificate: About }> = ({ others, certificate }) => {
  const words = useSetting().words.withdraw;
  if (others === null) return null;
  if (others.count > 0) return <Others others={others} one={words.staysOne} more={words.stays} certificate={certificate} />;
  return (
    <p>
      <Naming text={words.staysNone} name={certificate.businessName} />
    </p>
  );
};

/** Whom to turn to, where the business says so. */
const ReachBusiness: FC<{ reach: Reach; certificate: About }> = ({ reach, certificate }) =>
  reach.contact === null && reach.mailingAddress === null ? null : (
    <>
      <p>
        <Naming text={useSetting().words.withdraw.contact} name={certificate.businessName} />
      </p>
      <Points of={[reach.contact, reach.mailingAddress].map((text) => text !== null && <Exact text={text} />)} />
    </>
  );

interface Done {
  readonly certificate: About;
  readonly apiBase: string;
  readonly others: OtherCertificates | null;
  readonly reach: Reach;
}

const DoneLine: FC<{ text: string; name: string }> = (done) => (
  <p class="notice good" role="status">
    <Shape name="tick" /> <Naming {...done} />
  </p>
);

/** What is so once it is withdrawn, and what to keep for it. */
const Afterwards: FC<Done> = ({ certificate, others, reach }) => (
  <>
    <StaysActive others={others} certificate={certificate} />
    <p>
      {useSetting().words.withdraw.doneNext} <Hash value={certificate.id} />
    </p>
    <ReachBusiness reach={reach} certificate={certificate} />
  </>
);

export const withdrawnPage = (
  { words: { withdraw: words } }: Setting,
  { withdrawal, ...done }: Done & { readonly withdrawal: PublishedWithdrawal },
): Page => ({
  title: words.doneTitle,
  content: (
    <Step certificate={done.certificate} heading={words.doneTitle}>
      <DoneLine text={words.done} name={done.certificate.businessName} />
      <dl>
        <Row name={words.doneAt}>
          <Moment at={withdrawal.withdrawnAt} />
        </Row>
        <Row name={words.deadline}>
          <Moment at={withdrawal.ceaseBy} />
        </Row>
      </dl>
      <Afterwards {...done} />
      <p>
        <a href={receiptUrlOf(done.apiBase, done.certificate.id)} download={`withdrawal-${done.certificate.id}.json`}>
          {words.receipt}
        </a>
      </p>
      <p class="quiet">{words.receiptHint}</p>
    </Step>
  ),
});

/** The acts by which recipients were withdrawn from, each with its names. */
export const actsOf = ({ entitiesWithdrawn }: Pick<PublishedCertificate, "entitiesWithdrawn">) =>
  [...Map.groupBy(entitiesWithdrawn, ({ number }) => number).values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, entities: [first, ...more].map(({ entity }) => entity) }],
  );

const PlainNames: FC<{ names: readonly string[] }> = ({ names }) => <Points of={names.map((name) => <Exact text={name} />)} />;

/** What is so once some recipients are withdrawn from: who must stop contacting, until when, and who may go on. */
export const partlyWithdrawnPage = (setting: Setting, done: Done): Page => {
  const { certificate } = done;
  const words = setting.words.withdraw;
  return {
    title: words.someTitle,
    content: (
      <Step certificate={certificate} heading={words.someTitle}>
        <DoneLine text={words.someDone} name={certificate.businessName} />
        {actsOf(certificate).map((act) => (
          <section>
            <p>
              <WithdrawnSummary of={act} />
            </p>
            <PlainNames names={act.entities} />
            <p>
              <EntityReceipt id={certificate.id} number={act.number} apiBase={done.apiBase} />
            </p>
          </section>
        ))}
        <p>
          <strong>{words.someStanding}</strong>
        </p>
        <PlainNames names={standingEntities(certificate)} />
        <p>
          <a href={inLanguage(`/c/${certificate.id}`, setting.choice)}>{words.someMore}</a>
        </p>
        <Afterwards {...done} />
      </Step>
    ),
  };
};

/** When, and until when contact must end. */
export const WithdrawnSummary: FC<{ of: Pick<PublishedWithdrawal, "withdrawnAt" | "ceaseBy"> }> = ({ of: { withdrawnAt, ceaseBy } }) => (
  <Sentence text={useSetting().words.withdraw.summary} parts={{ date: <Moment at={withdrawnAt} />, deadline: <Moment at={ceaseBy} /> }} />
);

export const EntityReceipt: FC<{ id: string; number: number; apiBase: string }> = ({ id, number, apiBase }) => (
  <a href={entityReceiptUrlOf(apiBase, id, number)} download={`withdrawal-${id}-${number}.json`}>
    {useSetting().words.withdraw.receipt}
  </a>
);
