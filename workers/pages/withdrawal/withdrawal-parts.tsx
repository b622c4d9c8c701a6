// What the pages of withdrawing say: the form on the certificate, the page for the address, the page for the code, and what
// is so afterwards. Every form works without a script; an error keeps what was typed and says what to do.
import type { Child, FC } from "hono/jsx";
import type { PublishedCertificate, PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { entityReceiptUrlOf } from "../../../core/certificates/views.ts";
import { standingEntities, type WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import type { Page } from "../shared/layout.tsx";
import { AddressInput, CodeInput } from "../shared/mailed-sign-in.tsx";
import type { OtherCertificates } from "../../operations/withdrawals/others.ts";
import type { Reach } from "../../operations/certificates/verify.ts";
import { Exact, FieldFault, Hash, Moment, numberText, Sentence, Shape, type Setting } from "../shared/parts.tsx";

type About = Pick<
  PublishedCertificate,
  "id" | "businessName" | "subjectMasked" | "subjectErasedAt" | "entities" | "answered" | "entitiesWithdrawn"
>;

/** Of a person who was erased nothing is shown, not even masked, and no mail can be sent. */
export const unlessErased = (certificate: PublishedCertificate): About =>
  certificate.subjectErasedAt === null ? certificate : { ...certificate, subjectMasked: {} };

/** Forms keep the language that was chosen by hand; otherwise the browser asks for its own again. */
export type LanguageChoice = string | null;
export const inLanguage = (path: string, choice: LanguageChoice): string => (choice === null ? path : `${path}?lang=${choice}`);

/** What is wrong with a field, between its label and it. */
export const FieldError: FC<{ id: string; text: string; setting: Setting }> = ({ id, text, setting: { words } }) => (
  <FieldFault id={id} text={text} word={words.withdraw.error} />
);

interface EmailForm {
  readonly certificate: About;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
  readonly typed?: string;
  readonly error?: string | undefined;
}

/** Step one: the address. */
const EmailForm: FC<EmailForm> = ({ certificate, setting, choice, typed, error }) => {
  const words = setting.words.withdraw;
  const masked = certificate.subjectMasked.email ?? "";
  return (
    <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw`, choice)} class="form">
      <label for="withdraw-email">{words.email}</label>
      <p class="quiet" id="withdraw-email-hint">
        <Sentence text={words.emailHint} parts={{ masked: <Exact text={masked} /> }} />
      </p>
      {error !== undefined && <FieldError id="fault" text={error} setting={setting} />}
      <AddressInput id="withdraw-email" typed={typed} isWrong={error !== undefined} hasHint />
      <button type="submit" class="primary">
        {words.send}
      </button>
    </form>
  );
};

/** What was posted before, so that an error keeps it. */
type Chosen = ReadonlyMap<string, string>;

/** A box for each recipient that may still make contact; its name is the recipient's place on the certificate. */
export const RecipientBoxes: FC<{ certificate: About; form: string; label: string; chosen?: Chosen | undefined }> = ({
  certificate,
  form,
  label,
  chosen,
}) => (
  <fieldset class="boxes" aria-label={label}>
    {standingEntities(certificate).map((name) => {
      const at = certificate.entities.indexOf(name);
      const id = `${form}-entity-${at}`;
      return (
        <p>
          <input type="checkbox" name={`entity.${at}`} value="on" id={id} checked={chosen?.has(`entity.${at}`)} />
          <label for={id}>
            <Exact text={name} />
          </label>
        </p>
      );
    })}
  </fieldset>
);

export const isDivisible = (certificate: About): boolean => standingEntities(certificate).length > 1;

/** What the page's script fills in and shows when the reader came by the link from the 201. */
const LinkForm: FC<{ certificate: About; setting: Setting; choice: LanguageChoice }> = ({ certificate, setting, choice }) => {
  const words = setting.words.withdraw;
  return (
    <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw/link`, choice)} class="form link-form" id="withdraw-link" hidden>
      <h3 tabindex={-1}>{words.linkHeading}</h3>
      <p>{words.linkIntro}</p>
      <input type="hidden" name="token" value="" />
      {isDivisible(certificate) && (
        <details>
          <summary>{words.linkSome}</summary>
          <p class="quiet">{words.linkSomeHint}</p>
          <RecipientBoxes certificate={certificate} form="link" label={words.linkSome} />
        </details>
      )}
      <button type="submit" class="primary">
        {words.linkSubmit}
      </button>
    </form>
  );
};

