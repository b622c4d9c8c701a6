// The pages of an evidence pack: the certificate in plain words, and the page that checks itself when opened from disk.
// Both are written for files: no address is loaded, everything a stranger typed is text, and the policy in the page
// forbids what is not named in it by its hash.
import { base64Of } from "../bytes.ts";
import { sha256 } from "../hash.ts";
<<<<<<< HEAD
import { certificateArticle } from "./evidence-article.ts";
import { html, Markup } from "./evidence-markup.ts";
import type { EvidenceParts } from "./evidence-parts.ts";

type Disclosed = readonly (readonly [string, string])[];

/** Each printed page bears the certificate's id: a sheet that has lost its neighbours still says what it belongs to. */
const styleOf = (
  certId: string,
): string => `:root{color-scheme:light dark;--ink:light-dark(#1b1d21,#e9e9e6);--quiet:light-dark(#575b62,#a7acb4);--paper:light-dark(#fff,#15171b);--line:light-dark(#dbdbd6,#353a42);--good:light-dark(#17663a,#71d19b);--bad:light-dark(#b02a21,#f59a93);--caution:light-dark(#835000,#e6b869);--action:light-dark(#1d4fb8,#8fb4ff)}
=======
import { isoOf, type Instant } from "../time.ts";
import { standingEntities } from "../withdrawals/entities.ts";
import type { EvidenceParts, JsonObject } from "./evidence-parts.ts";
import { isRefusal, type PublishedCertificate } from "./published.ts";

type Disclosed = readonly (readonly [string, string])[];

class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;" };

type Piece = string | number | Markup | readonly Markup[] | null;

const pieceText = (piece: Piece): string => {
  if (piece === null) return "";
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === "object") return piece.map(({ text }) => text).join("");
  return String(piece).replaceAll(/[&<>"'\r]/g, (char) => entities[char] as string); // a parser would turn CR into LF
};

/** Markup from a template: what is put in is text, unless it is markup itself. */
const html = (strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup =>
  new Markup(strings.reduce((text, string, at) => text + pieceText(pieces[at - 1] ?? null) + string));

const months = "January February March April May June July August September October November December".split(" ");

/** `4 March 2026, 05:06:07 UTC`. Spelt here, because what the platform prints changes with its version. */
const timeMarkup = (instant: Instant): Markup => {
  const iso = isoOf(instant);
  const day = `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1]} ${iso.slice(0, 4)}`;
  return html`<time datetime="${iso}">${day}, ${iso.slice(11, 19)} UTC</time>`;
};

const timeOfView = (value: unknown): Markup | null => {
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(instant) ? timeMarkup(instant) : null;
};

const names = (list: readonly string[]): Markup =>
  list.length === 0 ? html`nobody` : html`<ul>${list.map((name) => html`<li dir="auto">${name}</li>`)}</ul>`;

const row = (term: string, value: Markup | null): Markup | null => (value === null ? null : html`<dt>${term}</dt><dd>${value}</dd>`);

const rows = (...all: readonly (Markup | null)[]): Markup => html`<dl>${all.filter((one) => one !== null)}</dl>`;

const hash = (text: string): Markup => html`<code>${text}</code>`;

const typed = (text: string): Markup => (text === "" ? html`(left empty)` : html`<span dir="auto" class="exact">${text}</span>`);

/** Recipients the person has withdrawn from one by one. */
const withdrawnFrom = ({ entitiesWithdrawn }: PublishedCertificate): Markup | null =>
  entitiesWithdrawn.length === 0
    ? null
    : html`<p><strong>Withdrawn from:</strong></p><ul>${entitiesWithdrawn.map(
        ({ entity, withdrawnAt, ceaseBy }) =>
          html`<li><span dir="auto">${entity}</span>, on ${timeMarkup(withdrawnAt)}; contact must cease by ${timeMarkup(ceaseBy)}</li>`,
      )}</ul>`;

const recipients = ({ opened }: EvidenceParts): Markup => {
  const { certificate } = opened;
  const { entities: named, answered } = certificate;
  const standing = standingEntities(certificate);
  if (answered === null)
    return html`<p>The person was asked about all of them together.</p>${names(standing)}${withdrawnFrom(certificate)}`;
  const { accepted, rejected } = answered;
  const silent = named.filter((name) => !accepted.includes(name) && !rejected.includes(name));
  return html`${rows(
    row("Accepted", names(standing)),
    row("Declined", names(rejected)),
    silent.length > 0 ? row("Named, not asked", names(silent)) : null,
  )}${withdrawnFrom(certificate)}`;
};

const subject = ({ opened, redacted }: EvidenceParts, disclosed: Disclosed): Markup => {
  if (opened.subject === null) return html`<p>The person's details were erased.</p>`;
  const shown = new Map(disclosed);
  const masked = Object.entries(opened.certificate.subjectMasked).filter(([key]) => !shown.has(key));
  return html`${disclosed.length > 0 ? rows(...disclosed.map(([key, value]) => row(key, typed(value)))) : null}
${masked.length > 0 ? html`<p>${redacted ? "Left out of this pack on purpose" : "Not disclosed in this pack"}:</p>` : null}
${masked.length > 0 ? rows(...masked.map(([key, value]) => row(key, typed(value)))) : null}`;
};

