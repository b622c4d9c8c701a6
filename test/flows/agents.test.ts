// The agent server as the official clients of the Model Context Protocol meet it: the one most assistants are built on, and the newer one
// in each of the ways it begins a conversation.
import { request } from "node:http";
import { Client as NewerClient, StreamableHTTPClientTransport as NewerTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../support/local-service.ts";

let service: LocalService;
const tokens = { consumer: "", business: "" };
const cookies = { consumer: "", business: "" };

const sent = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Signs in with the code from the mail, and makes a token. */
const minted = async (realm: "consumer" | "business", email: string, path: string): Promise<string> => {
  await sent("/v1/auth/request-code", { email, realm });
  const { messages } = (await (await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`)).json()) as {
    messages: { text: string }[];
  };
  const code = /\d{6}/.exec(messages[0]?.text ?? "")?.[0];
  const signedIn = await sent("/v1/auth/verify-code", { email, realm, code });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] as string;
  cookies[realm] = cookie;
  const answer = (await (await sent(path, {}, { cookie })).json()) as { data: { token: string } };
  return answer.data.token;
};

beforeAll(async () => {
  service = await startLocalService();
  const { world } = service;
  tokens.consumer = await minted("consumer", world.consumerEmail, "/v1/me/agent-token");
  tokens.business = await minted("business", world.ownerEmail, "/v1/business/portal/agent-token");
});
afterAll(async () => {
  await service.stop();
});

const named = { name: "svc-tests", version: "1.0.0" };
const address = (): URL => new URL(`${service.origin}/mcp`);
/** A browser on the consent page: reads the form, allows, and takes the answer from the redirect. */
const allowAs = async (cookie: string, address: URL): Promise<URL> => {
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const request = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const answer = await fetch(new URL("/oauth/authorize/decide", address), {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ request, decision: "allow" }).toString(),
  });
  return new URL(answer.headers.get("location") ?? "");
};

describe("SDK 1 without a token", () => {
  test("finds the way from the 401, registers, is allowed, and calls a tool", async () => {
    const redirectUrl = "http://127.0.0.1:50123/callback";
    const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; address?: URL } = {};
    const authProvider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: { client_name: "SDK", redirect_uris: [redirectUrl] },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => {
        kept.client = client;
      },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => {
        kept.tokens = tokens;
      },
      redirectToAuthorization: (url) => {
        kept.address = url;
      },
      saveCodeVerifier: (verifier) => {
        kept.verifier = verifier;
      },
      codeVerifier: () => kept.verifier as string,
    };
    const transport = new StreamableHTTPClientTransport(address(), { authProvider });
    await expect(new Client(named).connect(transport as Parameters<Client["connect"]>[0])).rejects.toThrow();
    const back = await allowAs(cookies.consumer, kept.address as URL);
    expect(back.searchParams.get("iss")).toBe(service.origin);
    await transport.finishAuth(back.searchParams.get("code") as string);
    const client = new Client(named);
    const connected = new StreamableHTTPClientTransport(address(), { authProvider });
    await client.connect(connected as Parameters<Client["connect"]>[0]);
    expect((await client.callTool({ name: "svc_get_audit", arguments: { limit: 5 } })).isError).toBe(false);
    await client.close();
  });
});

const withToken = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

/** What both clients have, as far as it is asked for here. */
interface Connected {
  readonly listTools: () => Promise<{ tools: { name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined }[] }>;
  readonly callTool: (params: { name: string; arguments?: Record<string, unknown> }) => Promise<Record<string, unknown>>;
  readonly getServerVersion: () => object | undefined;
  readonly close: () => Promise<void>;
}

const newer = async (token: string, mode: "legacy" | "auto" | { pin: string }): Promise<Connected> => {
  const client = new NewerClient(named, { versionNegotiation: { mode } });
  await client.connect(new NewerTransport(address(), withToken(token)));
  return client as Connected;
};

const clients: Readonly<Record<string, (token: string) => Promise<Connected>>> = {
  "SDK 1": async (token) => {
    const client = new Client(named);
    await client.connect(new StreamableHTTPClientTransport(address(), withToken(token)) as Parameters<Client["connect"]>[0]);
    return client as Connected;
  },
  "SDK 2": (token) => newer(token, "legacy"),
  "SDK 2 that asks for the latest revision first": (token) => newer(token, "auto"),
  "SDK 2 that speaks the latest revision alone": (token) => newer(token, { pin: "2026-07-28" }),
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

  test("is told that a token is not right", async () => {
    await expect(connect(`pat_00${"A".repeat(43)}`)).rejects.toThrow(/401|unauthorized|-32001/i);
  });
});

test("two Authorization headers are 401, also where each of them would do", async () => {
  const authorization = `Bearer ${tokens.consumer}`;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const headers = [
      "Host",
      address().host,
      "Authorization",
      authorization,
      "Authorization",
      authorization,
      "Content-Length",
      String(body.length),
    ];
    request(address(), { method: "POST", headers }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end(body);
  });
  expect(status).toBe(401);
});
