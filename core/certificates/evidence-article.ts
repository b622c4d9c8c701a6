// The certificate in plain language for readers of a pack. It also says what was deliberately omitted. Both certificate.html and the
// self-checking page contain it, and verifiers compare it with the other files, so every text here is part of the pack format. Never reword
// one: every pack that contains it would fail.
import { isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";
import type { Instant } from "../time.ts";
import { listActiveEntities } from "../withdrawals/entity-withdrawal.ts";
import { html, parseInstant, renderTime, renderTimeText, type Markup } from "./evidence-markup.ts";
import { isConsentRefused, type PublishedCertificate } from "./published-certificate.ts";
import type { SubmissionNotes } from "./submission-notes.ts";

/** The details of the person that are shown in full, as `[key, value]` pairs. */
export type DisclosedFields = readonly (readonly [string, string])[];

/**
 * The parts of a pack that the article shows. A verifier rebuilds the article from the files, so a pack must contain all of these parts.
 */
export interface ArticleParts {
  readonly opened: {
    readonly certificate: Pick<
      PublishedCertificate,
      | "id"
      | "businessName"
      | "environment"
      | "status"
      | "purpose"
      | "disclosureText"
      | "disclosureHash"
      | "entities"
      | "answered"
      | "originDomain"
      | "issuedAt"
      | "fingerprint"
      | "subjectMasked"
      | "subjectErasedAt"
      | "notes"
      | "gpc"
      | "capturedVia"
      | "viewCount"
      | "policiesCaptured"
    > & {
      readonly signature: Pick<PublishedCertificate["signature"], "kid">;
      readonly policies: readonly Omit<PublishedCertificate["policies"][number], "id">[];
      readonly entitiesWithdrawn: readonly Pick<
        PublishedCertificate["entitiesWithdrawn"][number],
        "entity" | "number" | "withdrawnAt" | "ceaseBy" | "acknowledgedAt"
      >[];
    };
    /** The decrypted subject; null after an erasure. The article checks only whether it is null. */
    readonly subject: object | null;
    readonly evidence: JsonObject | null;
    readonly evidenceHash: string;
  };
  /** The properties `withdrawal`, `anchor` and `verify_url` of the public view. */
  readonly publicView: JsonObject;
  readonly identity: { readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null };
  readonly anchors: readonly { readonly event: "issued" | "revoked"; readonly receipt: { readonly tx_ref: string } | null }[];
  readonly isRedacted: boolean;
}

type DefinitionRow = Markup | null;

const renderRow = (term: string, value: Markup | null): DefinitionRow => (value === null ? null : html`<dt>${term}</dt><dd>${value}</dd>`);

const renderDefinitionList = (...all: readonly DefinitionRow[]): Markup => html`<dl>${all.filter((row) => row !== null)}</dl>`;

const renderHash = (text: string): Markup => html`<code>${text}</code>`;

const renderExactText = (text: string): Markup => html`<span dir="auto" class="exact">${text}</span>`;

const renderTypedValue = (text: string): Markup => (text === "" ? html`(left empty)` : renderExactText(text));

const renderNames = (list: readonly string[]): Markup =>
  list.length === 0 ? html`None` : html`<ul>${list.map((name) => html`<li dir="auto">${name}</li>`)}</ul>`;

const toObject = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

const renderTextMember = (object: JsonObject, name: string): Markup | null => {
  const value = object[name];
  return typeof value === "string" && value !== "" ? renderExactText(value) : null;
};

/** Returns the evidence of the submission, or null if it is not in this pack. */
const getIncludedEvidence = ({ opened, isRedacted }: ArticleParts): JsonObject | null => (isRedacted ? null : opened.evidence);

const renderMissingEvidence = ({ isRedacted }: ArticleParts, what: string): Markup =>
  html`<p>${isRedacted ? `Left out of this pack on purpose: ${what}.` : `Erased: ${what}.`}</p>`;

const renderStatus = ({ opened, publicView }: ArticleParts): Markup => {
  const { environment, status, entitiesWithdrawn } = opened.certificate;
  const withdrawal = toObject(publicView.withdrawal);
  const sandbox = environment === "sandbox" ? html`<p><strong>Sandbox:</strong> a test certificate. It proves nothing.</p>` : null;
  if (status === "active") {
    const but = entitiesWithdrawn.length > 0 ? ", but from single recipients" : "";
    return isConsentRefused(opened.certificate)
      ? html`<p><strong>No recipient was accepted.</strong> The person was asked about each recipient and agreed to none of them.</p>${sandbox}`
      : html`<p><strong>Active.</strong> The consent had not been withdrawn when this pack was made${but}.</p>${sandbox}`;
  }
  const at = renderTimeText(withdrawal.withdrawn_at);
  const until = renderTimeText(withdrawal.cease_by);
  return html`<p><strong>Withdrawn</strong>${at === null ? null : html` on ${at}`}.${until === null ? null : html` Contact must cease by ${until}.`}</p>${sandbox}`;
};

/** Renders only the notes that apply. The articles of certificates without notes must never change, so nothing is rendered for them. */
const renderNotes = (notes: SubmissionNotes | null): Markup | null => {
  const { fields_unrecognized: keys, fields_truncated: isTruncated, text_replaced: isReplaced } = notes ?? {};
  const lines = [
    keys === undefined ? null : html`<p>Not of the kind that the field asks for: ${keys.join(", ")}. No search finds these values.</p>\n`,
    isTruncated === undefined ? null : html`<p>The form had more fields. Some were left out.</p>\n`,
    isReplaced === undefined ? null : html`<p>Characters that cannot be stored were replaced by \ufffd.</p>\n`,
  ];
  return lines.every((line) => line === null) ? null : html`${lines.filter((line) => line !== null)}`;
};

const renderSubject = ({ opened, isRedacted }: ArticleParts, disclosed: DisclosedFields): Markup => {
  if (opened.subject === null) return html`<p>The person's details were erased.</p>`;
  const shown = new Map(disclosed);
  const hidden = Object.entries(opened.certificate.subjectMasked).filter(([key]) => !shown.has(key));
  const list = (fields: DisclosedFields): Markup | null =>
    fields.length === 0 ? null : renderDefinitionList(...fields.map(([key, value]) => renderRow(key, renderTypedValue(value))));
  return html`<p>The person's details as typed into the form. They were not verified.</p>
${renderNotes(opened.certificate.notes)}${list(disclosed)}
${hidden.length > 0 ? html`<p>${isRedacted ? "Left out of this pack on purpose" : "Not disclosed in this pack"}, and shown masked:</p>` : null}
${list(hidden)}`;
};

const renderParties = (parts: ArticleParts, disclosed: DisclosedFields): Markup => {
  const { businessName } = parts.opened.certificate;
  const { legalName, mailingAddress, contact } = parts.identity;
  return html`<h2>Who</h2>
${renderDefinitionList(
  renderRow("Asked by", renderExactText(businessName)),
  renderRow("Legal name", legalName === null ? null : renderExactText(legalName)),
  renderRow("Postal address", mailingAddress === null ? null : renderExactText(mailingAddress)),
  renderRow("Contact", contact === null ? null : renderExactText(contact)),
)}
${renderSubject(parts, disclosed)}`;
};

const captureMethodLabels: Readonly<Record<"browser" | "server", string>> = {
  browser: "by a request as browsers make it, sent from the page itself; other programs can make such a request too",
  server: "by a request of another program than a browser, as the business's own server makes it",
};

const renderLocation = (geo: JsonObject): Markup | null => {
  const parts = [geo.city, geo.region, geo.country].filter((part) => typeof part === "string");
  return parts.length === 0 ? null : html`${renderExactText(parts.join(", "))}, estimated from the IP address`;
};

const renderCaptureDetails = (parts: ArticleParts): Markup => {
  const { certificate } = parts.opened;
  const evidence = getIncludedEvidence(parts);
  const seen =
    evidence === null
      ? renderMissingEvidence(parts, "IP address, browser, operating system, and address of the page")
      : renderDefinitionList(
          renderRow("IP address", renderTextMember(evidence, "ip")),
          renderRow("Place", renderLocation(toObject(evidence.geo))),
          renderRow("Browser", renderTextMember(evidence, "browser") ?? html`not recognized`),
          renderRow("Operating system", renderTextMember(evidence, "os") ?? html`not recognized`),
          renderRow("User agent, as sent", renderTextMember(evidence, "user_agent")),
          renderRow("Language", renderTextMember(evidence, "locale")),
          renderRow("Device clock", renderTextMember(evidence, "client_time")),
          renderRow("Page", renderTextMember(evidence, "page_url")),
          renderRow("Referrer", renderTextMember(evidence, "referrer")),
        );
  return html`<h2>When and from where</h2>
${renderDefinitionList(
  renderRow(
    isConsentRefused(certificate) ? "Answered at" : "Given at",
    html`${renderTime(certificate.issuedAt)} (Coordinated Universal Time), by the clock of this service`,
  ),
  renderRow("On the site", renderExactText(certificate.originDomain)),
  renderRow("Captured", html`${captureMethodLabels[certificate.capturedVia]}`),
  renderRow(
    "Browser signal",
    certificate.gpc ? html`the browser asked not to sell or share its user's data (Global Privacy Control)` : null,
  ),
)}
${seen}`;
};

const optInLabels: Readonly<Record<string, string>> = {
  manual: "the person ticked the box",
  pre_selected: "the box was ticked beforehand and left so",
  non_interactive: "there was no box to tick; sending the form was the whole act",
};

const notStated = html`not stated`;

/** Renders the presentation details that the form or the business's server reported. */
const renderPresentation = (parts: ArticleParts): Markup => {
  const evidence = getIncludedEvidence(parts);
  if (evidence === null)
    return renderMissingEvidence(parts, "kind of consent, size, contrast and visibility of the text, electronic signature");
  const { opt_in_type: optIn, font_px: size, contrast_ratio: contrast, visible, ...shown } = toObject(evidence.presentation);
  const { automated, ...widget } = toObject(evidence.widget);
  const version = renderTextMember(widget, "version");
  return html`<p>As the form reported it:</p>