const ToBusiness: FC<{ certificate: About; text: string }> = ({ certificate, text }) => (
  <Sentence
    text={text}
    parts={{
      business: <Exact text={certificate.businessName} bound="business.name" />,
      id: <Hash value={certificate.id} bound="cert_id" />,
    }}
  />
);

/** On the certificate's own page. */
export const WithdrawalForms: FC<{
  certificate: About;
  /** Where the business can be reached; of a certificate with which no mail can be sent. */
  reach: Reach | null;
  setting: Setting;
  choice: LanguageChoice;
}> = ({ certificate, reach, setting, choice }) => {
  const turnTo = reach !== null && <ReachBusiness reach={reach} certificate={certificate} setting={setting} />;
  const words = setting.words.withdraw;
  if (certificate.subjectErasedAt !== null) {
    // without the person's details nobody can prove to be that person: no form can help
    return (
      <>
        <p>
          <ToBusiness certificate={certificate} text={words.erased} />
        </p>
        {turnTo}
      </>
    );
  }
  const hasEmail = (certificate.subjectMasked.email ?? "") !== "";
  return (
    <>
      <LinkForm certificate={certificate} setting={setting} choice={choice} />
      <p>{hasEmail ? words.intro : words.noEmail}</p>
      {hasEmail && <EmailForm certificate={certificate} setting={setting} choice={choice} />}
      <p class="quiet">
        {words.linkHint} <ToBusiness certificate={certificate} text={words.orTell} />
      </p>
      {turnTo}
    </>
  );
};

const titled = (title: string, error: string | undefined, { words }: Setting): string =>
  error === undefined ? title : `${words.withdraw.error} ${title}`;

const Step: FC<{ certificate: About; setting: Setting; choice: LanguageChoice; heading: string; children?: Child }> = ({
  certificate,
  setting: { words },
  choice,
  heading,
  children,
}) => (
  <article class="step">
    <header>
      <h1>{heading}</h1>
      <p class="quiet">
        <Sentence text={words.withdraw.given} parts={{ business: <Exact text={certificate.businessName} /> }} />
      </p>
    </header>
    {children}
    <p class="leave">
      <a href={inLanguage(`/c/${certificate.id}`, choice)}>{words.withdraw.back}</a>
    </p>
  </article>
);

/** The page of step one, for whoever comes back to it or typed something that is no address. */
export const emailPage = (asked: EmailForm): Page => {
  const { certificate, setting, choice, error } = asked;
  const words = setting.words.withdraw;
  return {
    title: titled(words.askTitle, error, setting),
    content: (
      <Step certificate={certificate} setting={setting} choice={choice} heading={words.title}>
        <p>{words.intro}</p>
        <EmailForm {...asked} />
      </Step>
    ),
  };
};

interface CodeForm {
  readonly certificate: About;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
  readonly email: string;
  readonly typed?: string | undefined;
  readonly chosen?: Chosen;
  readonly error?: string | undefined;
}

/** Step two: the code, and what follows from it. */
export const codePage = ({ certificate, setting, choice, email, typed, chosen, error }: CodeForm): Page => {
  const words = setting.words.withdraw;
  const path = `/c/${certificate.id}/withdraw`;
  return {
    title: titled(words.codeTitle, error, setting),
    content: (
      <Step certificate={certificate} setting={setting} choice={choice} heading={words.title}>
        <p role="status">
          <Sentence text={words.sent} parts={{ email: <Exact text={email} /> }} />
        </p>
        <form method="post" action={inLanguage(`${path}/confirm`, choice)} class="form">
          <label for="withdraw-code">{words.code}</label>
          {error !== undefined && <FieldError id="fault" text={error} setting={setting} />}
          <CodeInput id="withdraw-code" typed={typed} isWrong={error !== undefined} class="code" />
          {isDivisible(certificate) && (
            <details open={[...(chosen?.keys() ?? [])].some((name) => name.startsWith("entity."))}>
              <summary>{words.linkSome}</summary>
              <p class="quiet">{words.linkSomeHint}</p>
              <RecipientBoxes certificate={certificate} form="code" label={words.linkSome} chosen={chosen} />
            </details>
          )}
          <p>{words.consequence}</p>
          <p class="quiet">
            <Sentence text={words.codeNext} parts={{ business: <Exact text={certificate.businessName} /> }} />
          </p>
          <button type="submit" class="primary">
            {words.confirm}
          </button>
        </form>
        <form method="post" action={inLanguage(path, choice)} class="form quiet-form">
          <input type="hidden" name="email" value={email} />
          <button type="submit">{words.again}</button>
          <a href={inLanguage(`/c/${certificate.id}`, choice)}>{words.otherAddress}</a>
        </form>
      </Step>
    ),
  };
};

