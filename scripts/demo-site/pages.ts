// The pages of the demo business: forms as a solar company would write them, with the page script.
import { escapeHtml } from "../../core/mail/message.ts";

export interface DemoSite {
  readonly port: number;
  /** Origin of the service, which locally serves all hosts. */
  readonly cdnOrigin: string;
  readonly clientId: string;
}

const purpose = "Solar quote follow-up";
const recipients = ["Acme Solar LLC", "Bright Homes Inc"] as const;

const renderFrame = (title: string, main: string, kind = ""): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Acme Solar</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css">
<link rel="privacy-policy" href="/privacy">
<link rel="terms-of-service" href="/terms">
</head>
<body>
<header class="frame">
<a class="name" href="/"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 17h18M6 21h12M7 17a5 5 0 0 1 10 0M12 5v3M4.2 9.2l2.1 2.1M19.8 9.2l-2.1 2.1"/></svg>Acme Solar</a>
<nav aria-label="Site"><ul><li><a href="/">Free estimate</a></li><li><a href="/per-recipient">Compare installers</a></li><li><a href="/share">Quick estimate</a></li></ul></nav>
</header>
<main class="frame ${kind}">
${main}
</main>
<footer><div class="frame"><ul><li><a href="/privacy" rel="privacy-policy">Privacy policy</a></li><li><a href="/terms" rel="terms-of-service">Terms</a></li><li>Acme Solar LLC, 1 Demo Street, Testville, CA 94000</li><li>This site is a demo. It sells nothing.</li></ul></div></footer>
</body>
</html>
`;

const renderAttributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
    .join("");

const renderScriptTag = (site: DemoSite, more: Readonly<Record<string, string>>): string =>
  `<script async src="${site.cdnOrigin}/v1/svc.js"${renderAttributes({
    "data-client-id": site.clientId,
    "data-purpose": purpose,
    "data-disclosure-selector": "#disclosure",
    ...more,
  })}></script>`;

const certifyAttributes = { "data-mode": "consent", "data-entities": recipients.join("|") };

const pitch = `<div>
<h1>See how much solar could save you</h1>
<p class="lead">Tell us how to reach you. We estimate what panels would produce on your roof and what you would save.</p>
<ol class="steps">
<li>Send us your contact details.</li>
<li>We check your roof on satellite images and your utility's rates.</li>
<li>We call you with your estimate. It is free, with no obligation.</li>
</ol>
<ul class="facts">
<li><strong>25 years</strong> panel warranty</li>
<li><strong>2 days</strong> to an estimate</li>
<li><strong>$0</strong> until you sign</li>
</ul>
</div>`;

const contactFields = `<div class="field"><label for="name">Name</label><input id="name" name="name" type="text" autocomplete="name" required></div>
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email" required></div>
<div class="field"><label for="phone">Phone</label><input id="phone" name="phone" type="tel" autocomplete="tel"></div>`;

const consentSentence =
  "may call, text or email me about solar quotes at the number and address above. Consent is not a condition of purchase.";

const renderEstimatePage = (title: string, inForm: string, below = ""): string =>
  renderFrame(
    title,
    `${pitch}
<form id="estimate" method="post" action="/thanks">
<h2>Your estimate</h2>
${inForm}
<button>Get my estimate</button>
</form>${below}`,
    "with-form",
  );

export const renderFormPage = (site: DemoSite): string =>
  renderEstimatePage(
    "Free estimate",
    `${contactFields}
<div class="choice"><input type="checkbox" id="agree" name="agree" value="yes"><label class="small" for="agree" id="disclosure">I agree that ${recipients.join(" and ")} ${consentSentence}</label></div>`,
    `\n${renderScriptTag(site, { ...certifyAttributes, "data-checkbox-selector": "#agree" })}`,
  );

export const renderPerRecipientPage = (site: DemoSite): string =>
  renderEstimatePage(
    "Compare installers",
    `${contactFields}
