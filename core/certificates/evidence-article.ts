// The certificate in plain words, for people who were handed a pack: first who, when, from where, what was shown and how, then
// who may make contact, what has happened since, and the proofs. It is certificate.html, and the checking page compares itself
// with it. What was left out on purpose is said to be.
import type { Json, JsonObject } from "../canonical-json.ts";
import type { Instant } from "../time.ts";
import { standingEntities } from "../withdrawals/entities.ts";
import { html, timeMarkup, timeOfView, type Markup } from "./evidence-markup.ts";
import type { EvidenceParts } from "./evidence-parts.ts";
import { isRefusal } from "./published.ts";

type Disclosed = readonly (readonly [string, string])[];
type Row = Markup | null;

const row = (term: string, value: Markup | null): Row => (value === null ? null : html`<dt>${term}</dt><dd>${value}</dd>`);

const rows = (...all: readonly Row[]): Markup => html`<dl>${all.filter((one) => one !== null)}</dl>`;

const hash = (text: string): Markup => html`<code>${text}</code>`;

const exact = (text: string): Markup => html`<span dir="auto" class="exact">${text}</span>`;

const typed = (text: string): Markup => (text === "" ? html`(left empty)` : exact(text));

const names = (list: readonly string[]): Markup =>
  list.length === 0 ? html`nobody` : html`<ul>${list.map((name) => html`<li dir="auto">${name}</li>`)}</ul>`;

const memberOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

const textIn = (object: JsonObject, name: string): Markup | null => {
  const value = object[name];
  return typeof value === "string" && value !== "" ? exact(value) : null;
};

/** What was kept of the submission; null where it is not in this pack. */
const evidenceOf = ({ opened, redacted }: EvidenceParts): JsonObject | null => (redacted ? null : opened.evidence);

const withoutEvidence = ({ redacted }: EvidenceParts, what: string): Markup =>
  html`<p>${redacted ? `Left out of this pack on purpose: ${what}.` : `Erased: ${what}.`}</p>`;

const standing = ({ opened, verifyView }: EvidenceParts): Markup => {
  const { environment, status, entitiesWithdrawn } = opened.certificate;
  const withdrawal = memberOf(verifyView.withdrawal);
  const sandbox =
    environment === "sandbox" ? html`<p><strong>Sandbox:</strong> a certificate for trying out. It proves nothing.</p>` : null;
  if (status === "active") {
    const but = entitiesWithdrawn.length > 0 ? ", but from single recipients" : "";
    return isRefusal(opened.certificate)
      ? html`<p><strong>Nobody was agreed to.</strong> The person was asked about each recipient and agreed to none of them.</p>${sandbox}`
      : html`<p><strong>Active.</strong> The consent had not been withdrawn when this pack was made${but}.</p>${sandbox}`;
  }
  const at = timeOfView(withdrawal.withdrawn_at);
  const until = timeOfView(withdrawal.cease_by);
  return html`<p><strong>Withdrawn</strong>${at === null ? null : html` on ${at}`}.${until === null ? null : html` Contact must cease by ${until}.`}</p>${sandbox}`;
};

const person = ({ opened, redacted }: EvidenceParts, disclosed: Disclosed): Markup => {
  if (opened.subject === null) return html`<p>The person's details were erased.</p>`;
  const shown = new Map(disclosed);
  const hidden = Object.entries(opened.certificate.subjectMasked).filter(([key]) => !shown.has(key));
  const list = (fields: Disclosed): Markup | null =>
    fields.length === 0 ? null : rows(...fields.map(([key, value]) => row(key, typed(value))));
  return html`<p>The person's details, as they were typed into the form; nobody checked them.</p>
${list(disclosed)}
${hidden.length > 0 ? html`<p>${redacted ? "Left out of this pack on purpose" : "Not disclosed in this pack"}, and shown masked:</p>` : null}
${list(hidden)}`;
};

