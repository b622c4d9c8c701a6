// The home page, the not-found page and the page that starts a withdrawal.
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import { productName } from "../shared/brand.ts";
import { EmailField, ButtonLink, SubmitButton } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { NavigationList } from "../shared/signed-in-components.tsx";
import {
  CodeBlock,
  FieldError,
  Hash,
  Icon,
  Section,
  StatusBadge,
  Timestamp,
  VerbatimText,
  formatMessage,
  toMailtoUrl,
  usePageContext,
  withLanguage,
  type PageContext,
  PropertyList,
  ArrowLink,
} from "../shared/components.tsx";

export interface LandingContext {
  readonly config: Config;
  readonly verifier: { readonly url: string; readonly sha256: string };
  /** An invalid certificate ID that was typed into a form on this site. It is safe to show again, because no other site can set it. */
  readonly typedNumber?: string | undefined;
  readonly isInvalidNumber?: boolean;
  /** An invalid email address that was typed into a form on this site. */
  readonly typedEmail?: string;
}

const getApiOrigin = ({ config }: LandingContext): string => new URL(config.baseUrl).origin;

/** Length limit in characters. A URL with a certificate ID has about 60. */
export const maxTypedLength = 300;

interface NumberFormProps {
  readonly landing: LandingContext;
  readonly action: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly submit: string;
  readonly hint: string;
  readonly isPrimary?: boolean;
}

/** Accepts a certificate ID as printed, or the certificate's whole URL. */
const CertificateNumberForm: FC<NumberFormProps> = ({ landing, action, label, placeholder, submit, hint, isPrimary = false }) => {
  const { messages, selectedLanguage } = usePageContext();
  const isInvalid = landing.isInvalidNumber === true;
  return (
    <form method="get" action={action}>
      {selectedLanguage !== null && <input type="hidden" name="lang" value={selectedLanguage} />}
      <div class="field">
        <label for="number">{label}</label>
        <p class="hint" id="number-hint">
          {hint}
        </p>
        {isInvalid && <FieldError text={messages.front.badNumber} id="number-error" />}
        <div class="join">
          <input
            id="number"
            name="number"
            required
            maxlength={maxTypedLength}
            placeholder={placeholder}
            value={landing.typedNumber}
            dir="ltr"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            aria-describedby={isInvalid ? "number-hint number-error" : "number-hint"}
            aria-invalid={isInvalid ? "true" : undefined}
          />
          <SubmitButton class={isPrimary ? "btn primary" : "btn"}>{submit}</SubmitButton>
        </div>
      </div>
    </form>
  );
};

const CheckForm: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { front } = usePageContext().messages;
  return (
    <CertificateNumberForm
      landing={landing}
      action={`${landing.config.verifyUrl}/c`}
      label={front.check}
      placeholder={front.placeholder}
      submit={front.checkSubmit}
      isPrimary
      hint={front.numberHint}
    />
  );
};

/** The values that the example certificate shows. The business and the fingerprint are fictional. */
const example = {
  business: "Acme Solar LLC",
  recordedAt: Date.UTC(2026, 10, 25, 22, 45),
  fingerprint: "d36659b965f70926517a42ab9371de0…",
};

const ExampleCertificate: FC = () => {
  const { messages } = usePageContext();
  return (
    <div class="exhibit">
      <article class="card" aria-label={messages.front.example}>
        <div class="body stack">
          <div class="row apart">
            <p class="row small quiet">
              <Icon name="file-badge" />
              {messages.certificate}
            </p>
            <StatusBadge tone="good" icon="circle-check" text={messages.active} />
          </div>
          <p>
            <strong translate="no">{example.business}</strong>
          </p>
          <blockquote class="words">{messages.front.exampleText}</blockquote>
          <ul class="checks">
            <li>
              <Icon name="circle-check" />
              <div>
                <strong>{messages.unchanged}</strong>
              </div>
            </li>
            <li>
              <Icon name="circle-check" />
              <div>
                <strong>{messages.inLedger}</strong>
                <small>
                  <Timestamp at={example.recordedAt} />
                </small>
              </div>
            </li>
          </ul>
          <p class="quiet">
            <Hash value={example.fingerprint} />
          </p>
        </div>
      </article>
    </div>
  );
};