${renderDefinitionList(
  renderRow("Kind of consent", typeof optIn === "string" ? html`${optInLabels[optIn] ?? optIn}` : notStated),
  renderRow("Checkbox name", renderTextMember(shown, "checkbox_name")),
  renderRow("Text size", typeof size === "number" ? html`${size} CSS pixels` : notStated),
  renderRow("Contrast", typeof contrast === "number" ? html`${contrast} to 1` : notStated),
  renderRow(
    "Visible",
    typeof visible === "boolean" ? html`${visible ? "yes, the text was displayed" : "no, the text was not displayed legibly"}` : notStated,
  ),
  renderRow("Page script", version === null ? null : html`version ${version}`),
  renderRow("Automated browser", automated === true ? html`yes, the browser called itself automated` : null),
)}
<h2>Electronic signature</h2>
${renderEsign(evidence)}`;
};

const renderEsign = (evidence: JsonObject): Markup => {
  const { accepted, disclosure_text: text } = toObject(evidence.esign);
  if (typeof text !== "string") return html`<p>No separate disclosure for an electronic signature was reported.</p>`;
  return html`<blockquote dir="auto" class="exact">${text}</blockquote>
<p>${accepted === true ? "Accepted by the person, as the form reported it." : "Not accepted by the person, as the form reported it."}</p>`;
};

/** Renders the recipients for whom the person has withdrawn consent individually. */
const renderWithdrawnRecipients = ({ opened }: ArticleParts): Markup | null => {
  const { entitiesWithdrawn } = opened.certificate;
  if (entitiesWithdrawn.length === 0) return null;
  return html`<h2>Contact withdrawn from individual recipients</h2>