const anchorLine = ({ anchors }: EvidenceParts): Markup => {
  const receipt = anchors.find(({ event }) => event === "issued")?.receipt ?? null;
  if (receipt === null) return html`not yet confirmed by the ledger`;
  return html`<span class="exact">${receipt.tx_ref}</span>`;
};

const policies = ({ opened }: EvidenceParts): Markup => {
  const { policies: linked, policiesLooked } = opened.certificate;
  if (linked.length === 0) return html`<p>${policiesLooked ? "None were found on the site." : "Not looked for yet."}</p>`;
  const words = { privacy: "Privacy policy", terms: "Terms" } as const;
  return rows(
    ...linked.map((policy) =>
      row(
        words[policy.kind],
        html`<span class="exact">${policy.sourceUrl}</span><br>captured ${timeMarkup(policy.capturedAt)}<br>${hash(policy.contentHash)}`,
      ),
    ),
  );
};

const statusLine = ({ opened, verifyView }: EvidenceParts): Markup => {
  const withdrawal = verifyView.withdrawal as JsonObject | null | undefined;
  const sandbox =
    opened.certificate.environment === "sandbox"
      ? html`<p><strong>Sandbox:</strong> a certificate for trying out. It proves nothing.</p>`
      : null;
  if (isRefusal(opened.certificate) && opened.certificate.status === "active")
    return html`<p><strong>Nobody was agreed to.</strong> The person was asked about each recipient and agreed to none of them.</p>${sandbox}`;
  if (opened.certificate.status === "active")
    return html`<p><strong>Active.</strong> The consent had not been withdrawn when this pack was made${opened.certificate.entitiesWithdrawn.length > 0 ? ", but from single recipients" : ""}.</p>${sandbox}`;
  const at = timeOfView(withdrawal?.withdrawn_at);
  const until = timeOfView(withdrawal?.cease_by);
  return html`<p><strong>Withdrawn</strong>${at === null ? null : html` on ${at}`}.${until === null ? null : html` Contact must cease by ${until}.`}</p>${sandbox}`;
};

const recipientsHeading = (certificate: PublishedCertificate): string => {
  if (isRefusal(certificate)) return "Who was asked about";
  return certificate.status === "revoked" ? "Recipients named" : "Who may make contact";
};

/** The certificate in plain words: what the page shows and what the checking page compares itself with. */
const certificateArticle = (parts: EvidenceParts, disclosed: Disclosed): Markup => {
  const { certificate, evidence, evidenceHash } = parts.opened;
  const { identity } = parts;
  const page = typeof evidence?.page_url === "string" && !parts.redacted ? html`<span class="exact">${evidence.page_url}</span>` : null;
  const name = identity.legalName === null ? null : html`<span dir="auto">${identity.legalName}</span>`;
  const address = identity.mailingAddress === null ? null : html`<span dir="auto" class="exact">${identity.mailingAddress}</span>`;
  const contact = identity.contact === null ? null : html`<span dir="auto">${identity.contact}</span>`;
  return html`<main id="certificate">
<h1>${isRefusal(certificate) ? "Consent refused to" : "Consent given to"} <span dir="auto">${certificate.businessName}</span></h1>
${statusLine(parts)}
<h2>What was shown</h2>
<blockquote dir="auto" class="exact">${certificate.disclosureText}</blockquote>
<h2>${recipientsHeading(certificate)}</h2>
${recipients(parts)}
<h2>What it was about</h2>
${rows(
  row("Purpose", html`<span dir="auto">${certificate.purpose}</span>`),
  row(isRefusal(certificate) ? "Answered at" : "Given at", timeMarkup(certificate.issuedAt)),
  row("On the site", html`${certificate.originDomain}`),
  row("Page", page),
)}
<h2>${isRefusal(certificate) ? "Who answered" : "Who gave it"}</h2>
${subject(parts, disclosed)}
<h2>Who asked</h2>
${rows(row("Business", html`<span dir="auto">${certificate.businessName}</span>`), row("Legal name", name), row("Postal address", address), row("Contact", contact))}
<h2>Policies on that day</h2>
${policies(parts)}
<h2>The record</h2>
${rows(
  row("Certificate", html`<span class="exact">${certificate.id}</span>`),
  row("Fingerprint", hash(certificate.fingerprint)),
  row("Hash of the evidence", hash(evidenceHash)),
  row("In the ledger as", anchorLine(parts)),
  row("Public page opened", html`${certificate.viewCount} ${certificate.viewCount === 1 ? "time" : "times"}`),
)}
</main>`;
};