const Door: FC<{ id: string; heading: string; text: string; children?: Child }> = ({ id, heading, text, children }) => (
  <section class="card door" aria-labelledby={id}>
    <h2 id={id}>{heading}</h2>
    <p>{text}</p>
    <div class="row">{children}</div>
  </section>
);

/** Links people and businesses to the pages that they need next. */
const NextPages: FC<{ landing: LandingContext; isSecondary?: boolean }> = ({ landing: { config }, isSecondary = false }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const firstLinkClass = isSecondary ? "btn" : "btn primary";
  return (
    <section class="doors" aria-label={front.doors}>
      <Door id="people" heading={front.person} text={front.personText}>
        <a class={firstLinkClass} href={withLanguage(`${config.appUrl}/app`, selectedLanguage)}>
          {front.personLink}
        </a>
        <ButtonLink href={withLanguage(`${config.appUrl}/withdraw`, selectedLanguage)}>{front.withdrawLink}</ButtonLink>
      </Door>
      <Door id="business" heading={front.business} text={front.businessText}>
        <a class={firstLinkClass} href={`${config.appUrl}/portal/sign-up`}>
          {front.businessLink}
        </a>
        <ButtonLink href={`${config.appUrl}/portal`}>{front.signIn}</ButtonLink>
      </Door>
    </section>
  );
};