<ul>${entitiesWithdrawn.map(
    ({ entity, withdrawnAt, ceaseBy, acknowledgedAt }) =>
      html`<li><span dir="auto">${entity}</span>, on ${renderTime(withdrawnAt)}; contact must cease by ${renderTime(ceaseBy)}${acknowledgedAt === null ? "" : html`; the business confirmed that it has, on ${renderTime(acknowledgedAt)}`}</li>`,
  )}</ul>`;
};

const renderRecipients = (parts: ArticleParts): Markup => {
  const { certificate } = parts.opened;
  const { entities: named, answered, status } = certificate;
  const isWithdrawn = status === "revoked";
  const until = renderTimeText(toObject(parts.publicView.withdrawal).cease_by);
  const heading = isWithdrawn
    ? "Contact withdrawn from"
    : isConsentRefused(certificate)
      ? "Who was asked about"
      : "Who may contact the person";
  const deadline =
    isWithdrawn && until !== null
      ? html`<p>None of them may contact the person under this consent anymore. Their contact must cease by ${until}.</p>`
      : null;
  const renderAnswers = (): Markup => {
    if (answered === null)
      return html`<p>The form named them together and did not ask about each one.</p>${renderNames(listActiveEntities(certificate))}`;
    const { accepted, rejected } = answered;
    const silent = named.filter((name) => !accepted.includes(name) && !rejected.includes(name));
    return renderDefinitionList(
      renderRow(isWithdrawn ? "Withdrawn from" : "Accepted", renderNames(listActiveEntities(certificate))),
      renderRow("Declined", renderNames(rejected)),
      silent.length > 0 ? renderRow("Named, not asked", renderNames(silent)) : null,
    );
  };
  return html`<h2>${heading}</h2>
