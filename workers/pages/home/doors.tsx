// The doors of the service: what somebody who types its address can do here. The first page and the page for unknown addresses show
// them all.
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import { brand } from "../shared/brand.ts";
import { AddressField, ButtonLink, Submit, TextField } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Hash, inLanguage, Row, useSetting, type Setting } from "../shared/parts.tsx";

/** What the doors are set from. */
export interface Place {
  readonly config: Config;
  /** The verifier that is served. */
  readonly verifier: { readonly url: string; readonly sha256: string };
  /** What somebody typed that is no number, where it may be shown again. */
  readonly typed?: string | undefined;
  /** Whether what was typed is no number. */
  readonly isBadNumber?: boolean;
  /** What was typed that is no e-mail address. */
  readonly typedEmail?: string;
}

const apiOrigin = ({ config }: Place): string => new URL(config.baseUrl).origin;

const Door: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class="door" aria-labelledby={`${name}-door`}>
    <h2 id={`${name}-door`}>{heading}</h2>
    {children}
  </section>
);

/** A door that leads elsewhere. */
const Way: FC<{ name: string; heading: string; text: string; href: string; link: string }> = ({ name, heading, text, href, link }) => (
  <Door name={name} heading={heading}>
    <p>{text}</p>
    <p>
      <ButtonLink href={href}>{link}</ButtonLink>
    </p>
  </Door>
);

/** An address with a number in it is some 60 characters. */
export const maxTyped = 300;

/** The field for a certificate's number, as it stands in print or with the address around it. */
const NumberForm: FC<{ place: Place; action: string; submit: string; hint?: string }> = ({ place, action, submit, hint }) => {
  const { words, choice } = useSetting();
  return (
    <form method="get" action={action} class="form">
      {choice !== null && <input type="hidden" name="lang" value={choice} />}
      <TextField
        id="number"
        label={words.front.number}
        hint={hint}
        fault={place.isBadNumber ? words.front.badNumber : undefined}
        faultId="number-error"
        required
        maxlength={maxTyped}
        placeholder="cc_"
        value={place.typed}
        dir="ltr"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <Submit>{submit}</Submit>
    </form>
  );
};

/** In development only: where to begin, and the keys of the businesses that were made up. */
const DemoDoor: FC<{ config: Config }> = ({ config }) => {
  const { front } = useSetting().words;
  const { site_base, ...credentials } = config.demo;
  return (
    <Door name="demo" heading={front.demo}>
      <p>{front.demoText}</p>
      <ul class="plain">
        {site_base !== undefined && (
          <li>
            <a href={`${site_base}/`}>{front.demoSite}</a>
          </li>
        )}
        <li>
          <a href="/dev/mail">{front.demoMail}</a>
        </li>
      </ul>
      <dl>
        {Object.entries(credentials).map(([name, value]) => (
          <Row name={<code translate="no">{name}</code>}>
            <code>
              <Exact text={value} />
            </code>
          </Row>
        ))}
      </dl>
    </Door>
  );
};

const Doors: FC<{ place: Place }> = ({ place }) => {
  const { words, choice } = useSetting();
  const { front } = words;
  const { appUrl, verifyUrl, environment } = place.config;
  const toWithdraw = inLanguage(`${appUrl}/withdraw`, choice);
  const toConsents = inLanguage(`${appUrl}/app`, choice);
  return (
    <div class="doors">
      <Door name="check" heading={front.check}>
        <NumberForm place={place} action={`${verifyUrl}/c`} submit={front.checkSubmit} />
      </Door>
      <Way name="withdraw" heading={words.withdrawDoor.title} text={front.withdrawText} href={toWithdraw} link={front.withdrawLink} />
      <Way name="consents" heading={front.consents} text={front.consentsText} href={toConsents} link={front.consentsLink} />
      <Way name="business" heading={front.business} text={front.businessText} href={`${appUrl}/portal`} link={front.businessLink} />
      {environment === "development" && <DemoDoor config={place.config} />}
    </div>
  );
};

/** What lies beside the doors: how everything works, and how to check it without us. */
const Links: FC<{ place: Place }> = ({ place }) => {
  const { words, choice } = useSetting();
  const { front } = words;
  const { config, verifier } = place;
  return (
    <nav aria-label={front.links}>
      <ul class="plain">
        <li>
          <a href={`${apiOrigin(place)}/docs`}>{front.docs}</a>
        </li>
        <li>
          <a href={inLanguage(`${config.verifyUrl}/c/format`, choice)}>{words.format.title}</a>
        </li>
        <li>
          <a href={verifier.url}>{front.verifier}</a>
          <p class="quiet">
            {words.byToolHash} <Hash value={verifier.sha256} />
          </p>
        </li>
        {config.securityContact !== null && (
          <li>
            <a href={`${apiOrigin(place)}/.well-known/security.txt`}>{front.security}</a>
          </li>
        )}
      </ul>
    </nav>
  );
};

/** The page's forms lead to the host of the certificates, wherever the page itself stands. */
const formsTo = ({ config }: Place): { readonly formsTo: string } => ({ formsTo: new URL(config.verifyUrl).origin });

export const firstPage = ({ words: { front } }: Setting, place: Place): Page => ({
  title: `${front.title} · ${brand}`,
  isFaulty: place.isBadNumber === true,
  findable: true,
  ...formsTo(place),
  content: (
    <article class="front">
      <h1>{front.title}</h1>
      <p>{filled(front.lead, { brand })}</p>
      <Doors place={place} />
      <Links place={place} />
    </article>
  ),
});

/** There is nothing under this address. */
export const unknownPage = ({ words }: Setting, place: Place): Page => ({
  title: words.noPage,
  ...formsTo(place),
  content: (
    <article class="front">
      <h1>{words.noPage}</h1>
      <p>{words.noPageAdvice}</p>
      <Doors place={place} />
    </article>
  ),
});

/** The two ways to withdraw, for whoever has not opened the certificate. */
export const withdrawDoorPage = ({ words: { withdrawDoor: words, withdraw }, choice }: Setting, place: Place): Page => {
  const { isBadNumber = false, typedEmail } = place;
  return {
    title: words.title,
    isFaulty: isBadNumber || typedEmail !== undefined,
    findable: true,
    ...formsTo(place), // the form of the number is answered there
    content: (
      <article class="step">
        <h1>{words.title}</h1>
        <p>{words.intro}</p>
        <section aria-labelledby="with-number">
          <h2 id="with-number">{words.withNumber}</h2>
          <NumberForm place={place} action="/withdraw" submit={words.submit} hint={words.hint} />
        </section>
        <section aria-labelledby="with-email">
          <h2 id="with-email">{words.withEmail}</h2>
          {/* The first step of signing in: what follows is the same whosever address it is. */}
          <form method="post" action={inLanguage("/withdraw", choice)} class="form">
            <AddressField
              id="email"
              label={withdraw.email}
              hint={words.emailHint}
              fault={typedEmail === undefined ? undefined : withdraw.badEmail}
              faultId="email-error"
              typed={typedEmail}
            />
            <Submit>{withdraw.send}</Submit>
          </form>
        </section>
        <p>{words.otherWays}</p>
      </article>
    ),
  };
};