const HowItWorks: FC = () => {
  const { front } = usePageContext().messages;
  const steps = [
    [front.step1, front.step1Text],
    [formatMessage(front.step2, { brand: productName }), front.step2Text],
    [front.step3, front.step3Text],
  ] as const;
  return (
    <section aria-labelledby="how">
      <h2 id="how">{front.how}</h2>
      <p>{front.howText}</p>
      <ol class="three">
        {steps.map(([heading, text]) => (
          <li>
            <h3>{heading}</h3>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
};

const buildExampleTag = (cdnUrl: string): readonly (readonly [name: string, value: string])[] => [
  ["src", `${cdnUrl}/v1/svc.js`],
  ["data-client-id", "pc_live_…"],
  ["data-mode", "consent"],
  ["data-purpose", "solar quote follow-up"],
  ["data-entities", "Acme Solar LLC"],
];

const ForDevelopers: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { front } = usePageContext().messages;
  const docs = `${getApiOrigin(landing)}/docs`;
  return (
    <section class="split" aria-labelledby="developers">
      <div>
        <h2 id="developers">{front.developers}</h2>
        <p>{front.developersText}</p>
        <p class="row">
          <ArrowLink href={`${docs}/first-hour`}>{front.quickstart}</ArrowLink>
          <ArrowLink href={docs}>{front.reference}</ArrowLink>
        </p>
      </div>
      <figure class="code">
        <figcaption>{front.exampleTag}</figcaption>
        <CodeBlock label={front.exampleTag}>
          {"<"}
          <span class="k">script</span>
          {buildExampleTag(landing.config.cdnUrl).map(([name, value], index) => (
            <>
              {index === 0 ? " " : "\n  "}
              {name}=<span class="s">"{value}"</span>
            </>
          ))}
          {">\n</"}
          <span class="k">script</span>
          {">"}
        </CodeBlock>
      </figure>
    </section>
  );
};

const Verifier: FC<{ landing: LandingContext }> = ({ landing: { verifier } }) => {
  const { messages } = usePageContext();
  return (
    <section aria-labelledby="trust">
      <h2 id="trust">{messages.front.trust}</h2>
      <p>{messages.front.trustText}</p>
      <div class="card verifier">
        <div class="body stack tight">
          <p class="row apart">
            <a class="link" href={verifier.url} download="svc-verify.mjs">
              <Icon name="download" />
              svc-verify.mjs
            </a>
            <span class="small quiet">{messages.verifierHash}</span>
          </p>
          <p>
            <Hash value={verifier.sha256} />
          </p>
        </div>
      </div>
    </section>
  );
};

/** In development, links to the demo and shows the credentials of the demo businesses. */
const DemoSection: FC<{ config: Config }> = ({ config }) => {
  const { front } = usePageContext().messages;
  const { site_base, ...credentials } = config.demo;
  return (
    <Section name="demo" heading={front.demo}>
      <p>{front.demoText}</p>
      <p class="row">
        {site_base !== undefined && <ButtonLink href={`${site_base}/`}>{front.demoSite}</ButtonLink>}
        <ButtonLink href="/dev/mail">{front.demoMail}</ButtonLink>
      </p>
      <PropertyList
        lines={Object.entries(credentials).map(([name, value]) => [
          <code translate="no">{name}</code>,
          <code>
            <VerbatimText text={value} />
          </code>,
        ])}
      />
    </Section>
  );
};

const MainNavigation: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front } = messages;
  const { appUrl } = landing.config;
  const links = [
    { path: "#business", text: front.business },
    { path: `${getApiOrigin(landing)}/docs`, text: front.docs },
    { path: withLanguage(`${appUrl}/app`, selectedLanguage), text: front.consents },
    { path: `${appUrl}/portal`, text: front.signIn },
  ];
  return <NavigationList label={front.navigation} class="main" links={links.map((link) => ({ ...link, current: undefined }))} />;
};

const ResourceLinks: FC<{ landing: LandingContext }> = ({ landing }) => {
  const { messages, selectedLanguage } = usePageContext();
  const { front, format } = messages;
  const { config } = landing;
  return (
    <>
      <span class="row">
        <a href={`${getApiOrigin(landing)}/docs`}>{front.documentation}</a>
        <a href={withLanguage(`${config.verifyUrl}/c/format`, selectedLanguage)}>{format.title}</a>
        {config.supportEmail !== null && <a href={toMailtoUrl(config.supportEmail)}>{front.support}</a>}
        {config.securityContact !== null && <a href={`${getApiOrigin(landing)}/.well-known/security.txt`}>{front.security}</a>}
      </span>
      <span translate="no">{productName}</span>
    </>
  );
};

/** The form for the certificate ID submits to the host that serves certificates, which can differ from the page's host. */
const allowVerifyFormAction = ({ config }: LandingContext): { readonly formActionOrigin: string } => ({
  formActionOrigin: new URL(config.verifyUrl).origin,
});

export const landingPage = ({ messages: { front } }: PageContext, landing: LandingContext): Page => ({
  title: `${front.title} · ${productName}`,
  hasError: landing.isInvalidNumber === true,
  isIndexable: true,
  variant: "front",
  navigation: <MainNavigation landing={landing} />,
  footer: <ResourceLinks landing={landing} />,
  ...allowVerifyFormAction(landing),
  content: (
    <>
      <section class="hero" aria-labelledby="title">
        <div>
          <h1 id="title">{front.title}</h1>
          <p class="lede">{formatMessage(front.lead, { brand: productName })}</p>
          <CheckForm landing={landing} />
        </div>
        <ExampleCertificate />
      </section>
      <NextPages landing={landing} />
      {landing.config.environment === "development" && <DemoSection config={landing.config} />}
      <HowItWorks />
      <ForDevelopers landing={landing} />
      <Verifier landing={landing} />
    </>
  ),
});

export const notFoundPage = ({ messages }: PageContext, landing: LandingContext): Page => ({
  title: messages.noPage,
  variant: "front",
  ...allowVerifyFormAction(landing),
  content: (
    <>
      <div>
        <h1>{messages.noPage}</h1>
        <p class="lede">{messages.noPageAdvice}</p>
      </div>
      <CheckForm landing={landing} />
      <NextPages landing={landing} isSecondary />
    </>
  ),
});

/** Lets people start a withdrawal by certificate ID or by email, without opening the certificate first. */
export const startWithdrawalPage = (
  { messages: { startWithdrawal: messages, withdraw }, selectedLanguage }: PageContext,
  landing: LandingContext,
): Page => {
  const { isInvalidNumber = false, typedEmail } = landing;
  return {
    title: messages.title,
    hasError: isInvalidNumber || typedEmail !== undefined,
    isIndexable: true,
    ...allowVerifyFormAction(landing),
    content: (
      <>
        <div>
          <h1>{messages.title}</h1>
          <p class="lede">{messages.intro}</p>
        </div>
        <Section name="with-number" heading={messages.withNumber}>
          <CertificateNumberForm
            landing={landing}
            action="/withdraw"
            label={messages.number}
            submit={messages.submit}
            hint={messages.hint}
          />
        </Section>
        <Section name="with-email" heading={messages.withEmail}>
          {/* Requests a sign-in code. The response is the same for every address, so it does not reveal who has an account. */}
          <form method="post" action={withLanguage("/withdraw", selectedLanguage)} class="stack">
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
        </Section>
        <p class="quiet">{messages.otherWays}</p>
      </>
    ),
  };
};
