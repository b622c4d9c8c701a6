// The doors of the service: what somebody who types its address can do here. Each is one entry of `doors`; the first page and the
// page for unknown addresses show them all.
import type { Child, FC } from "hono/jsx";
import type { Config } from "../../env.ts";
import { brand } from "../shared/brand.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Hash, type Setting } from "../shared/parts.tsx";
import { inLanguage, FieldError, type LanguageChoice } from "../withdrawal/withdrawal-parts.tsx";

/** What the doors are set from. */
export interface Place {
  readonly setting: Setting;
  readonly choice: LanguageChoice;
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

/** The field for a certificate's number, as it stands in print or with the address around it. */
const NumberForm: FC<{ place: Place; action: string; label: string; submit: string; hint?: string }> = ({
  place: { setting, choice, typed, isBadNumber = false },
  action,
  label,
  submit,
  hint,
}) => {
  const described = [...(hint === undefined ? [] : ["number-hint"]), ...(isBadNumber ? ["number-error"] : [])].join(" ");
  return (
    <form method="get" action={action} class="form">
      {choice !== null && <input type="hidden" name="lang" value={choice} />}
      <label for="number">{label}</label>
      {hint !== undefined && (
        <p class="quiet" id="number-hint">
          {hint}
        </p>
      )}
      {isBadNumber && <FieldError id="number-error" text={setting.words.front.badNumber} setting={setting} />}
      <input
        id="number"
        name="number"
        type="text"
        required
        maxlength={maxTyped}
        placeholder="cc_"
        value={typed}
        dir="ltr"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-describedby={described === "" ? undefined : described}
        aria-invalid={isBadNumber ? "true" : undefined}
      />
      <button type="submit" class="primary">
        {submit}
      </button>
    </form>
  );
};

/** An address with a number in it is some 60 characters. */
export const maxTyped = 300;

const CheckDoor: FC<{ place: Place }> = ({ place }) => {
  const { front } = place.setting.words;
  return (
    <Door name="check" heading={front.check}>
      <NumberForm place={place} action={`${place.config.verifyUrl}/c`} label={front.number} submit={front.checkSubmit} />
    </Door>
  );
};

const WithdrawDoor: FC<{ place: Place }> = ({ place: { setting, choice, config } }) => {
  const { front } = setting.words;
  return (
    <Door name="withdraw" heading={front.withdraw}>
      <p>{front.withdrawText}</p>
      <p>
        <a class="button" href={inLanguage(`${config.appUrl}/withdraw`, choice)}>
          {front.withdrawLink}
        </a>
      </p>
    </Door>
  );
};

const ConsentsDoor: FC<{ place: Place }> = ({ place: { setting, choice, config } }) => {
  const { front } = setting.words;
  return (
    <Door name="consents" heading={front.consents}>
      <p>{front.consentsText}</p>
      <p>
        <a class="button" href={inLanguage(`${config.appUrl}/app`, choice)}>
          {front.consentsLink}
        </a>
      </p>
    </Door>
  );
};

const BusinessDoor: FC<{ place: Place }> = ({ place: { setting, config } }) => {
  const { front } = setting.words;
  return (
    <Door name="business" heading={front.business}>
      <p>{front.businessText}</p>
      <p>
        <a class="button" href={`${config.appUrl}/portal`}>
          {front.businessLink}
        </a>
      </p>
    </Door>
  );
};

/** In development only: where to begin, and the keys of the businesses that were made up. */
const DemoDoor: FC<{ place: Place }> = ({ place: { setting, config } }) => {
  const { front } = setting.words;
  const { site_base, ...credentials } = config.demo;
  return config.environment !== "development" ? null : (
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
          <div>
            <dt>
              <code translate="no">{name}</code>
            </dt>
            <dd>
              <code>
                <Exact text={value} />
              </code>
            </dd>
          </div>
        ))}
      </dl>
    </Door>
  );
};

