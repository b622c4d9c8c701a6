// The HTML pages of the evidence: certificate.html in the pack, and the page that contains the pack and checks itself. Readers open both as
// local files. The pages load nothing, and user input is always escaped. Their Content-Security-Policy allows only their own style sheet
// and script, by hash.
import { toBase64 } from "../bytes.ts";
import { sha256 } from "../hash.ts";
import { renderCertificateArticle, type ArticleParts, type DisclosedFields } from "./evidence-article.ts";
import { html, Markup } from "./evidence-markup.ts";

/** Builds the style sheet. Each printed page shows the certificate ID, so that a single page can be identified. */
const buildStyleSheet = (
  certId: string,
): string => `:root{color-scheme:light dark;--ink:light-dark(#1b1d21,#e9e9e6);--quiet:light-dark(#575b62,#a7acb4);--paper:light-dark(#fff,#15171b);--line:light-dark(#dbdbd6,#353a42);--good:light-dark(#17663a,#71d19b);--bad:light-dark(#b02a21,#f59a93);--caution:light-dark(#835000,#e6b869);--action:light-dark(#1d4fb8,#8fb4ff)}
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

const toCspHash = (text: string): string => `'sha256-${toBase64(sha256(text))}'`;

/** Builds a policy that blocks all loading and sending, and allows only this style and script, by hash. */
const buildContentSecurityPolicy = (style: string, script: string | null): string =>
  `default-src 'none'; style-src ${toCspHash(style)}; ${script === null ? "" : `script-src ${toCspHash(script)}; `}base-uri 'none'; form-action 'none'`;

const renderEvidencePage = ({ opened }: ArticleParts, script: string | null, body: Markup): string => {
  const { id } = opened.certificate;
  const style = buildStyleSheet(id);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${buildContentSecurityPolicy(style, script)}">
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

/** Renders certificate.html in the pack, a static page without a script. */
export const renderCertificatePage = (parts: ArticleParts, disclosed: DisclosedFields): string =>
  renderEvidencePage(parts, null, renderCertificateArticle(parts, disclosed));

/**
 * Renders the page that contains the whole pack and checks it. Throws if the script contains `</script` or `<!--`, which HTML parsers treat
 * specially.
 */
export const renderVerifyPage = (parts: ArticleParts, disclosed: DisclosedFields, zipBase64: string, verifierSource: string): string => {
  if (/<\/script|<!--/i.test(verifierSource)) throw new TypeError("evidence page: the verifier cannot be embedded in a page");
  const body = html`<div id="verdict" class="verdict caution" role="status"><p><strong>Not checked.</strong></p><p>This page checks itself offline with a script, but the script did not run here.</p></div>
<section class="screen" aria-label="Your own keys and fingerprint">
<p>This file is a copy. Someone could have changed it, including the script that checks it. Get it from a source you trust, or save the pack and check it with your own verifier (<code>svc-verify</code>).</p>
<label for="trust">Keys you trust (the <code>svc-trust.json</code> file you got from the issuer)</label>
<input id="trust" type="file" accept=".json,application/json">
<label for="fingerprint">Fingerprint you were given (optional)</label>
<input id="fingerprint" type="text" autocomplete="off" spellcheck="false">
<button id="save" type="button">Save the pack as a ZIP file</button>
</section>
${renderCertificateArticle(parts, disclosed)}
<section class="checks" aria-labelledby="checks-title">
<h2 id="checks-title">All checks</h2>
<table id="checks"></table>
</section>
<script type="application/zip" id="pack">${zipBase64}</script>
<script>${new Markup(verifierSource)}</script>`;
  return renderEvidencePage(parts, verifierSource, body);
};
