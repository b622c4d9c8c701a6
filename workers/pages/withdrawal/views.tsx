// The pages of withdrawing: for the address, for the code, for what else there is, and what is so afterwards. An error keeps what was
// typed and says what to do.
import type { Child, FC } from "hono/jsx";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { receiptUrlOf } from "../../../core/certificates/views.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { OtherCertificates } from "../../operations/withdrawals/others.ts";
import type { Reach } from "../../operations/certificates/verify.ts";
import { CodeField, Submit } from "../shared/forms.tsx";
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
import {
  actsOf,
  EmailForm,
  EntityReceipt,
  OnlySome,
  ReachBusiness,
  ScopeBoxes,
  WithdrawnSummary,
  type About,
  type Chosen,
  type Typed,
} from "./parts.tsx";

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
