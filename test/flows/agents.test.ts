// Tests the agent server with the official Model Context Protocol clients: SDK 1, which most assistants use, and SDK 2 in each of its
// negotiation modes, with an agent token and with OAuth.
import { request } from "node:http";
import {
  Client as NewerClient,
  StreamableHTTPClientTransport as NewerTransport,
  type OAuthClientProvider as NewerProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { beforeAll, describe, expect, test } from "vitest";
import { approveConnection, createToken, createShare, signInToService } from "../support/assistants.ts";
import { startServiceForFile } from "../support/local-service.ts";

const service = await startServiceForFile();
const tokens = { consumer: "", business: "" };
const cookies = { consumer: "", business: "" };

beforeAll(async () => {
  const { world } = service;
  cookies.consumer = await signInToService(service, "consumer", world.consumerEmail);
  cookies.business = await signInToService(service, "business", world.ownerEmail);
  tokens.consumer = await createToken(service, "consumer", cookies.consumer);
  tokens.business = await createToken(service, "business", cookies.business);
});

const named = { name: "svc-tests", version: "1.0.0" };
const getAddress = (): URL => new URL(`${service.origin}/mcp`);

const withToken = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

/** The client methods that these tests call. The clients of both SDKs have them. */
interface Connected {
  readonly listTools: () => Promise<{ tools: { name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined }[] }>;
  readonly callTool: (params: { name: string; arguments?: Record<string, unknown> }) => Promise<Record<string, unknown>>;
  readonly getServerVersion: () => object | undefined;
  readonly close: () => Promise<void>;
}

type Mode = "legacy" | "auto" | { pin: string };
/** SDK 2's negotiation modes. The keys appear in test titles. */
const modes: Readonly<Record<string, Mode>> = {
  "SDK 2": "legacy",
  "SDK 2 that asks for the latest revision first": "auto",
  "SDK 2 that supports only the latest revision": { pin: "2026-07-28" },
};

const connectNewer = async (mode: Mode, options: ReturnType<typeof withToken> | { authProvider: NewerProvider }): Promise<Connected> => {
  const client = new NewerClient(named, { versionNegotiation: { mode } });
  await client.connect(new NewerTransport(getAddress(), options));
  return client as Connected;
};
const connectOlder = async (options: ReturnType<typeof withToken> | { authProvider: OAuthClientProvider }): Promise<Connected> => {
  const client = new Client(named);
  await client.connect(new StreamableHTTPClientTransport(getAddress(), options) as Parameters<Client["connect"]>[0]);
  return client as Connected;
};

const clients: Readonly<Record<string, (token: string) => Promise<Connected>>> = {
  "SDK 1": (token) => connectOlder(withToken(token)),
  ...Object.fromEntries(Object.entries(modes).map(([name, mode]) => [name, (token: string) => connectNewer(mode, withToken(token))])),
};

describe.each(Object.entries(clients))("%s", (_, connect) => {
  test("connects, lists the tools of its realm and calls one", async () => {
    for (const realm of ["consumer", "business"] as const) {
      const client = await connect(tokens[realm]);
      expect(client.getServerVersion()).toMatchObject({ name: "svc-mcp", version: "1.0.0" });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("svc_get_audit");
      expect(tools.map(({ name }) => name).includes("svc_list_events")).toBe(realm === "business");
      const { content, isError } = await client.callTool({ name: "svc_get_audit", arguments: { limit: 5 } });
      expect(isError).toBe(false);
      expect(JSON.parse((content as { text: string }[])[0]?.text as string)).toMatchObject({ algorithm: "svc-audit-v1" });
      expect(await client.callTool({ name: "svc_create_share" })).toMatchObject({ isError: true });
      await client.close();
    }
  });

  test("gets an authorization error for an invalid token", async () => {
    await expect(connect(`pat_00${"A".repeat(43)}`)).rejects.toThrow(/401|unauthorized|-32001/i);
  });
});

/** Provides storage for an OAuth client. `address` is the page that the client would open in its user's browser. */
const createAuthProvider = () => {
  const redirectUrl = "http://127.0.0.1:50123/callback";
  const kept: { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; verifier?: string; address?: URL } = {};
  const provider = {
    redirectUrl,
    clientMetadata: { client_name: "SDK", redirect_uris: [redirectUrl] },
    state: () => "of the program",
    clientInformation: () => kept.client,
    saveClientInformation: (client: StoredOAuthClientInformation) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: StoredOAuthTokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url: URL) => {
      kept.address = url;
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier as string,
  };
  return { kept, provider };
};

describe("a client without a token", () => {
  test.each(["SDK 1", ...Object.keys(modes)])("%s starts from a 401, registers, is approved and calls a tool", async (name) => {
    const { kept, provider } = createAuthProvider();
    const mode = modes[name];
    const authProvider = provider as OAuthClientProvider & NewerProvider;
    const connect = () => (mode === undefined ? connectOlder({ authProvider }) : connectNewer(mode, { authProvider }));
    await expect(connect()).rejects.toThrow();
    const back = (await approveConnection(cookies.consumer, kept.address as URL)).searchParams;
    expect([back.get("iss"), back.get("state")]).toEqual([service.origin, "of the program"]);
    if (mode === undefined) await new StreamableHTTPClientTransport(getAddress(), { authProvider }).finishAuth(back.get("code") as string);
    else await new NewerTransport(getAddress(), { authProvider }).finishAuth(back);
    const client = await connect();
    expect((await client.callTool({ name: "svc_get_audit", arguments: { limit: 5 } })).isError).toBe(false);
    await client.close();
  });
});

describe("SDK 2 with the latest revision, for an action that needs the person", () => {
  let share_id = "";
  beforeAll(async () => {
    share_id = await createShare(service, cookies.consumer);
  });

  test.each(["accept", "decline", "cancel"] as const)(
    "opens the page if it supports URLs, and returns the share after %s",
    async (action) => {
      const opened: string[] = [];
      const client = new NewerClient(named, {
        versionNegotiation: { mode: { pin: "2026-07-28" } },
        capabilities: { elicitation: { url: {} } },
      });
      client.setRequestHandler("elicitation/create", ({ params }) => {
        opened.push(params.mode === "url" ? params.url : "a form");
        return { action };
      });
      await client.connect(new NewerTransport(getAddress(), withToken(tokens.consumer)));
      const result = await client.callTool({ name: "svc_get_share", arguments: { share_id, hand_over: "renew" } });
      expect(opened).toEqual([`${service.origin}/app/shares/${share_id}/renew`]);
      expect(result).toMatchObject({ isError: false, structuredContent: { id: share_id } });
      await client.close();
    },
  );

  test.each([undefined, {}, { form: {} }])("gets the URL of the share if its elicitation capability is %j", async (elicitation) => {
    const client = new NewerClient(named, {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      capabilities: elicitation === undefined ? {} : { elicitation },
    });
    await client.connect(new NewerTransport(getAddress(), withToken(tokens.consumer)));
    const result = await client.callTool({ name: "svc_get_share", arguments: { share_id, hand_over: "review" } });
    expect(result).toMatchObject({ structuredContent: { id: share_id, open_at: `${service.origin}/app/shares/${share_id}` } });
    await client.close();
  });
});

test("returns 401 for two Authorization headers, even if both are valid", async () => {
  const authorization = `Bearer ${tokens.consumer}`;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const headers = [
      "Host",
      getAddress().host,
      "Authorization",
      authorization,
      "Authorization",
      authorization,
      "Content-Length",
      String(body.length),
    ];
    request(getAddress(), { method: "POST", headers }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end(body);
  });
  expect(status).toBe(401);
});