const doors: readonly FC<{ place: Place }>[] = [CheckDoor, WithdrawDoor, ConsentsDoor, BusinessDoor, DemoDoor];

const Doors: FC<{ place: Place }> = ({ place }) => (
  <div class="doors">
    {doors.map((OneDoor) => (
      <OneDoor place={place} />
    ))}
  </div>
);

/** What lies beside the doors: how everything works, and how to check it without us. */
const Links: FC<{ place: Place }> = ({ place }) => {
  const { setting, choice, config, verifier } = place;
  const { front } = setting.words;
  return (
    <nav aria-label={front.links}>
      <ul class="plain">
        <li>
          <a href={`${apiOrigin(place)}/docs`}>{front.docs}</a>
        </li>
        <li>
          <a href={inLanguage(`${config.verifyUrl}/c/format`, choice)}>{front.format}</a>
        </li>
        <li>
          <a href={verifier.url}>{front.verifier}</a>
          <p class="quiet">
            {front.verifierHash} <Hash value={verifier.sha256} />
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

const titled = (title: string, { setting: { words }, isBadNumber, typedEmail }: Place): string =>
  isBadNumber || typedEmail !== undefined ? `${words.withdraw.error} ${title}` : title;

/** The page's forms lead to the host of the certificates, wherever the page itself stands. */
const formsTo = ({ config }: Place): { readonly formsTo: string } => ({ formsTo: new URL(config.verifyUrl).origin });

export const firstPage = (place: Place): Page => {
  const { front } = place.setting.words;
  return {
    title: titled(`${front.title} · ${brand}`, place),
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
  };
};

/** There is nothing under this address. */
export const unknownPage = (place: Place): Page => {
  const { words } = place.setting;
  return {
    title: words.noPage,
    ...formsTo(place),
    content: (
      <article class="front">
        <h1>{words.noPage}</h1>
        <p>{words.noPageAdvice}</p>
        <Doors place={place} />
      </article>
    ),
  };
};

/** The first step of signing in, for whoever wants to withdraw: what follows is the same whosever address it is. */
const EmailForm: FC<{ place: Place }> = ({ place: { setting, choice, typedEmail } }) => {
  const { withdraw, withdrawDoor } = setting.words;
  return (
    <form method="post" action={inLanguage("/withdraw", choice)} class="form">
      <label for="email">{withdraw.email}</label>
      <p class="quiet" id="email-hint">
        {withdrawDoor.emailHint}
      </p>
      {typedEmail !== undefined && <FieldError id="email-error" text={withdraw.badEmail} setting={setting} />}
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="email"
        maxlength={maxMailbox}
        required
        value={typedEmail}
        dir="ltr"
        spellcheck={false}
        aria-describedby={typedEmail === undefined ? "email-hint" : "email-hint email-error"}
        aria-invalid={typedEmail === undefined ? undefined : "true"}
      />
      <button type="submit" class="primary">
        {withdraw.send}
      </button>
    </form>
  );
};

/** The longest address is 254 characters; whoever types more is told so by the page, not cut short. */
export const maxMailbox = 320;

/** The two ways to withdraw, for whoever has not opened the certificate. */
export const withdrawDoorPage = (place: Place): Page => {
  const words = place.setting.words.withdrawDoor;
  return {
    title: titled(words.title, place),
    findable: true,
    ...formsTo(place), // the form of the number is answered there
    content: (
      <article class="step">
        <h1>{words.title}</h1>
        <p>{words.intro}</p>
        <section aria-labelledby="with-number">
          <h2 id="with-number">{words.withNumber}</h2>
          <NumberForm place={place} action="/withdraw" label={place.setting.words.front.number} submit={words.submit} hint={words.hint} />
        </section>
        <section aria-labelledby="with-email">
          <h2 id="with-email">{words.withEmail}</h2>
          <EmailForm place={place} />
        </section>
        <p>{words.otherWays}</p>
      </article>
    ),
  };
};
