// The doors of the service: what somebody who types its address can do here. The first page and the page for unknown addresses show
// them all.
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import { productName } from "../shared/brand.ts";
import { EmailField, ButtonLink, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import {
  VerbatimText,
  formatMessage,
  Hash,
  withLanguage,
  DescriptionRow,
  usePageContext,
  type PageContext,
} from "../shared/components.tsx";

/** What the doors are set from. */
export interface LandingContext {
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

const getApiOrigin = ({ config }: LandingContext): string => new URL(config.baseUrl).origin;

const LandingSection: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class="door" aria-labelledby={`${name}-door`}>
    <h2 id={`${name}-door`}>{heading}</h2>
    {children}
  </section>
);

/** A door that leads elsewhere. */
const LandingLink: FC<{ name: string; heading: string; text: string; href: string; link: string }> = ({
  name,
  heading,
  text,
  href,
  link,
}) => (
  <LandingSection name={name} heading={heading}>
    <p>{text}</p>
    <p>
      <ButtonLink href={href}>{link}</ButtonLink>
    </p>
  </LandingSection>
);

/** An address with a number in it is some 60 characters. */
export const maxTypedLength = 300;

/** The field for a certificate's number, as it stands in print or with the address around it. */
const CertificateNumberForm: FC<{ place: LandingContext; action: string; submit: string; hint?: string }> = ({
  place,
  action,
  submit,
  hint,
}) => {
  const { messages, selectedLanguage } = usePageContext();
  return (
    <form method="get" action={action} class="form">
      {selectedLanguage !== null && <input type="hidden" name="lang" value={selectedLanguage} />}
      <TextField
        id="number"
        label={messages.front.number}
        hint={hint}
        error={place.isBadNumber ? messages.front.badNumber : undefined}
        errorId="number-error"
        required
        maxlength={maxTypedLength}
        placeholder="cc_"
        value={place.typed}
        dir="ltr"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <SubmitButton>{submit}</SubmitButton>
    </form>
  );
};

/** In development only: where to begin, and the keys of the businesses that were made up. */
const DemoSection: FC<{ config: Config }> = ({ config }) => {
  const { front } = usePageContext().messages;
  const { site_base, ...credentials } = config.demo;
  return (
    <LandingSection name="demo" heading={front.demo}>
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
          <DescriptionRow name={<code translate="no">{name}</code>}>
            <code>
              <VerbatimText text={value} />
            </code>
          </DescriptionRow>
        ))}
      </dl>
    </LandingSection>
  );
};

const LandingLinks: FC<{ place: LandingContext }> = ({ place }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const { appUrl, verifyUrl, environment } = place.config;
  const toWithdraw = withLanguage(`${appUrl}/withdraw`, selectedLanguage);
  const toConsents = withLanguage(`${appUrl}/app`, selectedLanguage);
  return (
    <div class="doors">
      <LandingSection name="check" heading={front.check}>
        <CertificateNumberForm place={place} action={`${verifyUrl}/c`} submit={front.checkSubmit} />
      </LandingSection>
      <LandingLink
        name="withdraw"
        heading={messages.withdrawDoor.title}
        text={front.withdrawText}
        href={toWithdraw}
        link={front.withdrawLink}
      />
      <LandingLink name="consents" heading={front.consents} text={front.consentsText} href={toConsents} link={front.consentsLink} />
      <LandingLink name="business" heading={front.business} text={front.businessText} href={`${appUrl}/portal`} link={front.businessLink} />
      {environment === "development" && <DemoSection config={place.config} />}
    </div>
  );
};

/** What lies beside the doors: how everything works, and how to check it without us. */
const ResourceLinks: FC<{ place: LandingContext }> = ({ place }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const { config, verifier } = place;
  return (
    <nav aria-label={front.links}>
      <ul class="plain">
        <li>
          <a href={`${getApiOrigin(place)}/docs`}>{front.docs}</a>
        </li>
        <li>
          <a href={withLanguage(`${config.verifyUrl}/c/format`, selectedLanguage)}>{messages.format.title}</a>
        </li>
        <li>
          <a href={verifier.url}>{front.verifier}</a>
          <p class="quiet">
            {messages.byToolHash} <Hash value={verifier.sha256} />
          </p>
        </li>
        {config.securityContact !== null && (
          <li>
            <a href={`${getApiOrigin(place)}/.well-known/security.txt`}>{front.security}</a>
          </li>
        )}
      </ul>
    </nav>
  );
};

/** The page's forms lead to the host of the certificates, wherever the page itself stands. */
const allowVerifyFormAction = ({ config }: LandingContext): { readonly formActionOrigin: string } => ({
  formActionOrigin: new URL(config.verifyUrl).origin,
});

export const landingPage = ({ messages: { front } }: PageContext, place: LandingContext): Page => ({
  title: `${front.title} · ${productName}`,
  hasError: place.isBadNumber === true,
  isIndexable: true,
  ...allowVerifyFormAction(place),
  content: (
    <article class="front">
      <h1>{front.title}</h1>
      <p>{formatMessage(front.lead, { brand: productName })}</p>
      <LandingLinks place={place} />
      <ResourceLinks place={place} />
    </article>
  ),
});

/** There is nothing under this address. */
export const notFoundPage = ({ messages }: PageContext, place: LandingContext): Page => ({
  title: messages.noPage,
  ...allowVerifyFormAction(place),
  content: (
    <article class="front">
      <h1>{messages.noPage}</h1>
      <p>{messages.noPageAdvice}</p>
      <LandingLinks place={place} />
    </article>
  ),
});

/** The two ways to withdraw, for whoever has not opened the certificate. */
export const startWithdrawalPage = (
  { messages: { withdrawDoor: words, withdraw }, selectedLanguage }: PageContext,
  place: LandingContext,
): Page => {
  const { isBadNumber = false, typedEmail } = place;
  return {
    title: words.title,
    hasError: isBadNumber || typedEmail !== undefined,
    isIndexable: true,
    ...allowVerifyFormAction(place), // the form of the number is answered there
    content: (
      <article class="step">
        <h1>{words.title}</h1>
        <p>{words.intro}</p>
        <section aria-labelledby="with-number">
          <h2 id="with-number">{words.withNumber}</h2>
          <CertificateNumberForm place={place} action="/withdraw" submit={words.submit} hint={words.hint} />
        </section>
        <section aria-labelledby="with-email">
          <h2 id="with-email">{words.withEmail}</h2>
          {/* The first step of signing in: what follows is the same whosever address it is. */}
          <form method="post" action={withLanguage("/withdraw", selectedLanguage)} class="form">
            <EmailField
              id="email"
              label={withdraw.email}
              hint={words.emailHint}
              error={typedEmail === undefined ? undefined : withdraw.badEmail}
              errorId="email-error"
              typed={typedEmail}
            />
            <SubmitButton>{withdraw.send}</SubmitButton>
          </form>
        </section>
        <p>{words.otherWays}</p>
      </article>
    ),
  };
};
