// Copies of the client metadata documents of widely used assistants, because the service cannot always reach the assistants' hosts. A copy
// is used only if the document cannot be fetched and the database has no recent version of it.
import { clientFromDocument, type OAuthClient } from "./oauth-client.ts";

const knownDocuments: Readonly<Record<string, { readonly client_name: string; readonly redirect_uris: readonly string[] }>> = {
  "https://claude.ai/oauth/mcp-oauth-client-metadata": {
    client_name: "Claude",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
  },
  "https://claude.ai/oauth/claude-code-client-metadata": {
    client_name: "Claude Code",
    redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  },
  "https://chatgpt.com/oauth/codex/client.json": {
    client_name: "Codex",
    redirect_uris: ["http://127.0.0.1/callback", "http://localhost/callback"],
  },
  "https://vscode.dev/oauth/client-metadata.json": {
    client_name: "Visual Studio Code",
    redirect_uris: ["https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect", "http://127.0.0.1/"],
  },
};

/** Each ChatGPT connector has a separate document. */
const chatGptDocumentPattern = /^https:\/\/chatgpt\.com\/oauth\/([A-Za-z0-9_-]{1,64})\/client\.json$/;

const findKnownDocument = (address: string) => {
  if (Object.hasOwn(knownDocuments, address)) return knownDocuments[address];
  const id = chatGptDocumentPattern.exec(address)?.[1];
  if (id === undefined) return undefined;
  const redirect_uris = [`https://chatgpt.com/connector/oauth/${id}`, "https://chatgpt.com/connector_platform_oauth_redirect"];
  return { client_name: "ChatGPT", redirect_uris };
};

/** Returns the client whose metadata document is at this URL, or null if there is no copy of the document here. */
export const findKnownClient = (url: URL): OAuthClient | null => {
  const document = findKnownDocument(url.href);
  return document === undefined ? null : clientFromDocument(url, { client_id: url.href, ...document });
};