${deadline}${renderAnswers()}
${renderWithdrawnRecipients(parts)}`;
};

const withdrawalMethodLabels: Readonly<Record<string, string>> = {
  email_code: "by the person, who proved the e-mail address on the certificate",
  manage_link: "by the person, with the link handed over when the form was sent",
  business_recorded: "recorded by the business, which was told by other means",
};
const withdrawalScopeLabels: Readonly<Record<string, string>> = {
  certificate: "this certificate",
  business: "everything given to the business under that address",
};

const renderWithdrawal = (parts: ArticleParts): Markup | null => {
  if (parts.opened.certificate.status === "active") return null;
  const view = toObject(parts.publicView.withdrawal);
  return html`<h2>Withdrawal</h2>
${renderDefinitionList(
  renderRow("Withdrawn at", renderTimeText(view.withdrawn_at)),
  renderRow("How", html`${withdrawalMethodLabels[String(view.method)] ?? String(view.method)}`),
  renderRow("Scope", html`${withdrawalScopeLabels[String(view.scope)] ?? String(view.scope)}`),
  renderRow("Business received it at", renderTimeText(view.received_at)),
  renderRow("Contact must cease by", renderTimeText(view.cease_by)),
  renderRow("Business says contact ceased", renderTimeText(view.cease_acknowledged_at) ?? html`not yet`),
)}`;
};

/** Renders the history of the certificate in chronological order. */
const renderTimeline = ({ opened, publicView }: ArticleParts): Markup => {
  const { issuedAt, policies: linked, entitiesWithdrawn, subjectErasedAt } = opened.certificate;
  const view = toObject(publicView.withdrawal);
  const anchored = (anchor: JsonObject, label: string): [Instant | null, string][] => [
    [parseInstant(anchor.anchored_at), `${label} anchored in the ledger`],
    [parseInstant(toObject(anchor.attested).time), `${label} seen in the ledger by a time-stamp authority`],
  ];
  const entityWithdrawals = new Map(entitiesWithdrawn.map(({ number, withdrawnAt }) => [number, withdrawnAt]));
  const all: readonly (readonly [Instant | null, string])[] = [
    [issuedAt, "Certificate issued"],
    ...linked.map(({ kind, capturedAt }) => [capturedAt, kind === "privacy" ? "Privacy policy saved" : "Terms saved"] as const),
    ...anchored(toObject(publicView.anchor), "Issuance"),
    ...[...entityWithdrawals.values()].map((at) => [at, "Withdrawn from individual recipients"] as const),
    [parseInstant(view.withdrawn_at), "Consent withdrawn"],
    ...anchored(toObject(view.anchor), "Withdrawal"),
    [parseInstant(view.cease_acknowledged_at), "Business confirmed that contact has ceased"],
    [subjectErasedAt, "The person's details were erased"],
  ];
  const dated = all.flatMap(([at, what]) => (at === null ? [] : [{ at, what }])).sort((a, b) => a.at - b.at);
  return html`<h2>History</h2>