/** How many there are, in words, and the newest of them. */
const Others: FC<{ others: OtherCertificates; sentences: readonly [one: string, more: string]; certificate: About; setting: Setting }> = ({
  others: { count, newest },
  sentences: [one, more],
  certificate,
  setting,
}) => {
  const parts = { business: <Exact text={certificate.businessName} />, count: numberText(count, setting.language) };
  return (
    <>
      <p role="status">
        <Sentence text={count === 1 ? one : more} parts={parts} />
      </p>
      <details>
        <summary>{setting.words.withdraw.othersShow}</summary>
        <ul class="names">
          {newest.map(({ id, issuedAt }) => (
            <li>
              <a href={`/c/${id}`}>
                <Moment at={issuedAt} setting={setting} />
              </a>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
};

/** The address is proved, by a code or by the link of a mail: what else there is under it, and from what to withdraw. */
export const linkScopePage = (shown: {
  readonly certificate: About;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
  readonly token: string;
  /** Other active certificates of the business that name the address. */
  readonly others: OtherCertificates;
}): Page => {
  const { certificate, setting, choice, token, others } = shown;
  const words = setting.words.withdraw;
  const business = <Exact text={certificate.businessName} />;
  return {
    title: words.title,
    content: (
      <Step certificate={certificate} setting={setting} choice={choice} heading={words.title}>
        <p class="notice">{words.proved}</p>
        {others.count > 0 && (
          <Others others={others} sentences={[words.otherOne, words.others]} certificate={certificate} setting={setting} />
        )}
        <form method="post" action={inLanguage(`/c/${certificate.id}/withdraw/link`, choice)} class="form">
          <input type="hidden" name="token" value={token} />
          {others.count === 0 ? (
            <input type="hidden" name="scope" value="certificate" />
          ) : (
            <fieldset>
              <legend>{words.scope}</legend>
              <p>
                <input type="radio" name="scope" value="business" id="scope-business" checked />
                <label for="scope-business">
                  <Sentence text={words.scopeBusiness} parts={{ business }} />
                </label>
              </p>
              <p>
                <input type="radio" name="scope" value="certificate" id="scope-certificate" />
                <label for="scope-certificate">{words.scopeCertificate}</label>
              </p>
            </fieldset>
          )}
          <p>{words.consequence}</p>
          <button type="submit" class="primary">
            {words.confirm}
          </button>
        </form>
      </Step>
    ),
  };
};

/** What stays active, where this browser has proved the address; to every other nothing is said of it. */
const StaysActive: FC<{ others: OtherCertificates | null; certificate: About; setting: Setting }> = ({ others, certificate, setting }) => {
  const words = setting.words.withdraw;
  if (others === null) return null;
  if (others.count > 0)
    return <Others others={others} sentences={[words.staysOne, words.stays]} certificate={certificate} setting={setting} />;
  return (
    <p>
      <Sentence text={words.staysNone} parts={{ business: <Exact text={certificate.businessName} /> }} />
    </p>
  );
};

/** Whom to turn to, where the business says so. */
const ReachBusiness: FC<{ reach: Reach; certificate: About; setting: Setting }> = ({ reach, certificate, setting: { words } }) =>
  reach.contact === null && reach.mailingAddress === null ? null : (
    <>
      <p>
        <Sentence text={words.withdraw.turnTo} parts={{ business: <Exact text={certificate.businessName} /> }} />
      </p>
      <ul class="names">
        {[reach.contact, reach.mailingAddress].map(
          (text) =>
            text !== null && (
              <li>
                <Exact text={text} />
              </li>
            ),
        )}
      </ul>
    </>
  );

/** What is so once it is withdrawn. */
export const withdrawnPage = (shown: {
  readonly certificate: About;
  readonly withdrawal: PublishedWithdrawal;
  readonly receiptUrl: string;
  readonly others: OtherCertificates | null;
  readonly reach: Reach;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
}): Page => {
  const { certificate, withdrawal, setting, choice } = shown;
  const words = setting.words.withdraw;
  return {
    title: words.doneTitle,
    content: (
      <Step certificate={certificate} setting={setting} choice={choice} heading={words.doneTitle}>
        <p class="notice good" role="status">
          <Shape name="tick" /> <Sentence text={words.done} parts={{ business: <Exact text={certificate.businessName} /> }} />
        </p>
        <dl>
          <div>
            <dt>{words.doneAt}</dt>
            <dd>
              <Moment at={withdrawal.withdrawnAt} setting={setting} />
            </dd>
          </div>
          <div>
            <dt>{words.doneBy}</dt>
            <dd>
              <Moment at={withdrawal.ceaseBy} setting={setting} />
            </dd>
          </div>
        </dl>
        <StaysActive others={shown.others} certificate={certificate} setting={setting} />
        <p>
          {words.doneNext} <Hash value={certificate.id} />
        </p>
        <ReachBusiness reach={shown.reach} certificate={certificate} setting={setting} />
        <p>
          <a href={shown.receiptUrl} download={`withdrawal-${certificate.id}.json`}>
            {words.receipt}
          </a>
        </p>
        <p class="quiet">{words.receiptHint}</p>
      </Step>
    ),
  };
};

/** The acts by which recipients were withdrawn from, each with its names. */
export const actsOf = ({ entitiesWithdrawn }: Pick<PublishedCertificate, "entitiesWithdrawn">) => [
  ...Map.groupBy(entitiesWithdrawn, ({ number }) => number).values(),
];

const PlainNames: FC<{ names: readonly string[] }> = ({ names }) => (
  <ul class="names">
    {names.map((name) => (
      <li>
        <Exact text={name} />
      </li>
    ))}
  </ul>
);

/** What is so once some recipients are withdrawn from: who must stop, until when, and who may go on. */
export const partlyWithdrawnPage = (shown: {
  readonly certificate: About;
  readonly apiBase: string;
  readonly others: OtherCertificates | null;
  readonly reach: Reach;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
}): Page => {
  const { certificate, setting, choice } = shown;
  const words = setting.words.withdraw;
  return {
    title: words.someTitle,
    content: (
      <Step certificate={certificate} setting={setting} choice={choice} heading={words.someTitle}>
        <p class="notice good" role="status">
          <Shape name="tick" /> <Sentence text={words.someDone} parts={{ business: <Exact text={certificate.businessName} /> }} />
        </p>
        {actsOf(certificate).map((act) => (
          <section>
            <p>
              <SomeWithdrawn act={act} setting={setting} />
            </p>
            <PlainNames names={act.map(({ entity }) => entity)} />
            <p>
              <EntityReceipt certificate={certificate} act={act} apiBase={shown.apiBase} setting={setting} />
            </p>
          </section>
        ))}
        <p>
          <strong>{words.someStanding}</strong>
        </p>
        <PlainNames names={standingEntities(certificate)} />
        <p>
          <a href={inLanguage(`/c/${certificate.id}`, choice)}>{words.someMore}</a>
        </p>
        <StaysActive others={shown.others} certificate={certificate} setting={setting} />
        <p>
          {words.doneNext} <Hash value={certificate.id} />
        </p>
        <ReachBusiness reach={shown.reach} certificate={certificate} setting={setting} />
      </Step>
    ),
  };
};

type Act = readonly WithdrawnEntity[];

/** When, and until when contact must end. */
export const SomeWithdrawn: FC<{ act: Act; setting: Setting }> = ({ act: [first], setting }) =>
  first === undefined ? null : (
    <Sentence
      text={setting.words.withdraw.summary}
      parts={{ date: <Moment at={first.withdrawnAt} setting={setting} />, deadline: <Moment at={first.ceaseBy} setting={setting} /> }}
    />
  );

export const EntityReceipt: FC<{ certificate: Pick<PublishedCertificate, "id">; act: Act; apiBase: string; setting: Setting }> = ({
  certificate: { id },
  act: [first],
  apiBase,
  setting: { words },
}) =>
  first === undefined ? null : (
    <a href={entityReceiptUrlOf(apiBase, id, first.number)} download={`withdrawal-${id}-${first.number}.json`}>
      {words.withdraw.receipt}
    </a>
  );