const who = (parts: EvidenceParts, disclosed: Disclosed): Markup => {
  const { businessName } = parts.opened.certificate;
  const { legalName, mailingAddress, contact } = parts.identity;
  return html`<h2>Who</h2>
${rows(
  row("Asked by", exact(businessName)),
  row("Legal name", legalName === null ? null : exact(legalName)),
  row("Postal address", mailingAddress === null ? null : exact(mailingAddress)),
  row("Contact", contact === null ? null : exact(contact)),
)}
${person(parts, disclosed)}`;
};

const origins: Readonly<Record<"browser" | "server", string>> = {
  browser: "by a request as browsers make it, sent from the page itself; other programs can make such a request too",
  server: "by a request of another program than a browser, as the business's own server makes it",
};

const place = (geo: JsonObject): Markup | null => {
  const parts = [geo.city, geo.region, geo.country].filter((part) => typeof part === "string");
  return parts.length === 0 ? null : html`${exact(parts.join(", "))}, estimated from the IP address`;
};

const whenAndWhere = (parts: EvidenceParts): Markup => {
  const { certificate } = parts.opened;
  const evidence = evidenceOf(parts);
  const seen =
    evidence === null
      ? withoutEvidence(parts, "IP address, browser, operating system, and address of the page")
      : rows(
          row("IP address", textIn(evidence, "ip")),
          row("Place", place(memberOf(evidence.geo))),
          row("Browser", textIn(evidence, "browser") ?? html`not recognised`),
          row("Operating system", textIn(evidence, "os") ?? html`not recognised`),
          row("User agent, as sent", textIn(evidence, "user_agent")),
          row("Language", textIn(evidence, "locale")),
          row("Clock of the device", textIn(evidence, "client_time")),
          row("Page", textIn(evidence, "page_url")),
          row("Came from", textIn(evidence, "referrer")),
        );
  return html`<h2>When and from where</h2>
${rows(
  row(
    isRefusal(certificate) ? "Answered at" : "Given at",
    html`${timeMarkup(certificate.issuedAt)} (Coordinated Universal Time), by the clock of this service`,
  ),
  row("On the site", exact(certificate.originDomain)),
  row("Captured", html`${origins[certificate.capturedVia]}`),
  row("Browser signal", certificate.gpc ? html`the browser asked not to sell or share its user's data (Global Privacy Control)` : null),
)}
${seen}`;
};

const optIns: Readonly<Record<string, string>> = {
  manual: "the person ticked the box",
  pre_selected: "the box was ticked beforehand and left so",
  non_interactive: "there was no box to tick; sending the form was the whole act",
};

const notStated = html`not stated`;

/** As the form or the business's server reported it. */
const presentation = (parts: EvidenceParts): Markup => {
  const evidence = evidenceOf(parts);
  if (evidence === null) return withoutEvidence(parts, "kind of consent, size, contrast and visibility of the text, electronic signature");
  const { opt_in_type: optIn, font_px: size, contrast_ratio: contrast, visible, ...shown } = memberOf(evidence.presentation);
  const { automated, ...widget } = memberOf(evidence.widget);
  const version = textIn(widget, "version");
  return html`<p>As the form reported it:</p>
${rows(
  row("Kind of consent", typeof optIn === "string" ? html`${optIns[optIn] ?? optIn}` : notStated),
  row("Name of the box", textIn(shown, "checkbox_name")),
  row("Size of the text", typeof size === "number" ? html`${size} CSS pixels` : notStated),
  row("Contrast", typeof contrast === "number" ? html`${contrast} to 1` : notStated),
  row(
    "Visible",
    typeof visible === "boolean"
      ? html`${visible ? "yes, the text was displayed" : "no, the text was not displayed so that it could be read"}`
      : notStated,
  ),
  row("Script of the page", version === null ? null : html`version ${version}`),
  row("Automated browser", automated === true ? html`yes, the browser called itself automated` : null),
)}
<h2>Electronic signature</h2>
${esign(evidence)}`;
};

const esign = (evidence: JsonObject): Markup => {
  const { accepted, disclosure_text: text } = memberOf(evidence.esign);
  if (typeof text !== "string") return html`<p>No separate disclosure for an electronic signature was reported.</p>`;
  return html`<blockquote dir="auto" class="exact">${text}</blockquote>
