// The landing page, the not-found page and the start of a withdrawal. The first two list everything a visitor can do here.
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

/** Input of the pages in this file. */
export interface LandingContext {
  readonly config: Config;
  /** The verifier download and its hash. */
  readonly verifier: { readonly url: string; readonly sha256: string };
  /** The invalid certificate number. Set only if the form was sent from this site, so that it is safe to show again. */
  readonly typedNumber?: string | undefined;
  readonly isInvalidNumber?: boolean;
  /** The invalid email address. */
  readonly typedEmail?: string;
}

const getApiOrigin = ({ config }: LandingContext): string => new URL(config.baseUrl).origin;

const LandingSection: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class="door" aria-labelledby={`${name}-door`}>
    <h2 id={`${name}-door`}>{heading}</h2>
    {children}
  </section>
);

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

/** Length limit in characters. A URL with a certificate number is about 60. */
export const maxTypedLength = 300;

/** Accepts a certificate number as printed, or the certificate's whole URL. */
const CertificateNumberForm: FC<{ landing: LandingContext; action: string; submit: string; hint?: string }> = ({
  landing,
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
        error={landing.isInvalidNumber ? messages.front.badNumber : undefined}
        errorId="number-error"
        required
        maxlength={maxTypedLength}
        placeholder="cc_"
        value={landing.typedNumber}
        dir="ltr"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <SubmitButton>{submit}</SubmitButton>
    </form>
  );
};

/** Development only: links to the demo, and the credentials of the demo businesses. */
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

const LandingLinks: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const { appUrl, verifyUrl, environment } = landing.config;
  const toWithdraw = withLanguage(`${appUrl}/withdraw`, selectedLanguage);
  const toConsents = withLanguage(`${appUrl}/app`, selectedLanguage);
  return (
    <div class="doors">
      <LandingSection name="check" heading={front.check}>
        <CertificateNumberForm landing={landing} action={`${verifyUrl}/c`} submit={front.checkSubmit} />
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
      {environment === "development" && <DemoSection config={landing.config} />}
    </div>
  );
};

const ResourceLinks: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const { config, verifier } = landing;
  return (
    <nav aria-label={front.links}>
      <ul class="plain">
        <li>
          <a href={`${getApiOrigin(landing)}/docs`}>{front.docs}</a>
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
            <a href={`${getApiOrigin(landing)}/.well-known/security.txt`}>{front.security}</a>
          </li>
        )}
      </ul>
    </nav>
  );
};

/** The certificate number form is handled by the host that serves certificates, which can differ from the page's own host. */
const allowVerifyFormAction = ({ config }: LandingContext): { readonly formActionOrigin: string } => ({
  formActionOrigin: new URL(config.verifyUrl).origin,
});

export const landingPage = ({ messages: { front } }: PageContext, landing: LandingContext): Page => ({
  title: `${front.title} · ${productName}`,
  hasError: landing.isInvalidNumber === true,
  isIndexable: true,
  ...allowVerifyFormAction(landing),
  content: (
    <article class="front">
      <h1>{front.title}</h1>
      <p>{formatMessage(front.lead, { brand: productName })}</p>
      <LandingLinks landing={landing} />
      <ResourceLinks landing={landing} />
    </article>
  ),
});

export const notFoundPage = ({ messages }: PageContext, landing: LandingContext): Page => ({
  title: messages.noPage,
  ...allowVerifyFormAction(landing),
  content: (
    <article class="front">
      <h1>{messages.noPage}</h1>
      <p>{messages.noPageAdvice}</p>
      <LandingLinks landing={landing} />
    </article>
  ),
});

/** Starts a withdrawal by certificate number or by email, for people who do not have the certificate open. */
export const startWithdrawalPage = (
  { messages: { withdrawDoor: messages, withdraw }, selectedLanguage }: PageContext,
  landing: LandingContext,
): Page => {
  const { isInvalidNumber = false, typedEmail } = landing;
  return {
    title: messages.title,
    hasError: isInvalidNumber || typedEmail !== undefined,
    isIndexable: true,
    ...allowVerifyFormAction(landing),
    content: (
      <article class="step">
        <h1>{messages.title}</h1>
        <p>{messages.intro}</p>
        <section aria-labelledby="with-number">
          <h2 id="with-number">{messages.withNumber}</h2>
          <CertificateNumberForm landing={landing} action="/withdraw" submit={messages.submit} hint={messages.hint} />
        </section>
        <section aria-labelledby="with-email">
          <h2 id="with-email">{messages.withEmail}</h2>
          {/* The first step of signing in. The response is the same for every address, so it does not reveal who has an account. */}
          <form method="post" action={withLanguage("/withdraw", selectedLanguage)} class="form">
            <EmailField
              id="email"
              label={withdraw.email}
              hint={messages.emailHint}
              error={typedEmail === undefined ? undefined : withdraw.badEmail}
              errorId="email-error"
              typed={typedEmail}
            />
            <SubmitButton>{withdraw.send}</SubmitButton>
          </form>
        </section>
        <p>{messages.otherWays}</p>
      </article>
    ),
  };
};