<ul>${dated.map(({ at, what }) => html`<li>${renderTime(at)}: ${what}</li>`)}</ul>`;
};

const renderPolicies = ({ opened }: ArticleParts): Markup => {
  const { policies: linked, policiesCaptured } = opened.certificate;
  if (linked.length === 0) return html`<p>${policiesCaptured ? "None were found on the site." : "Not captured yet."}</p>`;
  const labels = { privacy: "Privacy policy", terms: "Terms" } as const;
  return renderDefinitionList(
    ...linked.map((policy) =>
      renderRow(
        labels[policy.kind],
        html`${renderExactText(policy.sourceUrl)}<br>captured ${renderTime(policy.capturedAt)}<br>SHA-256 of its text ${renderHash(policy.contentHash)}`,
      ),
    ),
  );
};

const renderAnchorReference = ({ anchors }: ArticleParts, of: "issued" | "revoked"): Markup => {
  const receipt = anchors.find(({ event }) => event === of)?.receipt ?? null;
  return receipt === null ? html`not yet confirmed by the ledger` : renderExactText(receipt.tx_ref);
};

const renderProofs = (parts: ArticleParts): Markup => {
  const { certificate, evidenceHash } = parts.opened;
  const { verify_url: address } = parts.publicView;
  return html`<h2>Proofs</h2>
${renderDefinitionList(
  renderRow("Certificate", renderExactText(certificate.id)),
  renderRow("Public page", typeof address === "string" ? renderExactText(address) : null),
  renderRow("Fingerprint", renderHash(certificate.fingerprint)),
  renderRow("Hash of the text shown", renderHash(certificate.disclosureHash)),
  renderRow("Hash of the evidence", renderHash(evidenceHash)),
  renderRow("Signing key", renderHash(certificate.signature.kid)),
  renderRow("Ledger entry", renderAnchorReference(parts, "issued")),
  renderRow("Ledger entry of the withdrawal", certificate.status === "revoked" ? renderAnchorReference(parts, "revoked") : null),
  renderRow("Public page opened", html`${certificate.viewCount} ${certificate.viewCount === 1 ? "time" : "times"}`),
)}`;
};

/** Renders the article that certificate.html and the self-checking page contain. */
export const renderCertificateArticle = (parts: ArticleParts, disclosed: DisclosedFields): Markup => {
  const { certificate } = parts.opened;
  return html`<main id="certificate">
<h1>${isConsentRefused(certificate) ? "Consent refused to" : "Consent given to"} <span dir="auto">${certificate.businessName}</span></h1>
${renderStatus(parts)}
${renderParties(parts, disclosed)}
${renderCaptureDetails(parts)}
<h2>What was shown</h2>
<blockquote dir="auto" class="exact">${certificate.disclosureText}</blockquote>
${renderDefinitionList(renderRow("Purpose", renderExactText(certificate.purpose)))}
<h2>How it was shown and given</h2>
${renderPresentation(parts)}
${renderRecipients(parts)}
${renderWithdrawal(parts)}
${renderTimeline(parts)}
<h2>Policies on that day</h2>
${renderPolicies(parts)}
${renderProofs(parts)}
</main>`;
};
