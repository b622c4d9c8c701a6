// Renders the HTML body of an email. The body consists of tables with inline styles, because old email programs support little else. Colors
// are written as rgb(), because people could mistake the six digits of a hexadecimal color for a code.
import { escapeHtml, getPreview, type MailContent, type MailFact, type MailLine, type MailText } from "./message.ts";

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const monospace = "font-family:Menlo,Consolas,monospace";
const paper = "background-color:rgb(255,255,255)";
const ink = "color:rgb(20,23,28)";
const sunken = "background-color:rgb(241,243,246)";
const rule = "border-top:1px solid rgb(225,229,234)";
const bottomRule = "border-bottom:1px solid rgb(225,229,234)";
const buttonFill = "background-color:rgb(29,79,194)";

/**
 * The style for email programs that support media queries. Other programs show dark text on a white background, although some invert these
 * colors, and show each value beside its label.
 */
const mediaStyle = [
  ":root{color-scheme:light dark;supported-color-schemes:light dark}",
  "@media (prefers-color-scheme:dark){",
  ".paper{background-color:rgb(21,24,29)!important;color:rgb(236,238,242)!important}",
  ".ink{color:rgb(236,238,242)!important}",
  ".sunken{background-color:rgb(28,32,38)!important}",
  ".rule{border-color:rgb(43,48,56)!important}",
  ".button{background-color:rgb(53,99,216)!important}",
  "}",
  // On a narrow screen, each value is below its label. `display:block` removes the implicit roles of a table, so the markup sets them.
  "@media (max-width:380px){",
  ".label,.value{display:block!important;width:auto!important}",
  ".label{padding:10px 0 0!important;border-bottom:0!important}",
  ".value{padding:0 0 10px!important;border-top:0!important}",
  "}",
].join("");

const tableAttributes = 'cellpadding="0" cellspacing="0" border="0"';

const renderText = (text: MailText): string =>
  text.map((span) => (typeof span === "string" ? escapeHtml(span) : `<strong translate="no">${escapeHtml(span.strong)}</strong>`)).join("");

const renderLink = (link: string): string =>
  `<a class="ink" href="${escapeHtml(link)}" style="${ink};word-break:break-all">${escapeHtml(link)}</a>`;

const factStyles: Readonly<Record<NonNullable<MailFact["style"]>, string>> = {
  strong: ";font-weight:700",
  id: `;${monospace};font-size:13px;word-break:break-all`,
};

const renderFact = ({ label, values, style }: MailFact, isLast: boolean): string => {
  const border = isLast ? `${rule};${bottomRule}` : rule;
  const notranslate = style === "id" ? ' translate="no"' : "";
  return [
    `<tr role="row"><th class="label ink rule" role="rowheader" scope="row" align="left" width="150" style="padding:10px 12px 10px 0;${border};${font};${ink};font-size:15px;line-height:1.5;font-weight:400;text-align:left;vertical-align:top">${escapeHtml(label)}</th>`,
    `<td class="value ink rule" role="cell"${notranslate} style="padding:10px 0;${border};${font};${ink};font-size:15px;line-height:1.5;vertical-align:top${style === undefined ? "" : factStyles[style]}">${values.map(escapeHtml).join("<br>")}</td></tr>`,
  ].join("");
};

const renderFacts = (facts: readonly MailFact[]): string =>
  `<table role="table" width="100%" ${tableAttributes} style="margin:0 0 24px;border-collapse:collapse">${facts.map((fact, index) => renderFact(fact, index === facts.length - 1)).join("")}</table>`;

const renderCode = (code: string): string =>
  `<table role="presentation" ${tableAttributes} style="margin:0 0 24px"><tr><td class="sunken ink" translate="no" style="padding:16px 24px;border-radius:10px;${sunken};${ink};${monospace};font-size:32px;line-height:1.25;font-weight:700;letter-spacing:6px">${escapeHtml(code)}</td></tr></table>`;

// The table cell has the background color. The padding is on the link, so that the entire button can be clicked, except in Outlook, where
// it is on the cell.
const renderAction = ({ label, link, hint }: Extract<MailLine, { kind: "action" }>): string =>
  [
    `<table role="presentation" ${tableAttributes}><tr><td class="button" style="border-radius:6px;${buttonFill};mso-padding-alt:12px 20px"><a href="${escapeHtml(link)}" style="display:inline-block;padding:12px 20px;border-radius:6px;${font};color:rgb(255,255,255);font-size:16px;line-height:1.5;font-weight:600;text-decoration:none">${escapeHtml(label)}</a></td></tr></table>`,
    `<p style="margin:12px 0 24px;font-size:14px">${escapeHtml(hint)}<br>${renderLink(link)}</p>`,
  ].join("");

const renderLine = (line: MailLine): string => {
  switch (line.kind) {
    case "paragraph":
      return `<p style="margin:0 0 20px">${renderText(line.text)}</p>`;
    case "code":
      return renderCode(line.code);
    case "facts":
      return renderFacts(line.facts);
    case "action":
      return renderAction(line);
    case "link":
      return `<p style="margin:0 0 24px;font-size:14px">${escapeHtml(line.label)}<br>${renderLink(line.link)}</p>`;
    case "heading":
      return `<h2 style="margin:0;font-size:14px;line-height:1.5;font-weight:700">${escapeHtml(line.heading)}</h2><p style="margin:0 0 12px">${renderText(line.text)}</p>`;
  }
};

const renderCell = (style: string, className: string, content: string): string =>
  `<tr><td class="${className}" style="${style};${font};${ink};line-height:1.5">${content}</td></tr>`;

/** Outlook ignores `max-width`, so for Outlook, the content is inside a table that is 600 pixels wide. */
const outlookStart = `<!--[if mso]><table role="presentation" width="600" ${tableAttributes}><tr><td><![endif]-->`;
const outlookEnd = "<!--[if mso]></td></tr></table><![endif]-->";

export const renderHtmlBody = (content: MailContent, brand: string, language: string): string => {
  const { subject, lines, footer } = content;
  const title = escapeHtml(subject);
  const rows = [
    renderCell("padding:0 0 24px;font-size:17px;font-weight:700", "ink", `<span aria-hidden="true">&#10003; </span>${escapeHtml(brand)}`),
    renderCell(
      "padding:0;font-size:16px",
      "ink",
      `<h1 style="margin:0 0 12px;font-size:24px;line-height:1.25;letter-spacing:-.3px">${title}</h1>${lines.map(renderLine).join("")}`,
    ),
    renderCell(`padding:20px 0 0;${rule};font-size:14px`, "ink rule", footer.map(renderLine).join("")),
  ];
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${title}</title><style>${mediaStyle}</style></head>`,
    `<body class="paper" style="margin:0;padding:0;${paper};${ink}">`,
    `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">${escapeHtml(getPreview(content))}</div>`,
    `<div role="main" lang="${language}"><table role="presentation" class="paper" width="100%" ${tableAttributes} style="${paper}"><tr><td align="center" style="padding:32px 20px">`,
    `${outlookStart}<table role="presentation" width="100%" ${tableAttributes} style="max-width:560px;text-align:left">${rows.join("")}</table>${outlookEnd}`,
    "</td></tr></table></div></body></html>",
  ].join("");
};