<p>${accepted === true ? "Accepted by the person, as the form reported it." : "Not accepted by the person, as the form reported it."}</p>`;
};

/** Recipients the person has withdrawn from one by one. */
const withdrawnFrom = ({ opened }: EvidenceParts): Markup | null => {
  const { entitiesWithdrawn } = opened.certificate;
  if (entitiesWithdrawn.length === 0) return null;
  return html`<h2>Contact withdrawn from single recipients</h2>
<ul>${entitiesWithdrawn.map(
    ({ entity, withdrawnAt, ceaseBy, acknowledgedAt }) =>
      html`<li><span dir="auto">${entity}</span>, on ${timeMarkup(withdrawnAt)}; contact must cease by ${timeMarkup(ceaseBy)}${acknowledgedAt === null ? "" : html`; the business said that it has, on ${timeMarkup(acknowledgedAt)}`}</li>`,
  )}</ul>`;
};

const recipients = (parts: EvidenceParts): Markup => {
  const { certificate } = parts.opened;
  const { entities: named, answered, status } = certificate;
  const isWithdrawn = status === "revoked";
  const until = timeOfView(memberOf(parts.verifyView.withdrawal).cease_by);
  const heading = isWithdrawn ? "Contact withdrawn from" : isRefusal(certificate) ? "Who was asked about" : "Who may make contact";
  const deadline =
    isWithdrawn && until !== null
      ? html`<p>None of them may make contact under this consent any more. Their contact must cease by ${until}.</p>`
      : null;
  const answers = (): Markup => {
    if (answered === null)
      return html`<p>The form named them together; it did not ask about each.</p>${names(standingEntities(certificate))}`;
    const { accepted, rejected } = answered;
    const silent = named.filter((name) => !accepted.includes(name) && !rejected.includes(name));
    return rows(
      row(isWithdrawn ? "Withdrawn from" : "Accepted", names(standingEntities(certificate))),
      row("Declined", names(rejected)),
      silent.length > 0 ? row("Named, not asked", names(silent)) : null,
    );
  };
  return html`<h2>${heading}</h2>
${deadline}${answers()}
${withdrawnFrom(parts)}`;
};

const methods: Readonly<Record<string, string>> = {
  email_code: "by the person, who proved the e-mail address on the certificate",
  manage_link: "by the person, with the link handed over when the form was sent",
  business_recorded: "recorded by the business, which was told by other means",
};
const scopes: Readonly<Record<string, string>> = {
  certificate: "this certificate",
  business: "everything given to the business under that address",
};

const withdrawal = (parts: EvidenceParts): Markup | null => {
  if (parts.opened.certificate.status === "active") return null;
  const view = memberOf(parts.verifyView.withdrawal);
  return html`<h2>Withdrawal</h2>