<fieldset><legend>Who may contact you?</legend>
${recipients
  .map(
    (name, at) =>
      `<div class="choice"><input type="checkbox" id="recipient-${at}" name="recipient" value="${escapeHtml(name)}" data-sp1-entity="${escapeHtml(name)}"><label for="recipient-${at}">${escapeHtml(name)}</label></div>`,
  )
  .join("\n")}
</fieldset>
<p class="small disclosure" id="disclosure">By clicking “Get my estimate”, I agree that each company I selected ${consentSentence}</p>`,
    `\n${renderScriptTag(site, certifyAttributes)}`,
  );

/** Renders a form without a checkbox, because the person chooses which fields to share on the consent sheet. */
export const renderSharePage = (site: DemoSite, nonce: string): string =>
  renderEstimatePage(
    "Quick estimate",
    `<div class="share">
<p class="small" id="disclosure">Acme Solar LLC may call or email me about solar quotes for 90 days, using the details I share. I can stop sharing at any time.</p>
${renderScriptTag(site, { nonce, "data-mode": "share", "data-scope": "name, email, phone?", "data-duration-days": "90" })}
</div>
<p class="small">Or enter your details:</p>
${contactFields}`,
  );

const certificateIdPattern = /^cc_[0-9a-z]{26}$/;
const shareIdPattern = /^shr_[0-9a-z]{26}$/;

/** Shows what the business's server received: the form values, including the certificate or share ID. */
export const renderThanksPage = (site: DemoSite, received: readonly (readonly [string, string])[]): string => {
  const getEntry = (name: string): string => received.find(([key]) => key === name)?.[1] ?? "";
  const id = getEntry("svc_cert_id");
  const certificate = certificateIdPattern.test(id)
    ? `<h2>A certificate was issued</h2>
<p>It records what the form said when you submitted it. Anyone with the link can check it.</p>
<a class="action" id="certificate" href="${escapeHtml(`${site.cdnOrigin}/c/${id}`)}">Open the certificate</a>`
    : shareIdPattern.test(getEntry("svc_share_id"))
      ? `<h2>Details were shared</h2>
<p>You can review this share and stop it at any time in your account.</p>
<a class="action" id="account" href="${escapeHtml(`${site.cdnOrigin}/app`)}">Open my account</a>`
      : `<h2>No certificate was issued</h2>
<p>We received your details anyway. A certificate is issued only if you agreed and the service could be reached.</p>`;
  const rows = received.map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`).join("\n");
  return renderFrame(
    "Thank you",
    `<div><h1>Thank you</h1><p class="lead">We received your details and will call you within two days.</p></div>
<section class="card">${certificate}</section>
<section class="card"><h2>What our server received</h2><table><tbody>
${rows}
</tbody></table></section>`,
  );
};

export const renderNothingSentPage = (): string =>
  renderFrame("No form submitted", `<div><h1>No form submitted</h1><p><a href="/">Go to the form</a></p></div>`);

export const renderNotFoundPage = (): string =>
  renderFrame("Page not found", `<div><h1>Page not found</h1><p><a href="/">Go to the form</a></p></div>`);

export const renderPrivacyPage = (): string =>
  renderFrame(
    "Privacy policy",
    `<div><h1>Privacy policy</h1>
<p>Acme Solar LLC collects the name, email address and phone number that you send with a form on this site, to prepare an estimate and to contact you about it.</p>
<h2>Who receives your data</h2>
<p>Only the companies named next to the form, and only for the purpose named there. We do not sell your data.</p>
<h2>How long we keep it</h2>
<p>Until you withdraw your consent, or for two years after the last contact.</p>
<h2>Your rights</h2>
<p>You can withdraw your consent, and ask for a copy of your data or for its deletion, at any time: privacy@acme-solar.example.</p></div>`,
  );

export const renderTermsPage = (): string =>
  renderFrame(
    "Terms",
    `<div><h1>Terms</h1>
<p>An estimate is free and not binding. It is based on public maps and on the details you send, and can differ from a measured offer.</p>
<h2>This site</h2>
<p>This site is a demo. It sells nothing and sends no offers.</p></div>`,
  );