const style = `:root{color-scheme:light dark;--ink:light-dark(#1b1d21,#e9e9e6);--quiet:light-dark(#575b62,#a7acb4);--paper:light-dark(#fff,#15171b);--line:light-dark(#dbdbd6,#353a42);--good:light-dark(#17663a,#71d19b);--bad:light-dark(#b02a21,#f59a93);--caution:light-dark(#835000,#e6b869);--action:light-dark(#1d4fb8,#8fb4ff)}
>>>>>>> wt-entities
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:42rem;font:100%/1.55 -apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.728rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.2rem;line-height:1.25;margin:2rem 0 .5rem}
p{margin:.5rem 0}
blockquote{margin:.5rem 0;padding:.25rem 0 .25rem 1rem;border-inline-start:3px solid var(--line)}
.exact{white-space:pre-wrap;unicode-bidi:isolate}
blockquote.exact{unicode-bidi:plaintext;overflow:clip}
dl{display:grid;grid-template-columns:11rem 1fr;gap:.25rem 1.5rem;margin:.5rem 0}
dt{color:var(--quiet)}
dd{margin:0;min-width:0}
dd>p{margin:0}
dd ul,main>ul{margin:0;padding-inline-start:1.2rem}
code{font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.verdict{border:1px solid currentColor;border-radius:.375rem;padding:.75rem 1rem;margin:1rem 0}
.verdict p{margin:.25rem 0}
.verdict strong{font-size:1.2rem}
.good{color:var(--good)}.bad{color:var(--bad)}.caution{color:var(--caution)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:start;color:var(--quiet);padding-block:.25rem}
th,td{text-align:start;vertical-align:top;padding:.375rem .75rem .375rem 0;border-block-start:1px solid var(--line);font-weight:400}
td:first-child{white-space:nowrap;font-weight:650}
td small,th small{display:block;color:var(--quiet)}
label{display:block;margin-block-start:.75rem}
input{font:inherit;color:inherit;max-width:100%;margin-block:.25rem}
input[type=text]{width:100%;padding:.375rem .5rem;border:1px solid var(--quiet);border-radius:.375rem;background:var(--paper)}
button{font:inherit;color:var(--action);background:none;border:1px solid currentColor;border-radius:.375rem;padding:.375rem .75rem;margin-block:.75rem}
:focus-visible{outline:2px solid var(--action);outline-offset:3px}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-block-end:.5rem}}
@page{margin:20mm 18mm 22mm;@top-left{content:"Evidence of consent";font:8pt sans-serif;color:#575b62}@bottom-left{content:"Certificate ${certId}";font:8pt sans-serif;color:#575b62}@bottom-right{content:"Page " counter(page) " of " counter(pages);font:8pt sans-serif;color:#575b62}}
@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt;orphans:3;widows:3}.screen{display:none}h1{margin-block-start:0}h1,h2{break-after:avoid}section.checks{break-before:page}tr,dt,dd:not(.long),li{break-inside:avoid}dt{break-after:avoid}thead{display:table-header-group}}
`;

const cspHash = (text: string): string => `'sha256-${base64Of(sha256(text))}'`;

/** Nothing may be loaded from anywhere, nor sent; of scripts only the one with this hash runs. */
const policyOf = (style: string, script: string | null): string =>
  `default-src 'none'; style-src ${cspHash(style)}; ${script === null ? "" : `script-src ${cspHash(script)}; `}base-uri 'none'; form-action 'none'`;

const page = ({ opened }: EvidenceParts, script: string | null, body: Markup): string => {
  const { id } = opened.certificate;
  const style = styleOf(id);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Certificate ${id}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
};

/** certificate.html of the pack: static, without script. */
export const certificatePageText = (parts: EvidenceParts, disclosed: Disclosed): string =>
  page(parts, null, certificateArticle(parts, disclosed));

/** The page that holds the whole pack and checks it. Throws for a script that would end its own element. */
export const verifyPageText = (parts: EvidenceParts, disclosed: Disclosed, zipBase64: string, verifierSource: string): string => {
  if (/<\/script|<!--/i.test(verifierSource)) throw new TypeError("evidence page: the verifier cannot stand inside a page");
  const body = html`<div id="verdict" class="verdict caution" role="status"><p><strong>Not checked.</strong></p><p>This page checks itself with its own script, without any network. The script did not run here.</p></div>
<section class="screen" aria-label="What you know yourself">
<p>This file is a copy: whoever gave it to you could have changed it, the checking script included. Get it from where it was issued, or check the pack in it with a verifier of your own (<code>svc-verify</code>).</p>
<label for="trust">Keys you trust: the file <code>svc-trust.json</code> that you got from the issuer yourself</label>
<input id="trust" type="file" accept=".json,application/json">
<label for="fingerprint">Fingerprint you were given, if any</label>
<input id="fingerprint" type="text" autocomplete="off" spellcheck="false" maxlength="64">
<button id="save" type="button">Save the pack as a zip file</button>
</section>
${certificateArticle(parts, disclosed)}
<section class="checks" aria-labelledby="checks-title">
<h2 id="checks-title">Every check</h2>
<table id="checks"></table>
</section>
<script type="application/zip" id="pack">${zipBase64}</script>
<script>${new Markup(verifierSource)}</script>`;
  return page(parts, verifierSource, body);
};