${rows(
  row("Withdrawn at", timeOfView(view.withdrawn_at)),
  row("How", html`${methods[String(view.method)] ?? String(view.method)}`),
  row("Scope", html`${scopes[String(view.scope)] ?? String(view.scope)}`),
  row("Business was told at", timeOfView(view.received_at)),
  row("Contact must cease by", timeOfView(view.cease_by)),
  row("Business says contact ceased", timeOfView(view.cease_acknowledged_at) ?? html`not yet said`),
)}`;
};

const instantOf = (value: unknown): Instant | null => {
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(instant) ? instant : null;
};

/** What has happened, in the order in which it did. */
const timeline = ({ opened, verifyView }: EvidenceParts): Markup => {
  const { issuedAt, policies: linked, entitiesWithdrawn, subjectErasedAt } = opened.certificate;
  const view = memberOf(verifyView.withdrawal);
  const anchored = (anchor: JsonObject, what: string): [Instant | null, string][] => [
    [instantOf(anchor.anchored_at), `${what} anchored in the ledger`],
    [instantOf(memberOf(anchor.attested).time), `${what} seen in the ledger by a time-stamp authority`],
  ];
  const acts = new Map(entitiesWithdrawn.map(({ number, withdrawnAt }) => [number, withdrawnAt]));
  const all: readonly (readonly [Instant | null, string])[] = [
    [issuedAt, "Certificate issued"],
    ...linked.map(({ kind, capturedAt }) => [capturedAt, kind === "privacy" ? "Privacy policy saved" : "Terms saved"] as const),
    ...anchored(memberOf(verifyView.anchor), "Issuance"),
    ...[...acts.values()].map((at) => [at, "Withdrawn from single recipients"] as const),
    [instantOf(view.withdrawn_at), "Consent withdrawn"],
    ...anchored(memberOf(view.anchor), "Withdrawal"),
    [instantOf(view.cease_acknowledged_at), "Business said that contact has ceased"],
    [subjectErasedAt, "The person's details erased"],
  ];
  const dated = all.flatMap(([at, what]) => (at === null ? [] : [{ at, what }])).sort((a, b) => a.at - b.at);
  return html`<h2>What has happened</h2>
<ul>${dated.map(({ at, what }) => html`<li>${timeMarkup(at)}: ${what}</li>`)}</ul>`;
};

const policies = ({ opened }: EvidenceParts): Markup => {
  const { policies: linked, policiesCaptured } = opened.certificate;
  if (linked.length === 0) return html`<p>${policiesCaptured ? "None were found on the site." : "Not looked for yet."}</p>`;
  const words = { privacy: "Privacy policy", terms: "Terms" } as const;
  return rows(
    ...linked.map((policy) =>
      row(
        words[policy.kind],
        html`${exact(policy.sourceUrl)}<br>captured ${timeMarkup(policy.capturedAt)}<br>SHA-256 of its text ${hash(policy.contentHash)}`,
      ),
    ),
  );
};

const anchorLine = ({ anchors }: EvidenceParts, of: "issued" | "revoked"): Markup => {
  const receipt = anchors.find(({ event }) => event === of)?.receipt ?? null;
  return receipt === null ? html`not yet confirmed by the ledger` : exact(receipt.tx_ref);
};

const record = (parts: EvidenceParts): Markup => {
  const { certificate, evidenceHash } = parts.opened;
  const { verify_url: address } = parts.verifyView;
  return html`<h2>Proofs</h2>
${rows(
  row("Certificate", exact(certificate.id)),
  row("Public page", typeof address === "string" ? exact(address) : null),
  row("Fingerprint", hash(certificate.fingerprint)),
  row("Hash of the text shown", hash(certificate.disclosureHash)),
  row("Hash of the evidence", hash(evidenceHash)),
  row("Signed with the key", hash(certificate.signature.kid)),
  row("In the ledger as", anchorLine(parts, "issued")),
  row("Withdrawal in the ledger as", certificate.status === "revoked" ? anchorLine(parts, "revoked") : null),
  row("Public page opened", html`${certificate.viewCount} ${certificate.viewCount === 1 ? "time" : "times"}`),
)}`;
};

/** The certificate in plain words: what the page shows and what the checking page compares itself with. */
export const certificateArticle = (parts: EvidenceParts, disclosed: Disclosed): Markup => {
  const { certificate } = parts.opened;
  return html`<main id="certificate">
<h1>${isRefusal(certificate) ? "Consent refused to" : "Consent given to"} <span dir="auto">${certificate.businessName}</span></h1>
${standing(parts)}
${who(parts, disclosed)}
${whenAndWhere(parts)}
<h2>What was shown</h2>
<blockquote dir="auto" class="exact">${certificate.disclosureText}</blockquote>
${rows(row("Purpose", exact(certificate.purpose)))}
<h2>How it was shown and given</h2>
${presentation(parts)}
${recipients(parts)}
${withdrawal(parts)}
${timeline(parts)}
<h2>Policies on that day</h2>
${policies(parts)}
${record(parts)}
</main>`;
};
