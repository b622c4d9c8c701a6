// Shows the code that a business adds to its page or server: the script tag, the equivalent JavaScript, and the equivalent request from a
// server. The tabs are radio buttons, so they work without scripts.
import type { FC } from "hono/jsx";
import type { MappedPage } from "../../operations/integration/map-page.ts";
import type { IntegrationInput } from "../../operations/integration/plan-integration.ts";
import { CodeBlock, HighlightedCode } from "../shared/components.tsx";
import { LabeledCopyButton, messages, usePortalRequest, PanelTabs } from "./components.tsx";

const snippetMessages = messages.snippet;

/** Builds the JavaScript with one option per line. Options without a value are left out. */
const toScript = (clientId: string, built: MappedPage, { purpose, entities }: IntegrationInput): string => {
  const options = {
    clientId,
    purpose,
    entities,
    formSelector: built.formSelector,
    checkboxSelector: built.checkboxSelector,
    disclosureSelector: built.disclosureSelector,
    disclosureText: built.disclosureSelector === null ? built.disclosureText : null,
    fieldMap: built.fieldMap.length === 0 ? null : Object.fromEntries(built.fieldMap),
  };
  const lines = Object.entries(options).flatMap(([name, value]) => (value === null ? [] : [`  ${name}: ${JSON.stringify(value)},`]));
  return ["Svc.initConsent({", ...lines, "});"].join("\n");
};

/** Returns the text as a single-quoted shell argument. */
const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const toServerRequest = (clientId: string, apiUrl: string, built: MappedPage, { purpose, entities }: IntegrationInput): string => {
  const body = {
    client_id: clientId,
    fields: { email: "pat@example.com" },
    disclosure_text: built.disclosureText ?? "The text next to the consent checkbox",
    entities,
    purpose,
    page_url: built.pageUrl,
  };
  return [
    `curl ${apiUrl}/consent \\`,
    '  -H "Authorization: Bearer $KEY" \\',
    `  -H "Origin: ${new URL(built.pageUrl).origin}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  --data ${quoteForShell(JSON.stringify(body, null, 2))}`,
  ].join("\n");
};

const CodeNote: FC<{ text: string; elementId: string; label: string }> = ({ text, elementId, label }) => (
  <p class="row apart">
    <span class="small quiet">{text}</span>
    <LabeledCopyButton elementId={elementId} label={label} />
  </p>
);

/** Reads the client ID from the tag, so that all three kinds of code contain the same ID. */
const clientIdIn = (snippet: string): string => /data-client-id="([^"]+)"/.exec(snippet)?.[1] ?? "";

export const InstallCode: FC<{ built: MappedPage; input: IntegrationInput }> = ({ built, input }) => {
  const { languages, script, server } = snippetMessages;
  const { config } = usePortalRequest().services;
  const clientId = clientIdIn(built.snippet);
  const tag = (
    <CodeBlock label={languages.html} id="tag">
      <HighlightedCode text={built.snippet} language="html" />
    </CodeBlock>
  );
  // A share button needs only the tag, because the person decides in a separate window.
  if (built.mode === "share") return <div class="code">{tag}</div>;
  return (
    <div class="code panels">
      <PanelTabs name="code" legend={snippetMessages.code} labels={[languages.html, languages.js, languages.server]} />
      <div class="panel p1">{tag}</div>
      <div class="panel p2">
        <CodeNote text={script} elementId="script" label={languages.js} />
        <CodeBlock label={languages.js} id="script">
          <HighlightedCode text={toScript(clientId, built, input)} language="js" />
        </CodeBlock>
      </div>
      <div class="panel p3">
        <CodeNote text={server} elementId="request" label={languages.server} />
        <CodeBlock label={languages.server} id="request">
          <HighlightedCode text={toServerRequest(clientId, config.baseUrl, built, input)} language="sh" />
        </CodeBlock>
      </div>
    </div>
  );
};
